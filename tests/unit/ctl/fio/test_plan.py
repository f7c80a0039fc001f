# SPDX-License-Identifier: GPL-2.0
"""The options of a job, taken one by one."""

from __future__ import annotations

import pytest

from spekctl.errors import UsageError
from spekctl.fio import values
from spekctl.fio.jobfile import Job
from spekctl.fio.plan import Plan, Reader


def reader(options: dict[str, str | None]) -> tuple[Reader, Plan]:
    plan = Plan()
    return Reader(Job("j", options), plan), plan


def test_a_value_is_parsed_and_a_complaint_names_its_option() -> None:
    options, _ = reader({"bs": "4k", "size": "x", "iodepth": ""})
    assert options.value("bs", values.size) == 4096
    assert options.value("rw", values.size) is None
    with pytest.raises(UsageError, match=r"^size: 'x' is not a size$"):
        options.value("size", values.size)
    with pytest.raises(UsageError, match=r"^iodepth has no value$"):
        options.text("iodepth")


def test_an_option_without_a_value_is_a_flag() -> None:
    options, _ = reader({"thread": None, "direct": "0"})
    assert (options.flag("thread"), options.flag("direct")) == (True, False)
    assert (options.flag("hipri"), options.flag("randrepeat", True)) == (False, True)
    assert options.given("thread") and not options.given("hipri")


@pytest.mark.parametrize(
    ("text", "given"), [("0", False), ("0,0", False), (",", False), (",5", True), ("100,0", True)]
)
def test_values_of_directions_are_nothing_only_together(text: str, given: bool) -> None:
    options, _ = reader({"rate": text})
    assert options.nonzero("rate") is given and not options.nonzero("rate_iops")


def test_the_last_of_several_options_counts() -> None:
    options, _ = reader({"rwmixread": "5", "bs": "4k", "rwmixwrite": "6"})
    assert options.last(("rwmixwrite", "rwmixread")) == "rwmixwrite"
    assert options.last(("iodepth",)) is None


def test_a_plan_notes_what_was_given_and_each_difference_once() -> None:
    options, plan = reader({"bs": "4k"})
    for name in ("bs", "rw"):
        options.went(name, "stream.size")
    assert plan.mapped == {"bs": "stream.size"}
    for text in ("a", "b", "a"):
        plan.differs(text)
    assert plan.differences == ["a", "b"]


@pytest.mark.parametrize(
    ("stream", "writes"),
    [({"read": "100%"}, False), ({"read": "70%"}, True), ({"operation": "discard"}, True)],
)
def test_a_plan_with_anything_but_reads_writes(stream: dict[str, str], writes: bool) -> None:
    assert Plan(streams=[stream]).writes is writes
