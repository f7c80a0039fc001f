# SPDX-License-Identifier: GPL-2.0
"""The summary of a result as text."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from lib.ctl.power_states import DISK
from lib.ctl.results import AFTER, INFO, build, printed

from spekctl.documents import result_parts
from spekctl.kernel.records import Phase


def replace_facts(target: result_parts.TargetResult, **changes: Any) -> result_parts.TargetResult:
    facts = msgspec.structs.replace(target.facts, **changes)
    return msgspec.structs.replace(target, facts=facts)


def test_the_summary_has_a_row_for_each_direction_and_the_sum() -> None:
    text = printed(build())
    names = [line.split()[0] for line in text.splitlines() if line.startswith("  ")]
    assert {"read", "write", "all"} <= set(names)
    assert "a remark" in text
    assert "SPC-1-like" not in text


def test_power_states_of_the_disks_have_a_table() -> None:
    assert "power states" not in printed(build())
    disk = msgspec.structs.replace(DISK, hidden_starts=2)
    text = printed(msgspec.structs.replace(build(), power_states=[disk]))
    lines = text.splitlines()
    at = lines.index("power states of the disks")
    assert lines[at + 2].split() == [
        *("/dev/sda", "0:15", "15%", "1:25", "85%", "2", "1", "26", "23")
    ]
    assert lines[at + 3].startswith("  /dev/sda: 2 times I/O completed")


def test_headings_say_numbers_as_people_do() -> None:
    fast = printed(build(rate=1_000_000.0))
    assert "poisson arrivals, 1,000,000 per second, measured for 4.000 s" in fast
    short = replace(INFO, drain_ns=INFO.measure_ns + 300_000)
    assert "measured for 300 us" in printed(build(info=short))
    never = replace(INFO, measure_ns=0, phase=Phase.RAMP)
    text = printed(build(info=never))
    assert "not measured" in text and "0.000 s" not in text


def test_the_heading_says_between_which_rates_a_curve_is() -> None:
    told = build(rate=1000.0)
    points = [(0, 500_000), (10**9, 3_000_000)]
    arrival = msgspec.structs.replace(told.config.arrivals[0], rate_milli=0, points=points)
    config = msgspec.structs.replace(told.config, arrivals=[arrival])
    text = printed(msgspec.structs.replace(told, config=config))
    assert "poisson arrivals on a curve from 500 to 3,000 per second" in text


def test_the_heading_names_the_limit_of_a_closed_loop() -> None:
    told = build()
    arrival = msgspec.structs.replace(
        told.config.arrivals[0], law="closed", depth=4, rate_milli=2_000_000
    )
    config = msgspec.structs.replace(told.config, arrivals=[arrival])
    text = printed(msgspec.structs.replace(told, config=config))
    assert "closed loop of depth 4, at most 2,000 per second" in text


@pytest.mark.parametrize(
    ("pauses", "words"),
    [
        ({"pause_every": 16}, "after 16 I/Os"),
        ({"pause_every": 16, "pause_counts_completed": 1}, "after 16 completed I/Os"),
        ({"pause_after_ns": 2 * 10**9}, "after 2s"),
        ({"pause_every": 16, "pause_after_ns": 2 * 10**9}, "after 16 I/Os or 2s"),
    ],
)
def test_the_heading_says_after_what_a_closed_loop_pauses(
    pauses: dict[str, int], words: str
) -> None:
    told = build()
    arrival = msgspec.structs.replace(
        told.config.arrivals[0], law="closed", depth=4, rate_milli=0, pause_ns=10**7, **pauses
    )
    config = msgspec.structs.replace(told.config, arrivals=[arrival])
    text = printed(msgspec.structs.replace(told, config=config))
    assert f"closed loop of depth 4, a pause of 10ms {words}" in text


def test_the_heading_says_how_long_arrivals_pause() -> None:
    told = build(rate=1000.0)
    arrival = msgspec.structs.replace(
        told.config.arrivals[0], rate_milli=500_000, on_ns=10**8, off_ns=9 * 10**8, tail_milli=1500
    )
    for tail_milli, tail in ((1500, ", tail 1.5"), (0, "")):
        arrivals = [msgspec.structs.replace(arrival, tail_milli=tail_milli)]
        config = msgspec.structs.replace(told.config, arrivals=arrivals)
        text = printed(msgspec.structs.replace(told, config=config))
        words = f"500 per second for 100ms, then none for 900ms (on average{tail})"
        assert f"poisson arrivals, {words}" in " ".join(text.split())


def test_a_disk_that_counted_otherwise_is_mentioned() -> None:
    text = printed(build(after=msgspec.structs.replace(AFTER, reads=999)))
    assert (
        "/dev/x itself counted 989 reads and 40 writes that took 1,000 ms and 20 ms in all,"
        " spek sent 90 and 40"
    ) in text
    assert "itself counted" not in printed(build())


def test_a_disk_that_does_not_count_is_told_from_one_that_was_not_asked() -> None:
    built = build(after=None)
    assert "what /dev/x counted itself was not read when the run ended" in printed(built)
    (target,) = built.targets
    silent = replace_facts(target, disk_before=None)
    text = printed(msgspec.structs.replace(built, targets=[silent]))
    assert "/dev/x keeps no I/O statistics" in text and "was not read" not in text


def test_the_summary_says_which_asu_is_on_a_device_of_its_own() -> None:
    built = build(name="spc1", bsu=2)
    assert "address ranges" not in printed(built)
    first, *others = built.workload.asu
    asus = [msgspec.structs.replace(first, device="/dev/nvme0n1"), *others]
    placed = msgspec.structs.replace(built.workload, asu=asus)
    text = printed(msgspec.structs.replace(built, workload=placed))
    assert "\n  address ranges: asu1 on /dev/nvme0n1, asu2, asu3 on the other devices\n" in text


def test_spc1_results_are_called_spc_1_like() -> None:
    text = printed(build(name="spc1", bsu=2))
    assert "spc1 (SPC-1-like): 2 BSU (100 I/Os per second offered)" in text
    assert all(f"  {name} " in text for name in ("1-1", "2-3", "3-1"))
