# SPDX-License-Identifier: GPL-2.0
"""The modules build without a warning, rebuild only what changed, and never mix two kernels."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from lib.guest_kernels import STOCK_KERNELS
from lib.sources import ROOT, copy_sources

from spekctl.vm.kernels import Kernel, find_kernel
from spekctl.vm.modules import NAMES, make_command

COMPLAINT = re.compile(r"warning:|error:|WARNING|ERROR")


def run(*command: str, cwd: Path | None = None) -> tuple[int, str]:
    """Exit code and everything that was printed."""
    done = subprocess.run(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.returncode, done.stdout


@pytest.fixture(scope="session")
def built(kernel: Kernel, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """A build with all warnings, checked by sparse: the directory and what was printed."""
    tree = copy_sources(tmp_path_factory.mktemp(f"build-{kernel.label}") / "tree")
    code, output = run(*make_command(kernel, tree, "W=1", "C=1", "CF=-Wsparse-error"))
    assert code == 0, output
    return tree, output


def test_compiler_and_sparse_are_silent(built: tuple[Path, str]) -> None:
    tree, output = built

    assert [line for line in output.splitlines() if COMPLAINT.search(line)] == []
    assert "CHECK " in output
    assert all((tree / name).exists() for name in NAMES)


def test_modules_are_for_the_kernel_asked_for(built: tuple[Path, str], kernel: Kernel) -> None:
    for name in NAMES:
        code, magic = run("/sbin/modinfo", "-F", "vermagic", str(built[0] / name))
        assert (code, magic.split()[0]) == (0, kernel.release)


def test_modules_need_no_other_module(built: tuple[Path, str]) -> None:
    """They load where there is no SCSI layer, for one."""
    for name in NAMES:
        assert run("/sbin/modinfo", "-F", "depends", str(built[0] / name)) == (0, "\n")


def test_second_make_rebuilds_nothing(built: tuple[Path, str], kernel: Kernel) -> None:
    tree, _ = built
    before = {path: path.stat().st_mtime_ns for path in tree.rglob("*.[ok]*")}

    code, output = run(*make_command(kernel, tree, "W=1", "C=1", "CF=-Wsparse-error"))

    assert code == 0
    assert re.findall(r"(?m)^ +(?:CC|LD|PROBE|UPD|CHECK).*$", output) == []
    assert {path: path.stat().st_mtime_ns for path in tree.rglob("*.[ok]*")} == before


def test_probes_give_answers_and_keep_their_logs(built: tuple[Path, str]) -> None:
    probes = built[0] / "kmod/compat/probes"
    answers = {path.stem: path.read_text().strip() for path in probes.glob("*.answer")}

    assert answers.keys() == {path.stem for path in probes.glob("*.c")}
    assert set(answers.values()) == {"yes", "no"}
    assert answers["self_yes"] == "yes"
    assert "spek_compat_no_kernel_has_this_function" in (probes / "self_no.log").read_text()


@pytest.mark.parametrize(
    ("control", "other", "complaint"),
    [
        ("self_yes", "self_no", "probing is broken, see"),
        ("self_no", "self_yes", "a function that does not exist compiles"),
    ],
)
def test_broken_probing_fails_the_build(
    kernel: Kernel, tmp_path: Path, control: str, other: str, complaint: str
) -> None:
    tree = copy_sources(tmp_path / "tree")
    probes = tree / "kmod/compat/probes"
    (probes / f"{control}.c").write_text((probes / f"{other}.c").read_text())

    code, output = run(*make_command(kernel, tree))

    assert code != 0
    assert complaint in output


def test_another_kernel_starts_afresh(tmp_path: Path) -> None:
    tree = copy_sources(tmp_path / "tree")
    magics, answers = [], []
    for label in STOCK_KERNELS:
        code, output = run("make", f"KDIR={find_kernel(label).headers}", cwd=tree)
        assert code == 0, output
        magics.append(run("/sbin/modinfo", "-F", "vermagic", str(tree / NAMES[0]))[1].split()[0])
        answers.append((tree / "kmod/compat/spek_have.h").read_text())

    assert magics == [find_kernel(label).release for label in STOCK_KERNELS]
    assert answers[0] != answers[1]


def test_clean_leaves_the_sources_only(tmp_path: Path) -> None:
    tree = copy_sources(tmp_path / "tree")
    before = {path for path in tree.rglob("*") if path.is_file()}
    foreign = tree / ".venv/lib/libnpymath.a"
    foreign.parent.mkdir(parents=True)
    foreign.touch()
    code, output = run("make", f"KDIR={find_kernel(STOCK_KERNELS[0]).headers}", cwd=tree)
    assert code == 0, output

    assert run("make", "clean", cwd=tree)[0] == 0

    assert {path for path in tree.rglob("*") if path.is_file()} - {foreign} == before
    assert foreign.exists()


def test_missing_headers_are_named(tmp_path: Path) -> None:
    code, output = run("make", "KDIR=/nonexistent/build", "KVER=6.99.9-test", cwd=ROOT)

    assert code == 2
    assert "there are no headers of kernel 6.99.9-test" in output
    assert "apt-get install linux-headers-6.99.9-test" in output


def test_kbuild_names_every_source() -> None:
    kbuild = (ROOT / "Kbuild").read_text()
    listed = set(re.findall(r"\S+\.o\b", kbuild.partition("spek-kernel-id")[0]))
    for module, root in (("spek", "kmod"), ("spek_prober", "prober")):
        for source in (ROOT / root).rglob("*.c"):
            if source.parent.name == "probes" or source.name.endswith(".mod.c"):
                continue
            name = source.relative_to(ROOT / root).with_suffix(".o")
            if root == "kmod" and name.parts[0] == "core":
                name = name.relative_to("core")
            assert str(name) in listed, f"{module} does not contain {source.relative_to(ROOT)}"


def test_only_compat_knows_that_kernels_differ() -> None:
    pattern = re.compile(r"SPEK_HAVE_|LINUX_VERSION_CODE|KERNEL_VERSION\(")
    for path in [*(ROOT / "kmod").rglob("*.[ch]"), *(ROOT / "prober").rglob("*.[ch]")]:
        if "compat" not in path.parts and not path.name.endswith(".mod.c"):
            assert not pattern.search(path.read_text()), path


def test_each_probe_cites_its_commit() -> None:
    for path in (ROOT / "kmod/compat/probes").glob("*.c"):
        first = path.read_text().splitlines()[0]
        if not path.name.startswith("self_"):
            assert re.fullmatch(r'/\* .*v\d+\.\d+.*, [0-9a-f]{12} \(".+"\) \*/', first), path


def test_versions_agree() -> None:
    import tomllib

    import spekctl

    dkms = re.search(r'PACKAGE_VERSION="(.+)"', (ROOT / "dkms.conf").read_text())
    modules = [
        re.search(r'MODULE_VERSION\("(.+)"\)', (ROOT / folder / "main.c").read_text())
        for folder in ("kmod", "prober")
    ]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

    found = [match.group(1) for match in (dkms, *modules) if match]
    assert [*found, project] == [spekctl.__version__] * 4
