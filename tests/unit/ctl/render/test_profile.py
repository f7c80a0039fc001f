# SPDX-License-Identifier: GPL-2.0
"""Profiles as people read them: the most expensive functions, and the largest changes."""

from __future__ import annotations

import pytest
from lib.ctl.profiles import RUN_OF_1000
from lib.ctl.shown import row_of, shown

from spekctl.documents.profile import FunctionCost, Profile
from spekctl.documents.verdict import FunctionChange
from spekctl.render import profile
from spekctl.render.console import print_parts

MOST = profile.MOST


def profiled(count: int) -> str:
    functions = [FunctionCost(f"f{n}", 100.0 - n) for n in range(count)]
    measured = Profile(run=RUN_OF_1000, per_io=1000.0, user_per_io=0.0, functions=functions)
    return shown(
        lambda contents, out: print_parts(profile.profile_parts(contents), 100, out), measured
    )


def changed(*changes: FunctionChange) -> str:
    return shown(
        lambda contents, out: print_parts(profile.change_parts(contents), 100, out), changes
    )


def test_a_function_has_its_share_of_an_io() -> None:
    text = profiled(2)
    assert text.splitlines()[0] == "1000.0 instructions per I/O in Linux 6.1.0"
    assert row_of(text, "f1") == ["f1", "99.0", "9.9%"]
    assert "more" not in text


@pytest.mark.parametrize(("count", "more"), [(MOST, ""), (MOST + 3, "and 3 more\n")])
def test_cheaper_functions_are_counted(count: int, more: str) -> None:
    text = profiled(count)
    assert text.count("%") == MOST
    assert text.endswith(more)
    assert ("more" in text) == bool(more)


def test_a_change_has_its_sign() -> None:
    text = changed(FunctionChange("new", 0.0, 12.5), FunctionChange("gone", 7.0, 0.0))
    assert row_of(text, "new") == ["new", "0.0", "12.5", "+12.5"]
    assert row_of(text, "gone") == ["gone", "7.0", "0.0", "-7.0"]


def test_what_shrank_most_is_shown_and_the_rest_counted_by_direction() -> None:
    """Changes come with what grew most first and what shrank most last."""
    grown = [FunctionChange(f"g{n}", 0.0, 100.0 - n) for n in range(MOST + 1)]
    shrunk = [FunctionChange(f"s{n}", 1.0 + n, 0.0) for n in range(MOST + 2)]
    text = changed(*grown, *shrunk)
    names = [line.split()[0] for line in text.splitlines()[2 : 2 + 2 * MOST]]
    assert names == [f"g{n}" for n in range(MOST)] + [f"s{n}" for n in range(2, MOST + 2)]
    assert text.splitlines()[-2:] == ["and 1 more that grew", "and 2 more that shrank"]


def test_no_change_is_said() -> None:
    assert changed() == "no function changed by half an instruction per I/O or more\n"
