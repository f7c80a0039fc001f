# SPDX-License-Identifier: GPL-2.0
"""Which tests make quick takes for a change."""

from __future__ import annotations

import importlib.util
import types
from pathlib import Path

import pytest


def program() -> types.ModuleType:
    """.ci/changed.py, which is no module of a package."""
    path = Path(__file__).parents[2] / ".ci/changed.py"
    spec = importlib.util.spec_from_file_location("changed", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


changed_files = program()
ROOT: Path = changed_files.ROOT

TEXTS = {
    "tests/unit/ctl/run/test_until.py": "from spekctl.run import until\n",
    "tests/unit/ctl/run/test_until_rows.py": "",
    "tests/unit/ctl/run/test_untilted.py": "from spekctl.run.untilted import x\n",
    "tests/unit/ctl/commands/test_run.py": "from spekctl.run import (\n    build,\n    until,\n)\n",
    "tests/unit/ctl/commands/test_show.py": "    import spekctl.run.until\n",
    "tests/unit/ctl/test_files.py": "# spekctl.run.until is not imported\n",
    "tests/unit/core/test_rng.py": "",
    "tests/unit/drive/test_seek.py": "",
    "tests/unit/lib/test_rooms.py": "",
    "tests/unit/bench/test_figures.py": 'SCRIPT = ROOT / ".ci/figures"\n',
    "tests/unit/ctl/workload/test_model.py": 'README = ROOT / "workloads" / "README.md"\n',
    "tests/build/test_packages.py": 'script = tmp_path / ".ci/packages"\n',
    "tests/build/test_packaging.py": 'PACKAGING = ROOT / ".ci/packaging"\n',
    "tests/unit/test_documents.py": 'paths = ROOT.rglob("README.md"), ROOT / "Makefile"\n',
}


def chosen_for(*changed: str) -> list[str]:
    tests, crowded = changed_files.chosen_tests(
        map(Path, changed), map(Path, TEXTS), lambda path: TEXTS[str(path)]
    )
    assert not crowded
    return [str(path) for path in tests]


def test_a_module_brings_its_tests_and_those_that_import_it() -> None:
    assert chosen_for("ctl/spekctl/run/until.py") == [
        "tests/unit/ctl/commands/test_run.py",
        "tests/unit/ctl/commands/test_show.py",
        "tests/unit/ctl/run/test_until.py",
        "tests/unit/ctl/run/test_until_rows.py",
    ]


@pytest.mark.parametrize(
    ("changed", "test"),
    [
        ("kmod/core/rng.c", "tests/unit/core/test_rng.py"),
        ("kmod/load/core/walk.h", "tests/unit/core/test_rng.py"),
        ("kmod/drive/core/seek.c", "tests/unit/drive/test_seek.py"),
        ("tests/lib/harness/ahead.py", "tests/unit/lib/test_rooms.py"),
        ("tests/unit/core/test_rng.py", "tests/unit/core/test_rng.py"),
    ],
)
def test_a_core_brings_all_its_tests(changed: str, test: str) -> None:
    assert chosen_for(changed) == [test]


@pytest.mark.parametrize(
    ("changed", "tests"),
    [
        ("CONTRIBUTING.md", ["tests/unit/test_documents.py"]),
        ("kmod/load/uapi/spek.md", ["tests/unit/test_documents.py"]),
        (
            "workloads/README.md",
            ["tests/unit/ctl/workload/test_model.py", "tests/unit/test_documents.py"],
        ),
        ("Makefile", ["tests/unit/test_documents.py"]),
        (".ci/figures", ["tests/unit/bench/test_figures.py"]),
        (".ci/packages", ["tests/build/test_packages.py"]),
        (".ci/packaging/build", ["tests/build/test_packaging.py"]),
    ],
)
def test_a_file_brings_the_tests_that_name_it(changed: str, tests: list[str]) -> None:
    assert chosen_for(changed) == tests


@pytest.mark.parametrize(
    "changed", [".ci/demo", "kmod/load/run.c", "tests/guest/test_zones.py", "bench/Makefile"]
)
def test_what_none_of_them_looks_at_brings_none(changed: str) -> None:
    assert chosen_for(changed) == []


def test_of_a_module_that_most_import_only_its_own_are_taken_which_is_told() -> None:
    own = Path("tests/unit/ctl/test_errors.py")
    others = [
        Path(f"tests/unit/ctl/test_{number}.py")
        for number in range(changed_files.IMPORTERS_MAX + 1)
    ]
    module = Path("ctl/spekctl/errors.py")
    tests, crowded = changed_files.chosen_tests(
        [module], [own, *others], lambda path: "import spekctl.errors"
    )
    assert (tests, crowded) == ([own], [module])


def test_folders_are_those_of_the_tree() -> None:
    for folder, home in changed_files.HOMES.items():
        assert (ROOT / folder).is_dir()
        assert (ROOT / home).exists()
    for path in (changed_files.DOCUMENTS, *changed_files.SCRIPTS):
        assert (ROOT / path).is_file()


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a checkout of git")
def test_what_is_not_committed_counts(tmp_path: Path) -> None:
    head = changed_files.git("rev-parse", "HEAD")[0]
    new = ROOT / "tests/unit/lib/new-for-test_changed"
    before = changed_files.changed_since(head)
    new.write_text("")
    try:
        assert set(changed_files.changed_since(head)) - set(before) == {new.relative_to(ROOT)}
    finally:
        new.unlink()
