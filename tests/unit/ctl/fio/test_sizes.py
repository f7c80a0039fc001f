# SPDX-License-Identifier: GPL-2.0
"""Block sizes of fio's jobs: splits, and ranges with more sizes than a stream can have."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.core.config import core_of
from lib.core.spekcore import Generator
from lib.ctl.fio_jobs import (
    HEAD,
    fio,
    imported,
    issued_by_fio,
    places,
    plan,
    sequence_by_fio,
    tables,
)
from lib.ctl.resolved import DISK

from spekctl.errors import UsageError
from spekctl.fio import ends, sizes
from spekctl.fio.plan import Plan
from spekctl.workload.options import Options
from spekctl.workload.resolve import resolve
from spekctl.workload.values import SIZES_MAX


def shares_of(planned: Plan) -> dict[int, int]:
    return {stream["size"]: stream["share"] for stream in planned.streams[0]["sizes"]}


def test_sequential_ios_of_a_random_job_may_have_a_size_of_their_own(tmp_path: Path) -> None:
    words = {"rw": "randread", "bs": "64k,4k", "bs_is_seq_rand": "1"}
    given = [f"--{name}={value}" for name, value in words.items()]
    how = ("--name=a", "--ioengine=null", "--size=64m", "--write_iolog=log", "--norandommap")
    for more in ("--percentage_random=60", "--rw=randread:4"):
        assert fio(*how, *given, more, folder=tmp_path).returncode == 0
        lines = [line.split() for line in (tmp_path / "log").read_text().splitlines()]
        assert {line[4] for line in lines if line[2:3] == ["read"]} == {"65536", "4096"}
        (tmp_path / "log").unlink()
    for options in ({"percentage_random": "60"}, {"rw": "randread:4"}):
        with pytest.raises(UsageError, match="bs_is_seq_rand: I/Os of a random job that follow an"):
            plan(**{**words, **options})
    assert plan(**words, percentage_random="100").streams[0]["size"] == 4096
    assert plan(**{**words, "bs": "4k"}, percentage_random="60").streams[0]["size"] == 4096


def test_a_range_has_as_many_sizes_as_a_stream_can_have() -> None:
    planned = plan(rw="randread", bsrange=f"512-{512 * SIZES_MAX}")
    assert len(planned.streams[0]["sizes"]) == SIZES_MAX
    assert sizes.RANGE not in planned.differences


@given(st.integers(SIZES_MAX + 1, 20 * SIZES_MAX), st.sampled_from("-:"))
def test_a_size_of_a_long_range_stands_for_its_neighbours(count: int, between: str) -> None:
    planned = plan(rw="randread", bsrange=f"512{between}{512 * count}")
    shares = shares_of(planned)
    assert len(shares) <= SIZES_MAX and sum(shares.values()) == count
    mean = Fraction(sum(size * often for size, often in shares.items()), count)
    assert abs(mean - Fraction(512 * (1 + count), 2)) <= 256
    assert sizes.RANGE in planned.differences


@pytest.mark.parametrize("bounds", ["8k-12k", "4k-10k", "3k-9k", "8k-24k", "2k-63k"])
def test_the_last_size_of_a_range_has_the_share_of_fio(tmp_path: Path, bounds: str) -> None:
    shares = shares_of(plan(rw="randread", bsrange=bounds))
    words = f"--rw=randread --norandommap --size=16m --bsrange={bounds}"
    done: Counter[int] = Counter()
    for (_, _, size), often in issued_by_fio(tmp_path, words, 16 << 20).items():
        done[size] += often
    assert done.keys() == shares.keys()
    for size, often in shares.items():
        assert abs(done[size] / done.total() - often / sum(shares.values())) < 0.05


def test_a_range_is_no_reason_for_other_sizes_of_a_split() -> None:
    planned = plan(rw="randread", bsrange="4k-1m", bssplit="4k/50:64k/50")
    assert sizes.RANGE not in planned.differences


@given(st.lists(st.integers(1, 50), min_size=2, max_size=8))
def test_weights_of_sizes_are_in_proportion(parts: list[int]) -> None:
    parts = [*parts[:-1], 100 - sum(parts[:-1])] if 100 - sum(parts[:-1]) > 0 else [40, 60]
    split = ":".join(f"{index}k/{part}" for index, part in enumerate(parts, start=1))
    weights = shares_of(plan(rw="randread", bssplit=split))
    total = sum(weights.values())
    assert {size: Fraction(often, total) for size, often in weights.items()} == {
        index << 10: Fraction(part, 100) for index, part in enumerate(parts, start=1)
    }


def test_sizes_without_a_share_have_equal_parts_of_the_rest() -> None:
    planned = plan(rw="randread", bssplit="4k/50:8k:16k/:32k/0")
    assert shares_of(planned) == {4096: 3, 8192: 1, 16384: 1, 32768: 1}


@pytest.mark.parametrize(
    "split",
    [
        "4k/49:8k/50",
        "4k/49:8k/30:16k/10",
        "4k/60:8k/60",
        "4k/60:8k/50:16k/40",
        "4k/50:8k:16k/:32k/0",
        "4k/0:8k/0",
        "4k/10",
    ],
)
def test_shares_that_do_not_sum_to_100_are_those_of_fio(tmp_path: Path, split: str) -> None:
    only = plan(rw="randread", bssplit=split).streams[0]
    listed = only.get("sizes") or [{"size": only["size"], "share": 1}]
    total, log = sum(entry["share"] for entry in listed), tmp_path / "log"
    words = ("--rw=randread", "--norandommap", "--size=400m", "--number_ios=4000", "--thread")
    fio("--name=a", "--ioengine=null", *words, f"--bssplit={split}", f"--write_iolog={log}")
    seen = Counter(
        int(line.split()[4]) for line in log.read_text().splitlines() if " read " in line
    )
    assert set(seen) == {entry["size"] for entry in listed}
    for entry in listed:
        assert seen[entry["size"]] / 4000 == pytest.approx(entry["share"] / total, abs=0.04)


@pytest.mark.parametrize(
    ("options", "reads", "writes"),
    [
        ({"bssplit": "8k/90:16k/10,,"}, {8192, 16384}, {4096}),
        ({"bssplit": ",8k/100"}, {4096}, {8192}),
        ({"bssplit": "8k/100,", "bs": "64k"}, {8192}, {65536}),
        ({"bsrange": "8k-8k,"}, {8192}, {4096}),
        ({"bsrange": ",8k-16k"}, {4096}, {8192, 16384}),
        ({"bs": "8k,"}, {8192}, {4096}),
        ({"bs": ",8k"}, {4096}, {8192}),
    ],
)
def test_an_empty_direction_has_the_sizes_of_fio(
    tmp_path: Path, options: dict[str, str], reads: set[int], writes: set[int]
) -> None:
    planned = plan(rw="randrw", **options)
    for part, expected in zip(planned.streams, (reads, writes), strict=True):
        assert {size for size, _ in ends.mix_of(part)} == expected
    log = tmp_path / "log"
    words = [f"--{name}={value}" for name, value in options.items()]
    words += ["--size=8m", "--rw=randrw", "--thread", f"--write_iolog={log}"]
    fio("--name=a", "--ioengine=null", *words)
    lines = [line.split() for line in log.read_text().splitlines()]
    for kind, expected in (("read", reads), ("write", writes)):
        assert {int(line[4]) for line in lines if line[2:3] == [kind]} >= expected


@pytest.mark.parametrize(
    ("options", "aligned", "repeats"),
    [
        ("bs=4k\nblockalign=8k,16k\n", {"read": 8192, "write": 16384}, True),
        # The map of all directions goes where the places of any of them are not its blocks.
        ("bs=4k,8k\nblockalign=4k\n", {"read": 4096, "write": 4096}, True),
        ("bs=4k,8k\nblockalign=4k,8k\n", {"read": 4096, "write": 8192}, False),
    ],
)
def test_each_direction_is_aligned_as_in_fio(
    tmp_path: Path, options: str, aligned: dict[str, int], repeats: bool
) -> None:
    text = f"{HEAD}rw=randrw\nsize=4m\n{options}"
    (ios,) = places(tmp_path, text)
    for direction, unit in aligned.items():
        of_direction = [place for kind, place in ios if kind == direction]
        assert all(place % unit == 0 for place in of_direction)
        assert any(place % (2 * unit) for place in of_direction)
    assert (len(set(ios)) < len(ios)) == repeats
    streams = tables(imported(tmp_path, text))["stream"]
    found = {"read" if each["read"] == "100%" else "write": each["align"] for each in streams}
    assert found == aligned
    assert {each.get("pattern") for each in streams} == {None if repeats else "once"}


def mean_of_runs(ios: list[tuple[int, int]]) -> float:
    """I/Os, (first byte, length), for each that does not follow the one before."""
    begins = 1 + sum(place + size != after for (place, size), (after, _) in pairwise(ios))
    return len(ios) / begins


@pytest.mark.parametrize(
    ("options", "within"),
    [("bs=4k", 0.005), ("bs=16k", 0.005), ("bssplit=4k/50:8k/50", 0.05)],
)
def test_runs_have_as_many_ios_as_in_fio(tmp_path: Path, options: str, within: float) -> None:
    size = 48 << 20
    words = f"rw=randread:8 norandommap size=48m {options}".split()
    ios = sequence_by_fio(tmp_path, " ".join(f"--{word}" for word in words), size)
    of_fio = [(place, length) for way, place, length in ios if way == "read"]
    converted = imported(tmp_path, HEAD + "\n".join(words) + "\n")
    told = any("runs have about 8 I/Os on average" in text for text in converted.differences)
    assert told == ("bssplit" in options)
    resolved = resolve(
        converted.workload, Options(available_cpus=(0,)), [replace(DISK, bytes=size)]
    )
    generator = Generator(core_of(resolved), 1)
    mine = []
    for _ in range(8192):
        op = generator.next()
        generator.complete(int(op.arrival), int(op.at_ns) + 1000)
        mine.append((int(op.addr), int(op.bytes)))
    assert mean_of_runs(of_fio) == pytest.approx(8, rel=0.005)
    assert mean_of_runs(mine) == pytest.approx(8, rel=within)
