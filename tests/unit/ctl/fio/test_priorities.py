# SPDX-License-Identifier: GPL-2.0
"""I/O priorities of fio's jobs, of all of their I/Os and of a share."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.fio_jobs import fio, plan

from spekctl.errors import UsageError
from spekctl.fio import priorities


@pytest.mark.parametrize(
    ("options", "priority"),
    [
        ({"prioclass": 1, "prio": 3}, "rt:3"),
        ({"prioclass": 2}, "be:0"),
        ({"prioclass": 3, "prio": 7}, "idle"),
        ({"prioclass": 0, "prio": 0}, None),
        ({}, None),
    ],
)
def test_a_priority_is_that_of_the_streams(options: dict[str, int], priority: str | None) -> None:
    for rw in ("randrw", "rw", "trim"):
        assert {stream.get("priority") for stream in plan(rw=rw, **options).streams} == {priority}


def test_a_share_of_the_ios_has_the_priority_that_fio_gives_it(tmp_path: Path) -> None:
    (tmp_path / "device").write_bytes(bytes(8 << 20))
    words = {"cmdprio_percentage": "20", "cmdprio_class": "2", "cmdprio": "4"}
    given = [f"--{name}={value}" for name, value in words.items()]
    how = ("--name=a", "--filename=device", "--ioengine=libaio", "--rw=randread", "--bs=4k")
    done = fio(*how, *given, "--output-format=json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    (job,) = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    raised = {(entry["prioclass"], entry["prio"]): entry for entry in job["read"]["prios"]}[2, 4]
    assert raised["clat_ns"]["N"] / job["read"]["total_ios"] == pytest.approx(0.2, rel=0.2)
    first, second = plan(rw="randread", **words).streams
    assert (first["share"], first["priority"]) == (1, "be:4")
    assert (second["share"], second.get("priority")) == (4, None)


@pytest.mark.parametrize(
    ("options", "streams"),
    [
        # Direction, share, priority.
        ({"rw": "randread"}, [("100%", 20, "rt:0"), ("100%", 80, None)]),
        ({"rw": "randread", "prioclass": 3}, [("100%", 20, "rt:0"), ("100%", 80, "idle")]),
        ({"rw": "randrw"}, [("50%", 20, "rt:0"), ("50%", 80, None)]),
        (
            {"rw": "randrw", "cmdprio_percentage": "20,0", "rwmixread": 70},
            [("100%", 14, "rt:0"), ("100%", 56, None), ("0%", 30, None)],
        ),
        (
            {"rw": "randrw", "cmdprio_class": "2,3", "cmdprio": "5,1"},
            [("100%", 10, "be:5"), ("100%", 40, None), ("0%", 10, "idle"), ("0%", 40, None)],
        ),
        ({"rw": "randwrite", "cmdprio_percentage": 100}, [("0%", 100, "rt:0")]),
        ({"rw": "randwrite", "cmdprio_percentage": 0}, [("0%", 100, None)]),
        (
            {"rw": "randread", "norandommap": None, "random_distribution": "zoned:90/10:10/90"},
            [("100%", 20, "rt:0"), ("100%", 80, None)],
        ),
        (
            {"rw": "randread", "norandommap": None, "numjobs": 3, "runtime": 5, "time_based": 1},
            [("100%", 20, "rt:0"), ("100%", 80, None)],
        ),
    ],
)
def test_ios_of_two_priorities_are_two_streams(
    options: dict[str, Any], streams: list[tuple[str, int, str | None]]
) -> None:
    planned = plan(**{"cmdprio_percentage": 20, **options})
    total = sum(entry["share"] for entry in planned.streams)
    assert [
        (entry["read"], 100 * entry["share"] / total, entry.get("priority"))
        for entry in planned.streams
    ] == streams
    mapped = options.get("cmdprio_percentage") != 0 and "norandommap" not in options
    assert (priorities.PRIORITIES in planned.differences) == mapped
    assert planned.mapped["cmdprio_percentage"] == "stream.priority"


# Reads of 4 KiB and 8 KiB in equal shares.
MIX = {"rw": "randread", "bssplit": "4k/50:8k/50"}
PLAIN = ("100%", (4096, 8192), 100, None)


def test_ios_of_a_size_have_the_priorities_that_fio_gives_them(tmp_path: Path) -> None:
    (tmp_path / "device").write_bytes(bytes(16 << 20))
    words = {**MIX, "cmdprio_bssplit": "4k/20/2/4:4k/40/3/0:8k/30", "cmdprio": "6"}
    given = [f"--{name}={value}" for name, value in words.items()]
    how = ("--name=a", "--filename=device", "--ioengine=libaio", "--norandommap")
    done = fio(*how, *given, "--output-format=json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    (job,) = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    by_fio = {
        (entry["prioclass"], entry["prio"]): entry["clat_ns"]["N"] / job["read"]["total_ios"]
        for entry in job["read"]["prios"]
    }
    streams = plan(**words, norandommap=None).streams
    total = sum(entry["share"] for entry in streams)
    shares = {entry.get("priority"): entry["share"] / total for entry in streams}
    assert shares == {"be:4": 0.1, "idle": 0.2, "rt:6": 0.15, None: 0.55}
    for fios, spek in (((2, 4), "be:4"), ((3, 0), "idle"), ((1, 6), "rt:6")):
        assert by_fio[fios] == pytest.approx(shares[spek], rel=0.25)


@pytest.mark.parametrize(
    ("options", "streams"),
    [
        # Direction, sizes, share, priority.
        (
            {**MIX, "cmdprio_bssplit": "8k/100"},
            [("100%", 4096, 1, None), ("100%", 8192, 1, "rt:0")],
        ),
        (
            {**MIX, "cmdprio_bssplit": "4k/50:8k/50", "prioclass": 2, "prio": 1},
            [("100%", (4096, 8192), 1, "rt:0"), ("100%", (4096, 8192), 1, "be:1")],
        ),
        # The same priority, and sizes that no I/O has, are nothing.
        (
            {**MIX, "cmdprio_bssplit": "4k/50/2/1", "prioclass": 2, "prio": 1},
            [(*PLAIN[:3], "be:1")],
        ),
        ({**MIX, "cmdprio_bssplit": "16k/50:4k/0"}, [PLAIN]),
        (
            {"rw": "randread", "cmdprio_bssplit": "4k/25"},
            [
                ("100%", 4096, 1, "rt:0"),
                ("100%", 4096, 3, None),
            ],
        ),
        (
            {"rw": "randrw", "bssplit": "4k/25:8k/75,8k/100", "cmdprio_bssplit": "4k/50,8k/10/2/7"},
            [
                ("100%", 4096, 5, "rt:0"),
                ("100%", (4096, 8192), 35, None),
                ("0%", 8192, 4, "be:7"),
                ("0%", 8192, 36, None),
            ],
        ),
        ({"rw": "randtrim", "cmdprio_bssplit": "4k/100"}, [(None, 4096, 100, None)]),
    ],
)
def test_priorities_by_size_are_streams_of_these_sizes(
    options: dict[str, Any], streams: list[tuple[str | None, Any, int, str | None]]
) -> None:
    planned = plan(**options)
    assert [
        (
            entry.get("read"),
            entry.get("size") or tuple(size["size"] for size in entry["sizes"]),
            entry["share"],
            entry.get("priority"),
        )
        for entry in planned.streams
    ] == streams
    assert planned.mapped["cmdprio_bssplit"] == "stream.priority"


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"cmdprio_bssplit": "4k/50:4k/60"}, "of 4096 bytes sum to more than 100"),
        ({"cmdprio_bssplit": "4k"}, "'4k' is not SIZE/SHARE or SIZE/SHARE/CLASS/LEVEL"),
        ({"cmdprio_bssplit": "4k/50/4/0"}, "'4k/50/4/0' has no class from 1 to 3 and level from"),
        ({"cmdprio_bssplit": "4k/50/1/0/2"}, "'4k/50/1/0/2' has a hint, and a priority has a cl"),
        ({"cmdprio_bssplit": "4k/50", "cmdprio_percentage": 5}, "fio takes either this or cmdpr"),
        ({"cmdprio_bssplit": "4k/50", "rw": "read"}, "I/Os of both priorities have one order tog"),
    ],
)
def test_priorities_by_size_that_cannot_be_are_refused(
    options: dict[str, Any], sentence: str
) -> None:
    with pytest.raises(UsageError) as refusal:
        plan(**{"rw": "randread", **options})
    assert refusal.value.message.startswith("cmdprio_bssplit: ")
    assert sentence in refusal.value.message
