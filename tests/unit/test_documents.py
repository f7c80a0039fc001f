# SPDX-License-Identifier: GPL-2.0
"""Documents name what is in the tree, also after a move."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest
from lib.build.sources import ROOT
from lib.ctl.command_line import options_are_known

from spekctl import cli

DOCUMENTS = (
    ".ci/packaging/README.md",
    "README.md",
    "ctl/spekctl/block/README.md",
    "ctl/spekctl/campaigns/README.md",
    "ctl/spekctl/drive/README.md",
    "ctl/spekctl/fio/README.md",
    "ctl/spekctl/gate/README.md",
    "ctl/spekctl/host/README.md",
    "ctl/spekctl/report/README.md",
    "ctl/spekctl/run/README.md",
    "ctl/spekctl/trace/README.md",
    "ctl/spekctl/web/README.md",
    "daq/README.md",
    "kmod/README.md",
    "tests/README.md",
    "tests/bench/README.md",
    "workloads/README.md",
)
LINK = re.compile(r"\]\((?!https?:)([^)#]+)")
COMMAND = re.compile(r"^    (?:sudo )?(?:\.venv/bin/)?spekctl (.+?)(?:\s+#.*)?$", re.M)
NOT_TESTS = {"__pycache__"}


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name: str) -> None:
    document = ROOT / name
    missing = [
        target
        for target in LINK.findall(document.read_text())
        if not (document.parent / target).exists()
    ]
    assert not missing


@pytest.mark.parametrize("name", DOCUMENTS)
def test_commands_have_the_options_that_they_are_given(name: str) -> None:
    for line in COMMAND.findall((ROOT / name).read_text()):
        options_are_known(cli.cli, shlex.split(line))


def test_options_that_do_not_exist_are_noticed() -> None:
    for line in ("run spc1 --bus 50", "vm -- run spc1 --bus 50", "energy dcse --bus"):
        with pytest.raises(click.UsageError):
            options_are_known(cli.cli, line.split())


def test_every_folder_of_tests_is_explained() -> None:
    text = (ROOT / "tests/README.md").read_text()
    folders = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()} - NOT_TESTS

    assert set(re.findall(r"(?m)^\| `(\w+)/` \|", text)) == folders


def test_test_files_that_are_named_exist() -> None:
    text = (ROOT / "tests/README.md").read_text()
    named = {word for word in re.findall(r"[\w/]+\.(?:py|c)\b", text)}

    def exists(word: str) -> bool:
        return any(Path(ROOT, folder, word).exists() for folder in ("", "tests"))

    assert named
    assert [word for word in sorted(named) if not exists(word)] == []
