# SPDX-License-Identifier: GPL-2.0
"""Pauses of fio between bursts: the workload has those that fio makes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lib.core.config import core_of
from lib.core.spekcore import Generator
from lib.ctl.fio_jobs import HEAD, fio, imported, plan, tables

from spekctl.errors import UsageError
from spekctl.fio import arrivals as due
from spekctl.fio import convert
from spekctl.fio.export import export
from spekctl.workload.resolve import Options, Target, resolve

PAUSE_US = 20_000
BASE = (
    "[a]\nfilename=/dev/x\ndirect=1\nrw=randread\nbs=4k\nioengine=libaio\nruntime=1\ntime_based\n"
)


@pytest.mark.parametrize(
    ("options", "goes_to"),
    [
        (
            {"rw": "randread", "rate_iops": "100"},
            {"iodepth": due.NO_DEPTH, "numjobs": "arrival.rate"},
        ),
        (
            {"rw": "randrw", "rate_iops": "100,0", "rwmixread": 20},
            {
                "iodepth": "arrival.depth",
                "numjobs": "arrival.rate, arrival.depth",
                "rwmixread": due.RATES_SHARE,
            },
        ),
        (
            {"rw": "randrw", "rate": "1m", "rwmixwrite": 20},
            {"iodepth": due.NO_DEPTH, "numjobs": "arrival.rate", "rwmixwrite": due.RATES_SHARE},
        ),
        (
            {"rw": "randrw", "rwmixwrite": 20},
            {"iodepth": "arrival.depth", "numjobs": "arrival.depth", "rwmixwrite": "stream.read"},
        ),
    ],
)
def test_the_report_says_where_the_depth_and_the_mix_went(
    options: dict[str, Any], goes_to: dict[str, str]
) -> None:
    words = {"norandommap": 1, "time_based": 1, "runtime": 5, "iodepth": 8, "numjobs": 2}
    mapped = plan(**words, **options).mapped
    assert {name: mapped[name] for name in goes_to} == goes_to


def arrivals(tmp_path: Path, *options: str) -> list[dict[str, Any]]:
    processes = tables(imported(tmp_path, BASE + "\n".join(options)))["arrival"]
    return [
        {
            key: value
            for key, value in arrival.items()
            if "pause" in key or key in ("depth", "think")
        }
        for arrival in processes
    ]


def pauses(at_us: list[int]) -> list[int]:
    """Numbers of the I/Os before which there is a pause."""
    return [n for n in range(1, len(at_us)) if at_us[n] - at_us[n - 1] >= PAUSE_US]


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["thinktime_blocks=16", "iodepth=8"], {"pause_every": 16, "pause_counts": "completed"}),
        (["thinktime_blocks=16"], {"pause_every": 16}),
        (
            ["thinktime_blocks=16", "thinktime_blocks_type=issue", "iodepth=8"],
            {"pause_every": 16},
        ),
        (["thinktime_iotime=9", "iodepth=8"], {"pause_after": "9s"}),
        (
            ["thinktime_iotime=30ms", "thinktime_blocks=1", "thinktime_spin=5"],
            {"pause_every": 1, "pause_after": "30ms"},
        ),
    ],
)
def test_what_ends_a_burst_is_that_of_fio(
    tmp_path: Path, options: list[str], expected: dict[str, Any]
) -> None:
    (process,) = arrivals(tmp_path, "thinktime=20ms", *options)
    depth = 8 if "iodepth=8" in options else 1
    assert process == {"depth": depth, "pause": "20ms", **expected}


def test_a_number_without_a_thinktime_is_nothing(tmp_path: Path) -> None:
    assert arrivals(tmp_path, "thinktime_blocks=16", "thinktime_iotime=3") == [{"depth": 1}]


def test_a_pause_after_each_io_is_a_think_time(tmp_path: Path) -> None:
    for number in (0, 1):
        assert arrivals(tmp_path, "thinktime=20ms", f"thinktime_blocks={number}") == [
            {"depth": 1, "think": "20ms"}
        ]


def test_each_clone_pauses_by_itself(tmp_path: Path) -> None:
    sections = tables(
        imported(tmp_path, BASE + "numjobs=3\niodepth=2\nthinktime=1ms\nthinktime_blocks=4\n")
    )
    names = [arrival["name"] for arrival in sections["arrival"]]
    assert len(set(names)) == 3
    assert [stream["arrival"] for stream in sections["stream"]] == names
    assert [arrival["depth"] for arrival in sections["arrival"]] == [2] * 3


@pytest.mark.parametrize(
    ("depth", "options"),
    [
        (1, ["thinktime_blocks=16"]),
        (8, ["thinktime_blocks=16"]),
        (8, ["thinktime_blocks=16", "thinktime_blocks_type=issue"]),
        # Bursts of 11, 1, 10, 1, 10 and so on: what drains counts towards the next.
        (8, ["thinktime_blocks=4"]),
        (8, ["thinktime_blocks=4", "thinktime_blocks_type=issue"]),
        (3, ["thinktime_blocks=2"]),
        (4, ["thinktime_blocks=10", "thinktime_iotime=1h"]),
    ],
)
def test_bursts_are_as_long_as_those_of_fio(tmp_path: Path, depth: int, options: list[str]) -> None:
    """Debian's fio, by the times in its own log; the core on a device that serves one I/O after
    the other, as fio takes completions one by one."""
    log, count = tmp_path / "iolog", 100
    words = [f"--{option}" for option in (*options, f"iodepth={depth}", f"thinktime={PAUSE_US}")]
    done = fio(
        *("--name=a", f"--filename={tmp_path / 'file'}", "--size=4m", "--rw=randread", "--bs=4k"),
        *("--ioengine=libaio", f"--number_ios={count}", f"--write_iolog={log}", *words),
    )
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in log.read_text().splitlines()[1:]]
    of_fio = [int(line[0]) for line in lines if line[2] == "read"]

    text = "\n".join([BASE, f"iodepth={depth}", f"thinktime={PAUSE_US}", *options])
    loaded = imported(tmp_path, text).workload
    disk = Target("/dev/x", 8, 0, 1 << 30, 512, 5)
    config = resolve(loaded, Options(available_cpus=(0,)), [disk])
    generator = Generator(core_of(config), 1)
    at_us, done_ns, outstanding = list[int](), 0, list[int]()
    while len(at_us) < count:
        if outstanding and outstanding[0] <= generator.next_ns:
            generator.complete(0, outstanding.pop(0))
            continue
        at_ns = int(generator.next().at_ns)
        at_us.append(at_ns // 1000)
        done_ns = max(done_ns, at_ns) + 10_000
        outstanding.append(done_ns)

    assert len(of_fio) == count
    expected = pauses(at_us)
    assert len(expected) >= 5
    # A busy machine adds gaps, and takes none away.
    assert set(expected) <= set(pauses(of_fio))
    within = sorted(of_fio[n] - of_fio[n - 1] for n in range(1, count) if n not in expected)
    assert within[len(within) // 2] < PAUSE_US


@pytest.mark.parametrize(
    "options",
    [
        ["thinktime_blocks=16", "iodepth=8"],
        ["thinktime_blocks=16", "thinktime_blocks_type=issue", "iodepth=8"],
        ["thinktime_blocks=16"],
        ["thinktime_iotime=9", "iodepth=8"],
        ["thinktime_iotime=30ms", "thinktime_blocks=5", "iodepth=2"],
    ],
)
def test_an_exported_job_is_read_as_the_same_workload(tmp_path: Path, options: list[str]) -> None:
    first = imported(tmp_path, BASE + "\n".join(["thinktime=20ms", *options]))
    exported = tmp_path / "again.fio"
    exported.write_text(export(first.workload))
    again = convert.load(exported)
    keys = [
        {key: value for key, value in arrival.items() if key != "name"}
        for converted in (first, again)
        for arrival in tables(converted)["arrival"]
    ]
    assert keys[0] == keys[1]


@pytest.mark.parametrize(
    ("options", "arrival", "ios", "difference"),
    [
        # The longer one counts: pauses of 10 ms, or gaps of 5 ms.
        (
            "thinktime=10ms\nrate_iops=1000\niodepth=4\n",
            {"depth": 1, "think": "10ms"},
            101,
            due.PACED_BY_PAUSE,
        ),
        (
            "thinktime=1ms\nrate_iops=200\n",
            {"law": "constant", "rate": 200},
            201,
            due.PACED_BY_RATE,
        ),
        # A pause of 3 ms is added to a gap of 5 ms.
        (
            "thinktime=3ms\nrate_iops=200\nrate_ignore_thinktime=1\n",
            {"law": "constant", "rate": 125},
            126,
            due.PAUSE_ADDED,
        ),
        (
            "thinktime=20ms\nrate_iops=100,200\nrw=randrw\n",
            {"depth": 1, "think": "20ms"},
            51,
            due.PACED_BY_PAUSE,
        ),
    ],
)
def test_the_longer_of_a_pause_and_a_gap_counts_as_in_fio(
    tmp_path: Path, options: str, arrival: dict[str, Any], ios: int, difference: str
) -> None:
    converted = imported(tmp_path, f"{HEAD}time_based\nruntime=1\n{options}")
    (only,) = tables(converted)["arrival"]
    assert {key: value for key, value in only.items() if key not in ("name",)} == arrival
    assert difference in converted.differences
    # A clock of its own would be measured at its start, on a machine that may be busy.
    text = f"[j]\nioengine=null\nsize=1g\nclocksource=clock_gettime\nnumber_ios={ios}\n{options}"
    (tmp_path / "fio.fio").write_text(text)
    done = fio("--output-format=json", tmp_path / "fio.fio", folder=tmp_path)
    (job,) = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    assert job["read"]["total_ios"] + job["write"]["total_ios"] == ios
    # No less than a second, however fast the machine is.
    assert job["job_runtime"] >= 999


@pytest.mark.parametrize(
    "options",
    [
        "rw=randrw\nrate_iops=100,200\nthinktime=5ms\n",
        "rw=randrw\nrate_iops=100,\nthinktime=20ms\n",
        "rw=randrw\nrate_iops=100,100\nthinktime=1ms\nrate_ignore_thinktime=1\n",
    ],
)
def test_directions_that_hold_back_each_other_are_refused(tmp_path: Path, options: str) -> None:
    with pytest.raises(UsageError, match="thinktime: its pauses and the rate of each direction"):
        imported(tmp_path, HEAD + options)
