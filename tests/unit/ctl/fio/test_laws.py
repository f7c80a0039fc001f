# SPDX-License-Identifier: GPL-2.0
"""Laws by which fio draws blocks, held against the blocks that it takes."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from lib.core.config import core_of
from lib.core.spekcore import Generator
from lib.ctl.fio_jobs import HEAD, imported, places, plan, tables
from lib.ctl.resolved import DISK
from scipy import stats

from spekctl.errors import UsageError
from spekctl.fio import export, laws
from spekctl.fio import job as job_module
from spekctl.workload.options import Options
from spekctl.workload.resolve import resolve


@pytest.mark.parametrize("law", ["zipf:1.2", "pareto:0.1", "normal:5"])
def test_fio_scatters_frequent_blocks_with_a_center_as_well(tmp_path: Path, law: str) -> None:
    text = HEAD + f"rw=randread\nbs=4k\nsize=64m\nnorandommap\nrandom_distribution={law}:0.3\n"
    (clone,) = places(tmp_path, text + "number_ios=4000\n")
    often = Counter(place // (16 << 20) for _, place in clone)
    # As many I/Os in each quarter, but for those of the most frequent blocks.
    assert len(often) == 4 and min(often.values()) > 200
    converted = imported(tmp_path, text)
    (entry,) = tables(converted)["stream"]
    assert "center" not in entry and laws.HASHED in converted.differences
    alone = imported(tmp_path, text.replace(":0.3", ""))
    assert laws.HASHED not in alone.differences and laws.LAW in alone.differences


# fio multiplies a rank by this, modulo 2^64, to scatter it (hash.h).
HASH = 0x61C8864680B583EB


@pytest.mark.parametrize("deviation", ["0", "5", "20", "50", "80"])
def test_normal_is_fios_law_and_as_scattered(tmp_path: Path, deviation: str) -> None:
    blocks, count = 1 << 16, 40_000
    text = HEAD + (
        f"rw=randread\nbs=4k\nsize={4 * blocks}k\nnorandommap\n"
        f"random_distribution=normal:{deviation}\n"
    )
    (clone,) = places(tmp_path, text + f"number_ios={count}\n")
    by_fio = np.array([place >> 12 for _, place in clone])
    converted = imported(tmp_path, text + "time_based\nruntime=9\n")
    config = resolve(converted.workload, Options(available_cpus=(0,)), [DISK])
    by_spek = Generator(core_of(config), 1).ops(count)["addr"].astype(np.int64) >> 12
    # Popularity: as fio's blocks go back to ranks by its hash, those of the import do by the factor
    # of the core, once the place of the first one is known.
    ranks = by_fio * pow(HASH, -1, blocks) % blocks
    factor = blocks * 618033989 // 10**9
    factor -= 1 - factor % 2
    turned = by_spek * pow(factor, -1, blocks) % blocks
    seen = np.exp(2j * np.pi * turned / blocks).mean()
    offset = round(float(np.angle(seen)) / 2 / np.pi * blocks) - blocks // 2
    distance = stats.ks_2samp(ranks, (turned - offset) % blocks).statistic
    assert len(by_fio) == len(by_spek) == count and distance < 1.95 * math.sqrt(2 / count)
    # Scatter: all parts of the range have as many I/Os.
    for drawn in (by_fio, by_spek):
        parts = np.bincount(drawn * 64 // blocks, minlength=64) / count * 64
        assert parts.min() > 0.8 and parts.max() < 1.2


def test_normal_goes_to_fio_and_back(tmp_path: Path) -> None:
    text = HEAD + "rw=randread\nbs=4k\ntime_based\nruntime=9\nrandom_distribution=normal:12.5\n"
    first = imported(tmp_path, text)
    exported = export.export(first.workload, ["/dev/sdx"])
    assert "random_distribution=normal:12.5" in exported
    again = imported(tmp_path, exported)
    assert tables(again)["stream"] == tables(first)["stream"]


def test_clones_have_frequent_blocks_of_their_own_unless_the_law_has_a_place(
    tmp_path: Path,
) -> None:
    job = HEAD + "rw=randread\nbs=4k\nsize=40m\nnorandommap\nnumjobs=3\n"
    for law, sets in (("zipf:1.5", 3), ("pareto:0.1", 3), ("pareto:0.1:0.3", 1), ("normal:1", 1)):
        text = job + f"random_distribution={law}\n"
        if law.startswith("pareto"):
            # As fio names them: a log of each clone is whole only if it is short.
            clones = places(tmp_path, text + "number_ios=150\n")
            often = {Counter(clone).most_common(1)[0][0] for clone in clones}
            assert len(often) == sets
        converted = imported(tmp_path, text + "time_based\nruntime=9\n")
        assert len(tables(converted)["stream"]) == sets
    many = imported(
        tmp_path,
        job.replace("=3", "=100") + "time_based\nruntime=9\nrandom_distribution=zipf:1.2\n",
    )
    assert len(tables(many)["stream"]) == 64 and job_module.ONE_MAP not in many.differences
    assert any("64 streams stand for 100 clones" in text for text in many.differences)


def test_a_deviation_that_fio_refuses_is_refused() -> None:
    with pytest.raises(UsageError, match="the deviation of normal is 0 to below 100, not 100"):
        plan(rw="randread", random_distribution="normal:100")
    assert "width" not in plan(rw="randread", random_distribution="normal").streams[0]


def test_zones_without_a_size_have_what_the_others_leave(tmp_path: Path) -> None:
    law = "zoned:50/5:30/15:20/"
    zones = plan(rw="randread", random_distribution=law).streams[0]["zones"]
    assert [zone["size"] for zone in zones] == ["5%", "15%", "80%"]
    assert [zone["share"] for zone in zones] == ["50%", "30%", "20%"]
    text = HEAD + f"rw=randread\nbs=4k\nsize=40m\nnorandommap\nrandom_distribution={law}\n"
    (seen,) = places(tmp_path, text)
    last = sum(place >= (40 << 20) * 20 // 100 for _, place in seen)
    assert last / len(seen) == pytest.approx(0.2, abs=0.03)
    many = plan(rw="randread", random_distribution="zoned:50/10:30/:20/").streams[0]["zones"]
    assert [zone["size"] for zone in many] == ["10%", "45%", "45%"]


def test_zones_of_a_distribution_are_whole_blocks() -> None:
    planned = plan(rw="randread", random_distribution="zoned_abs:60/10000:40/1m", size="4m")
    assert [stream["size"] for stream in planned.streams[0]["zones"]] == [8192, 1 << 20]
    assert any(
        "sizes of zones are rounded down" in difference for difference in planned.differences
    )


@pytest.mark.parametrize("law", ["zipf:1.5", "normal:1"])
def test_reads_and_writes_apart_are_said_to_have_other_frequent_blocks(
    tmp_path: Path, law: str
) -> None:
    text = HEAD + f"rw=randrw\nbs=4k\nsize=40m\nrandom_distribution={law}\n"
    (clone,) = places(tmp_path, text + "number_ios=4000\n")
    often = [
        Counter(place for way, place in clone if way == wanted).most_common(20)
        for wanted in ("read", "write")
    ]
    if law.startswith("zipf"):
        assert often[0][0][0] == often[1][0][0]
    assert laws.APART not in imported(tmp_path, text).differences
    paced = imported(tmp_path, text + "rate_iops=50,50\n")
    assert len(tables(paced)["stream"]) == 2 and laws.APART in paced.differences


@pytest.mark.parametrize("rw", ["rw=read\n", "rw=randread\n", "rw=randread:1\n"])
def test_a_sequencer_has_nothing_to_repeat_without_runs_as_in_fio(tmp_path: Path, rw: str) -> None:
    text = f"{HEAD}size=1m\n{rw}"
    (plain,) = places(tmp_path, text)
    (identical,) = places(tmp_path, f"{text}rw_sequencer=identical\n")
    assert identical == plain
    assert imported(tmp_path, f"{text}rw_sequencer=identical\n").not_needed["rw_sequencer"]


def test_a_sequencer_that_repeats_each_place_is_refused(tmp_path: Path) -> None:
    text = f"{HEAD}size=1m\nrw=randread:4\nrw_sequencer=identical\n"
    (ios,) = places(tmp_path, text)
    assert all(len(set(ios[first : first + 4])) == 1 for first in range(0, len(ios), 4))
    with pytest.raises(UsageError, match="rw_sequencer: identical has 4 I/Os at each place"):
        imported(tmp_path, text)
    with pytest.raises(UsageError, match="rw_sequencer: 'same' is neither sequential nor ident"):
        imported(tmp_path, text.replace("identical", "same"))
    runs = imported(tmp_path, text.replace("identical", "sequential"))
    assert tables(runs)["stream"][0]["pattern"] == "runs"


@pytest.mark.parametrize(
    ("options", "told", "ios", "furthest"),
    [
        ("bs=8k\nblockalign=4k\n", "uses the beginning of the range only", 128, 1 << 19),
        ("bs=4k,8k\n", "ends at the first one beyond the range", 100, 1 << 20),
        ("bs=4k\nblockalign=8k\n", "ends at the first one beyond the range", 100, 1 << 20),
    ],
)
def test_fio_applies_a_law_to_blocks_of_one_size_and_aligns_them_to_another(
    tmp_path: Path, options: str, told: str, ios: int, furthest: int
) -> None:
    text = HEAD + "rw=randrw\nsize=1m\nnorandommap\nrandom_distribution=zipf:1.1\n" + options
    (clone,) = places(tmp_path, text)
    assert len(clone) <= ios and max(place for _, place in clone) < furthest
    assert any(text.endswith(told) for text in imported(tmp_path, text).differences)
    plain = imported(tmp_path, text.replace(options, "bs=8k\n"))
    assert not any("draws places in blocks" in text for text in plain.differences)
