# SPDX-License-Identifier: GPL-2.0
"""The modules build without a warning, rebuild only what changed, and never mix two kernels."""

from __future__ import annotations

import functools
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from lib.guest_kernels import STOCK_KERNELS
from lib.sources import ROOT, copy_sources

from spekctl.vm.kernels import Kernel, find_kernel
from spekctl.vm.modules import NAMES, make_command

FOREIGN = Path(".venv/lib/libnpymath.a")  # not a build's, whatever it ends in
COMPLAINT = re.compile(r"warning:|error:|WARNING|ERROR")


def run(*command: str, cwd: Path | None = None) -> tuple[int, str]:
    """Exit code and everything that was printed."""
    done = subprocess.run(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.returncode, done.stdout


Build = tuple[Path, str]  # the directory and what was printed
ALL_WARNINGS = ("W=1", "C=1", "CF=-Wsparse-error")


def make(tree: Path, kernel: Kernel, *words: str) -> tuple[int, str]:
    return run("make", f"KDIR={kernel.headers}", *words, cwd=tree)


@pytest.fixture(scope="session")
def build_for(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Build]:
    """Builds for the kernel of a label with all warnings, checked by sparse; once for each."""

    @functools.cache
    def build(label: str) -> Build:
        tree = copy_sources(tmp_path_factory.mktemp(f"build-{label}") / "tree")
        code, output = make(tree, find_kernel(label), *ALL_WARNINGS)
        assert code == 0, output
        return tree, output

    return build


@pytest.fixture(scope="session")
def built(kernel: Kernel, build_for: Callable[[str], Build]) -> Build:
    return build_for(kernel.label)


def test_compiler_and_sparse_are_silent(built: Build) -> None:
    tree, output = built

    assert [line for line in output.splitlines() if COMPLAINT.search(line)] == []
    assert "CHECK " in output
    assert all((tree / name).exists() for name in NAMES)


def test_modules_are_for_the_kernel_asked_for(built: Build, kernel: Kernel) -> None:
    for name in NAMES:
        code, magic = run("/sbin/modinfo", "-F", "vermagic", str(built[0] / name))
        assert (code, magic.split()[0]) == (0, kernel.release)


def test_modules_need_no_other_module(built: Build) -> None:
    """They load where there is no SCSI layer, for one."""
    for name in NAMES:
        assert run("/sbin/modinfo", "-F", "depends", str(built[0] / name)) == (0, "\n")


def test_second_make_rebuilds_nothing(built: Build, kernel: Kernel) -> None:
    tree, _ = built
    before = {path: path.stat().st_mtime_ns for path in tree.rglob("*.[ok]*")}

    code, output = make(tree, kernel, *ALL_WARNINGS)

    assert code == 0
    assert re.findall(r"(?m)^ +(?:CC|LD|PROBE|UPD|CHECK).*$", output) == []
    assert {path: path.stat().st_mtime_ns for path in tree.rglob("*.[ok]*")} == before


def test_probes_give_answers_and_keep_their_logs(built: Build) -> None:
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


@pytest.fixture(scope="module")
def rebuilt(build_for: Callable[[str], Build], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tree that was built for the first kernel and then for the second one."""
    first, _ = build_for(STOCK_KERNELS[0])
    folder = tmp_path_factory.mktemp("rebuilt")
    # Where it was built, as commands have that path; and the first build is put back.
    kept = shutil.copytree(first, folder / "first", symlinks=True)
    code, output = make(first, find_kernel(STOCK_KERNELS[1]))
    tree = first.rename(folder / "tree")
    kept.rename(first)
    assert code == 0, output
    return tree


def test_another_kernel_starts_afresh(rebuilt: Path, build_for: Callable[[str], Build]) -> None:
    trees = [build_for(STOCK_KERNELS[0])[0], rebuilt]
    magics = [run("/sbin/modinfo", "-F", "vermagic", str(tree / NAMES[0]))[1] for tree in trees]
    answers = [(tree / "kmod/compat/spek_have.h").read_text() for tree in trees]

    assert [magic.split()[0] for magic in magics] == [
        find_kernel(label).release for label in STOCK_KERNELS
    ]
    assert answers[0] != answers[1]


def files_in(tree: Path) -> set[Path]:
    return {path.relative_to(tree) for path in tree.rglob("*") if path.is_file()}


def test_clean_leaves_the_sources_only(rebuilt: Path, tmp_path: Path) -> None:
    (rebuilt / FOREIGN).parent.mkdir(parents=True)
    (rebuilt / FOREIGN).touch()

    assert run("make", "clean", cwd=rebuilt)[0] == 0

    assert files_in(rebuilt) == files_in(copy_sources(tmp_path / "tree")) | {FOREIGN}


def test_missing_headers_are_named(tmp_path: Path) -> None:
    code, output = run("make", "KDIR=/nonexistent/build", "KVER=6.99.9-test", cwd=ROOT)

    assert code == 2
    assert "there are no headers of kernel 6.99.9-test" in output
    assert "apt-get install linux-headers-6.99.9-test" in output


def test_kbuild_names_every_source() -> None:
    kbuild = (ROOT / "Kbuild").read_text()
    listed = set(re.findall(r"\S+\.o\b", kbuild.partition("spek-kernel-id")[0]))
    # As listed: below the folder that is put before them.
    for root in ("kmod/load/core", "kmod/load", "kmod", "prober"):
        for source in (ROOT / root).rglob("*.c"):
            if source.parent.name == "probes" or source.name.endswith(".mod.c"):
                continue
            if root == "kmod" and "load" in source.relative_to(ROOT).parts:
                continue
            if root == "kmod/load" and source.parent.name == "core":
                continue
            name = source.relative_to(ROOT / root).with_suffix(".o")
            assert str(name) in listed, f"no module contains {source.relative_to(ROOT)}"


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
        for folder in ("kmod/load", "prober")
    ]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]

    found = [match.group(1) for match in (dkms, *modules) if match]
    assert [*found, project] == [spekctl.__version__] * 4
