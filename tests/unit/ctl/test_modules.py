# SPDX-License-Identifier: GPL-2.0
"""A reader finds the tests of a module: each has a test file of its name.

tests/unit/ctl mirrors ctl/spekctl. log/file.py is tested in log/test_file.py, and a part of its
tests may be in log/test_file_PART.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import spekctl

HERE = Path(__file__).parent
ROOT = Path(spekctl.__file__).parent

# Tests of all modules, or of what several of them do together.
OF_MANY = {
    "exports/test_kinds.py",
    "fleet/test_full_disk.py",
    "gate/test_recipes.py",
    "plots/test_every_plot.py",
    "run/test_every_option.py",
    "test_control_characters.py",
    "test_damaged_results.py",
    "test_hostile.py",
    "test_licence.py",
    "test_modules.py",
    "test_rooms.py",
    "test_start_up.py",
    "test_wrong_input.py",
}


def modules() -> list[str]:
    """All modules with code of their own; specgen has tests for what it generates."""
    paths = [path.relative_to(ROOT) for path in ROOT.rglob("*.py")]
    return sorted(
        str(path)
        for path in paths
        if path.name not in ("__init__.py", "__main__.py") and "gen" not in path.parts
    )


def own_test(module: str) -> str:
    path = Path(module)
    return str(path.with_name(f"test_{path.name}"))


@pytest.mark.parametrize("module", modules())
def test_a_module_has_tests(module: str) -> None:
    assert (HERE / own_test(module)).exists(), f"add {own_test(module)}"


def test_nothing_is_listed_that_is_gone() -> None:
    assert all((HERE / name).exists() for name in OF_MANY)


def test_a_test_file_has_the_name_of_a_module() -> None:
    """Or that of a module and of a part of its tests."""
    names = {own_test(module).removesuffix(".py") for module in modules()}
    files = {str(path.relative_to(HERE)) for path in HERE.rglob("test_*.py")} - OF_MANY
    lost = [
        file
        for file in sorted(files)
        if not any(file == f"{name}.py" or file.startswith(f"{name}_") for name in names)
    ]
    assert not lost
