# SPDX-License-Identifier: GPL-2.0
"""The core as spekctl compiles and calls it: the same times as the golden tables."""

from __future__ import annotations

import csv
import tomllib
from pathlib import Path

import pytest
from lib.build.sources import ROOT
from lib.ctl.drive_requests import random_requests

from spekctl.drive import core, file
from spekctl.drive.core import METRICS, REQUEST, RESULT, RequestRefused, Rule, Simulation
from spekctl.drive.model import MOST_ARMS
from spekctl.errors import ExitCode, SpekError, UsageError

GOLDEN = ROOT / "tests" / "unit" / "drive" / "golden"


@pytest.mark.parametrize("name", ["cheetah9lp", "dnes-309170w", "st32171w"])
def test_a_chain_of_accesses_is_disksims(name: str) -> None:
    with (GOLDEN / f"{name}.chain.csv").open() as table:
        rows = [row for row in csv.DictReader(table) if row["op"] == "R"][:1000]
    drive = Simulation(file.load(name), Rule("fcfs", closed=1))
    packed = b"".join(REQUEST.pack(0, int(row["lba"]), 8, 0) for row in rows)
    results = drive.feed(packed) + drive.drain()
    for row, record in zip(rows, RESULT.iter_unpack(results), strict=True):
        assert record[2] == int(row["lba"])
        assert abs(record[4] - int(row["end_ns"])) <= 1000


@pytest.mark.parametrize(
    ("arms", "depth", "iops"),
    [(1, 1, 79.0), (1, 8, 139.1), (2, 8, 164.9), (4, 1, 127.0), (4, 32, 272.8)],
)
def test_closed_loops_have_their_throughput(arms: int, depth: int, iops: float) -> None:
    model = file.load("barracuda-es").with_arms(arms)
    drive = Simulation(model, Rule("sptf", closed=depth))
    drive.feed(random_requests(20_000, model.capacity), keep=False)
    drive.drain()
    account = drive.account()
    assert sum(account.arm_served) == account.served == 20_000
    assert 20_000e9 / account.now_ns == pytest.approx(iops, rel=0.015)


def test_batches_change_nothing() -> None:
    model = file.load("barracuda-es").with_arms(2)
    packed = random_requests(3000, model.capacity, gap_ns=7e6, writes=0.4)

    def serve(batch: int) -> bytes:
        drive = Simulation(model, Rule())
        step = batch * REQUEST.size
        parts = [drive.feed(packed[at : at + step]) for at in range(0, len(packed), step)]
        return b"".join([*parts, drive.drain()])

    assert serve(3000) == serve(1) == serve(97)


def test_reads_of_what_was_read_ahead_come_from_the_cache() -> None:
    sizes = ["cache.segments=4", "cache.segment_kib=512", "cache.ahead_kib=256", "cache.hit_ms=0.1"]
    drive = Simulation(file.load("barracuda-es", sizes), Rule())
    packed = b"".join(REQUEST.pack(at * 50_000_000, 4096 + 8 * at, 8, 0) for at in range(20))
    results = drive.feed(packed) + drive.drain()
    arms = [record[11] for record in RESULT.iter_unpack(results)]
    assert arms == [0, *[MOST_ARMS] * 19]
    assert drive.account().arm_served[-1] == 19


def test_more_requests_than_the_queue_holds_wait_outside() -> None:
    model = file.load("barracuda-es")
    drive = Simulation(model, Rule("fcfs"))
    results = drive.feed(random_requests(1000, model.capacity)) + drive.drain()
    served = [record[0] for record in RESULT.iter_unpack(results)]
    assert served == list(range(1000))


def test_sums_of_times_may_pass_64_bits() -> None:
    """As those of millions of requests of a drive that falls hours behind."""
    late_ns = 2**61
    drive = Simulation(file.load("barracuda-es"), Rule("fcfs"))
    arrivals = [late_ns, *[0] * 20]
    packed = [REQUEST.pack(at_ns, 4096 * place, 8, 0) for place, at_ns in enumerate(arrivals)]
    results = drive.feed(b"".join(packed)) + drive.drain()
    ends = [record[4] for record in RESULT.iter_unpack(results)]
    assert len(ends) == len(arrivals)
    assert drive.account().sum_ns[METRICS.index("response")] == sum(ends) - sum(arrivals) > 2**64


def test_a_request_that_is_refused_is_named() -> None:
    model = file.load("barracuda-es")
    for lba, sectors, sentence in (
        (model.capacity, 1, "request is beyond the drive's capacity"),
        (0, 0, "request has no sectors, or more than 65536"),
    ):
        with pytest.raises(RequestRefused, match=sentence) as refused:
            Simulation(model, Rule()).feed(
                REQUEST.pack(0, 0, 8, 0) + REQUEST.pack(0, lba, sectors, 0)
            )
        assert refused.value.index == 1


def test_what_the_core_refuses_is_its_sentence() -> None:
    model = file.load("cheetah9lp", ["seek_points=[[1, 1.0], [2, 900.0]]"])
    with pytest.raises(UsageError, match="cheetah9lp: The last line of the seek curve leaves"):
        Simulation(model, Rule())


def test_without_a_compiler_there_is_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("CC", "no-such-compiler")
    with pytest.raises(
        SpekError, match=r"needs a C compiler, but no-such-compiler is not installed"
    ):
        core.library_path()
    monkeypatch.setenv("CC", "false")
    with pytest.raises(SpekError, match="false failed to compile the modelled drive: no message"):
        core.library_path()


def test_a_cache_that_cannot_be_written_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(SpekError) as refusal:
        core.library_path()
    assert refusal.value.exit_code == ExitCode.RUN_FAILED
    assert refusal.value.message == (
        f"cannot write to the cache {tmp_path}/file/spek: Not a directory; XDG_CACHE_HOME can name"
        " another directory"
    )


def test_the_sources_are_found_where_they_are_installed(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "lib" / "site" / "spekctl"
    monkeypatch.setattr(core, "__file__", str(package / "drive" / "core.py"))
    with pytest.raises(SpekError, match="cannot find the sources of the modelled drive in"):
        core.sources()
    (package / "csources" / "drive").mkdir(parents=True)
    (package / "csources" / "drive" / "core").symlink_to(ROOT / "kmod" / "drive" / "core")
    (package / "csources" / "core").symlink_to(ROOT / "kmod" / "core")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert core.sources() == package / "csources"
    assert core.library_path().exists()


def test_the_package_carries_the_sources() -> None:
    setup = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]
    for name in ("core", "drive.core"):
        package = f"spekctl.csources.{name}"
        assert package in setup["packages"]
        assert (ROOT / setup["package-dir"][package]) == ROOT / "kmod" / name.replace(".", "/")
        assert set(setup["package-data"][package]) == {"*.c", "*.h"}


def test_an_arm_fails_between_requests() -> None:
    model = file.load("barracuda-es").with_arms(2)
    drive = Simulation(model, Rule())
    packed = random_requests(400, model.capacity, gap_ns=20e6)
    half = 200 * REQUEST.size
    results = drive.feed(packed[:half])
    drive.fail_arm(1)
    before = drive.account().arm_served[1]
    results += drive.feed(packed[half:]) + drive.drain()
    # What it was at has ended.
    assert before > 50 and drive.account().arm_served[1] <= before + 1
    assert all(record[12] == 0 for record in RESULT.iter_unpack(results))
    assert len(results) == 400 * RESULT.size


def test_requests_without_an_arm_end_with_an_error() -> None:
    model = file.load("barracuda-es")
    drive = Simulation(model, Rule())
    drive.fail_arm(0)
    (record,) = RESULT.iter_unpack(drive.feed(REQUEST.pack(0, 8, 8, 0)) + drive.drain())
    assert record[12] == 3  # SPEK_DRIVE_NO_ARM


def test_an_arm_that_is_none_cannot_fail() -> None:
    drive = Simulation(file.load("barracuda-es"), Rule())
    with pytest.raises(UsageError, match=r"barracuda-es: arm 1: .+"):
        drive.fail_arm(1)
