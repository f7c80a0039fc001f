# SPDX-License-Identifier: GPL-2.0
"""kernel-doc of the kernel's own tool is complete: what it would skip or warn of fails."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from lib.build.kernels import find
from lib.build.sources import ROOT

LABEL = "6.12"  # the newest whose headers have the tool in Perl, without its libraries
# kernel-doc skips a comment that ends in the line in which it begins.
ONE_LINE = re.compile(r"^\s*/\*\*\s.*\*/", re.M)


@pytest.fixture(scope="module")
def kernel_doc(pytestconfig: pytest.Config) -> Path:
    return find(LABEL, pytestconfig).headers / "scripts" / "kernel-doc"


def sources() -> list[Path]:
    """C files of the modules, without generated ones and probes."""
    return [
        path
        for folder in ("kmod", "prober")
        for path in sorted((ROOT / folder).rglob("*.[ch]"))
        if not {"gen", "uapi", "probes"} & set(path.parts)
        and path.name not in ("spek_have.h", "spek.mod.c")
    ]


def complaints(kernel_doc: Path, *paths: Path) -> list[str]:
    done = subprocess.run(
        ["perl", str(kernel_doc), "-none", "-Wall", *map(str, paths)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=True,
    )
    return done.stdout.splitlines()


def test_kernel_doc_has_no_complaint(kernel_doc: Path) -> None:
    assert complaints(kernel_doc, *sources()) == []


def test_no_comment_is_skipped() -> None:
    assert [path for path in sources() if ONE_LINE.search(path.read_text())] == []


@pytest.mark.parametrize(
    ("comment", "missing"),
    [
        ("/**\n * twice() - double a number\n *\n * Return: 2 @x.\n */", "'x' not described"),
        ("/**\n * twice() - double a number\n * @x: number\n */", "return value of 'twice'"),
    ],
)
def test_an_incomplete_comment_is_a_complaint(
    kernel_doc: Path, tmp_path: Path, comment: str, missing: str
) -> None:
    path = tmp_path / "twice.c"
    path.write_text(f"{comment}\nint twice(int x)\n{{\n\treturn 2 * x;\n}}\n")
    (line,) = complaints(kernel_doc, path)
    assert missing in line
