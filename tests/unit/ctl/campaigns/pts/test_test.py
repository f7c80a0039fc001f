# SPDX-License-Identifier: GPL-2.0
"""spekctl pts: whole tests on a fake device that settles, and their reports."""

from __future__ import annotations

import json
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.ctl.command_line import Outcome, Spekctl
from lib.ctl.schemas import validator
from lib.fakes.kernel import interval_cell
from lib.fakes.machine import use_fakes
from lib.fakes.queue_kernel import QueueKernel

from spekctl.documents import pts
from spekctl.errors import ExitCode
from spekctl.kernel import traces
from spekctl.kernel.client import Patience, endless
from spekctl.kernel.records import IntervalRow, Reason, ReplayInfo
from spekctl.run import replay_request
from spekctl.workload.config import RunConfig

SETTLING = [400, 300, 200, 150, 120, 105, 100, 101, 99, 100]
SHORT = (
    *("--time", "1s", "--sizes", "8K,4K", "--reads", "100,0", "--throughput-sizes", "1M"),
    *("--latency-sizes", "4K", "--latency-reads", "100,0", "--saturation-time", "4s"),
    *("--progress", "none", "--folder", "t"),
)


class Feed:
    """Accepts every record of a purge."""

    def __init__(self) -> None:
        self.records: list[bytes] = []

    def feed(self, run: int, worker: int, records: bytes) -> int:
        self.records.append(records)
        return len(records) // 24

    def end(self, run: int, count: int) -> None:
        pass

    def close(self) -> None:
        pass


@dataclass
class Settling(QueueKernel):
    """Small random writes settle round by round; everything else is always the same."""

    series: list[int] = field(default_factory=lambda: list(SETTLING))
    rounds: int = 0
    feed: Feed = field(default_factory=Feed)

    def run_new(self, config: RunConfig, patience: Patience = endless) -> int:
        stream = config.streams[0]
        if config.count or stream.pattern == "trace":
            self.rounds = 0
        tracked = stream.read_ppm == 0 and stream.sizes[0].bytes == 4096 and not config.count
        level = self.series[min(self.rounds, len(self.series) - 1)] if tracked else 200
        self.rounds += tracked
        # In closed loop half of the capacity is used.
        self.capacity = 2.0 * level
        return super().run_new(config, patience)

    def intervals(self, run: int, since: int) -> list[IntervalRow]:
        rows = super().intervals(run, since)
        assert self.config is not None
        if self.config.streams[0].read_ppm:
            return rows
        return [
            msgspec.structs.replace(
                row,
                read=interval_cell(),
                write=interval_cell(ios=row.read.ios, bytes=4096 * row.read.ios),
            )
            for row in rows
        ]


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Settling:
    fake = Settling()
    fake.replay = ReplayInfo(fed=1, issued=1, ended=1)
    use_fakes(monkeypatch, fake, tmp_path)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(traces, "connect", lambda: fake.feed)
    monkeypatch.setattr(replay_request, "discards", lambda device: True)
    return fake


def call(spekctl: Spekctl, *more: str) -> Outcome:
    return spekctl("pts", "--device", "/dev/fake0", "--write", *SHORT, *more)


def report_of(folder: str = "t") -> dict[str, Any]:
    """The report; valid, and readable as what it is."""
    path = Path(folder, "report.json")
    data: dict[str, Any] = json.loads(path.read_text())
    validator(pts.SCHEMA_FILE).validate(data)
    pts.load_report(path)
    return data


def test_a_whole_test_has_its_report(spekctl: Spekctl, kernel: Settling) -> None:
    outcome = call(spekctl)
    assert outcome.code == ExitCode.OK, outcome.out + outcome.err
    found = report_of()
    assert found["notice"] == "PTS-like, unaudited"
    assert (found["passed"], found["complete"]) == (True, True)
    tests = {one["name"]: one for one in found["tests"]}
    assert list(tests) == ["iops", "throughput-1024k", "latency"]
    iops = tests["iops"]
    assert [one["values"][1] for one in iops["rounds"]] == SETTLING
    assert iops["steady"] and iops["window"]["values"] == SETTLING[5:]
    # Sequential writes do not settle here: they are steady from the start.
    assert len(tests["throughput-1024k"]["rounds"]) == 5
    assert [one["iops"] for one in found["saturation"]] == SETTLING[:1] * 4
    assert [one["written_bytes"] for one in found["saturation"]] == [
        4096 * 400 * count for count in (1, 2, 3, 4)
    ]
    assert kernel.deleted and kernel.closed


def test_runs_are_what_their_steps_are_called(spekctl: Spekctl, kernel: Settling) -> None:
    call(spekctl, "--depth", "16", "--workers", "1", "--seed", "7")
    seen = {
        (one.name, one.streams[0].sizes[0].bytes, one.count > 0): one for one in kernel.runs_seen
    }
    fill = seen["pts-iops", 128 << 10, True]
    assert fill.streams[0].pattern == "sequential" and fill.streams[0].read_ppm == 0
    # Twice the capacity of 1 GiB.
    assert fill.count * (128 << 10) == 2 << 30 and fill.write and fill.data == "random"
    assert seen["pts-throughput-1024k", 1 << 20, True].count == 2 << 10
    small = seen["pts-iops", 4096, False]
    assert small.streams[0].pattern == "uniform" and small.arrivals[0].depth == 16
    assert seen["pts-latency", 4096, False].arrivals[0].depth == 1
    sequential = seen["pts-throughput-1024k", 1 << 20, False]
    assert sequential.streams[0].pattern == "sequential"
    seeds = [one.seed for one in kernel.runs_seen if one.streams[0].pattern != "trace"]
    assert len(seeds) == len(set(seeds)) and min(seeds) >= 7


def test_a_purge_discards_every_block_once(spekctl: Spekctl, kernel: Settling) -> None:
    call(spekctl, "--tests", "saturation")
    (purge, _) = kernel.runs_seen
    assert [one.operation for one in purge.streams] == ["discard"] and purge.write
    assert Path("t/purge.csv").read_text().splitlines()[1:] == ["0,0,0,1073741824,discard"]
    assert sum(map(len, kernel.feed.records)) == 24
    assert "all blocks were discarded before each test" in " ".join(report_of()["remarks"])


def test_a_purge_of_several_devices_reaches_the_end_of_each(
    kernel: Settling, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from lib.fakes.machine import disk

    from spekctl.block import device
    from spekctl.campaigns.benchmark import Disks
    from spekctl.campaigns.pts.loads import purge_request, write_purge
    from spekctl.trace.columns import Op

    sizes = {"/dev/fake0": (5 << 29) + 512, "/dev/fake1": 1 << 30}
    monkeypatch.setattr(device, "find", lambda path: disk(path, bytes=sizes[path]))
    devices = [device.find(path) for path in sizes]
    write_purge(tmp_path, devices)
    wanted = purge_request(tmp_path, Disks(devices, True, ["S123"]))
    assert wanted.replay is not None and wanted.destroy == ["S123"] and wanted.config.write
    reached: dict[int, list[tuple[int, int]]] = {0: [], 1: []}
    for block in wanted.replay.schedule.blocks(100):
        assert set(block.op) == {Op.DISCARD}
        for at in range(len(block)):
            place = int(block.offset_bytes[at]), int(block.bytes[at])
            reached[int(block.target[at])].append(place)
    for index, size in enumerate(sizes.values()):
        end = 0
        for start, length in reached[index]:
            assert start == end and 0 < length <= 1 << 30
            end += length
        assert end == size


def test_saturation_writes_an_amount_by_default(spekctl: Spekctl, kernel: Settling) -> None:
    outcome = spekctl(
        *("pts", "--device", "/dev/fake0", "--write", "--tests", "saturation", "--quick"),
        *("--saturation", "300", "--folder", "t", "--progress", "none"),
    )
    assert outcome.code == ExitCode.OK
    assert kernel.runs_seen[-1].count == 3 * (1 << 30) // 4096


def test_every_step_leaves_its_result(spekctl: Spekctl, kernel: Settling) -> None:
    call(spekctl, "--tests", "latency")
    names = sorted(os.listdir("t"))
    assert names[:3] == [
        "0001-latency-purge.json",
        "0002-latency-precondition.json",
        "0003-latency-round-1-4k-read-100.json",
    ]
    assert names[-3:] == ["purge.csv", "report.json", "state.json"]


def test_the_text_has_the_tables_of_the_standard(spekctl: Spekctl, kernel: Settling) -> None:
    outcome = call(spekctl)
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert lines[0] == "PTS-like, unaudited: test of /dev/fake0"
    assert lines[1].startswith("passed: every test was done")
    for title in (
        "iops, PTS-like: steady state was reached after 10 rounds",
        "iops: steady-state verification",
        "rounds 6 to 10 5 kept",
        "average 101",
        "range 6 (5.9 %) 20 (20 %) kept",
        "slope per round -1",
        "slope excursion 4 (4.4 %) 10 (10 %) kept",
        "steady yes",
        "iops: IOPS of each round, 0 % reads",
        "10 200 100 *",
        "5 200 120",
        "iops: IOPS, rounds 6 to 10",
        "size 100 % reads 0 % reads",
        "4 KiB 200 101",
        "latency: mean response time, rounds 6 to 10",
        "latency: longest response time, rounds 6 to 10",
        "write saturation, PTS-like: 4 KiB random writes",
    ):
        assert title in lines, (title, outcome.out)
    assert "…" not in outcome.out
    assert "PTS" not in outcome.out.replace("PTS-like", "")
    assert outcome.err.endswith("spekctl: report written to t/report.json\n")


def test_json_goes_to_standard_output(spekctl: Spekctl, kernel: Settling) -> None:
    outcome = call(spekctl, "--tests", "saturation", "--json")
    assert json.loads(outcome.out) == json.loads(Path("t/report.json").read_text())


def test_progress_tells_each_round_and_the_time_left(spekctl: Spekctl, kernel: Settling) -> None:
    line = ["lines" if one == "none" else one for one in SHORT]
    outcome = spekctl("pts", "--device", "/dev/fake0", "--write", *line, "--tests", "iops")
    assert "iops, round 4: 5 rounds are needed" in outcome.err
    assert "iops, round 10: range 5.9 %, slope 4.4 % of the average: steady" in outcome.err
    assert ": purge before iops, 0:20 left in all" in outcome.err
    assert "iops, round 1, 4 KiB, 0 % reads, 0:17 left in all" in outcome.err


def test_steady_state_that_is_not_reached_is_code_7(spekctl: Spekctl, kernel: Settling) -> None:
    kernel.series = [100, 200] * 20
    outcome = call(spekctl, "--tests", "iops", "--rounds", "6")
    assert outcome.code == ExitCode.LIMIT_MISSED
    found = report_of()
    assert found["verdict"] == "missed: iops did not reach steady state"
    assert len(found["tests"][0]["rounds"]) == 6 and found["complete"]
    assert ", which are not steady" in outcome.out and "MISSED" in outcome.out


def test_the_limits_can_be_set(spekctl: Spekctl, kernel: Settling) -> None:
    outcome = call(spekctl, "--tests", "iops", "--until", "steady:window=2,range=100%,slope=100%")
    assert outcome.code == ExitCode.OK
    found = report_of()
    assert found["parameters"]["steady"] == {"window": 2, "range": 1.0, "slope": 1.0}
    assert len(found["tests"][0]["rounds"]) == 2


def test_a_device_without_discards_is_refused(
    spekctl: Spekctl, kernel: Settling, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replay_request, "discards", lambda device: False)
    outcome = call(spekctl, "--tests", "latency")
    assert outcome.code == ExitCode.USAGE and not kernel.runs_seen
    assert "/dev/fake0 cannot be purged: it does not support discards; with --no-purge" in (
        outcome.sentence
    )
    assert not Path("t").exists()
    without = call(spekctl, "--tests", "latency", "--no-purge")
    assert without.code == ExitCode.OK
    found = report_of()
    assert not found["tests"][0]["purged"] and found["parameters"]["purge"] is False
    assert "--no-purge: the device was not purged" in without.out
    assert all(one.streams[0].pattern != "trace" for one in kernel.runs_seen)


def test_a_purge_that_is_not_complete_ends_the_test(spekctl: Spekctl, kernel: Settling) -> None:
    kernel.replay = ReplayInfo(fed=1, issued=0, ended=1)
    outcome = call(spekctl)
    assert outcome.code == ExitCode.RUN_FAILED
    assert "iops-purge: not all blocks were discarded" in outcome.err
    assert len(kernel.runs_seen) == 1


def test_an_interrupted_test_is_resumed(spekctl: Spekctl, kernel: Settling) -> None:
    assert call(spekctl, "--folder", "whole").code == ExitCode.OK
    whole = report_of("whole")
    kernel.runs_seen.clear()

    def stop(config: RunConfig) -> None:
        if len(kernel.runs_seen) == 30:
            os.kill(os.getpid(), signal.SIGINT)

    kernel.before_run = stop
    first = call(spekctl)
    assert first.code == ExitCode.INTERRUPTED
    assert "30 steps are kept in t, --resume continues after iops-round-7" in first.err
    assert report_of()["verdict"] == "not complete: steps are missing"
    refused = call(spekctl)
    assert refused.code == ExitCode.USAGE and "t already holds a test" in refused.sentence
    kernel.before_run = lambda config: None
    for option, value, was, now in (
        ("--time", "2s", "1s", "2s"),
        ("--sizes", "4K", "8192,4096", "4096"),
        ("--until", "steady:window=4", "5", "4"),
        ("--tests", "iops", "iops,throughput,latency,saturation", "iops"),
        ("--depth", "4", "32", "4"),
    ):
        other = call(spekctl, "--resume", option, value)
        assert f"another {option}" in other.sentence and f"{was} then, {now} now" in other.sentence
    other = call(spekctl, "--resume", "--no-purge")
    assert "another --no-purge" in other.sentence
    # The interrupted measurement belongs to a round that had begun, and is repeated in it.
    kernel.rounds -= 1 if kernel.runs_seen[-1].streams[0].read_ppm == 0 else 0
    assert call(spekctl, "--resume").code == ExitCode.OK
    found = report_of()
    assert found["passed"] and len(found["runs"]) == len(whole["runs"])
    assert found["saturation"] == whole["saturation"]


def test_a_device_that_goes_away_can_come_back(spekctl: Spekctl, kernel: Settling) -> None:
    def gone(config: RunConfig) -> None:
        if config.name == "pts-latency" and not config.count and len(kernel.runs_seen) > 6:
            kernel.end_reason = Reason.DEVICE_GONE

    kernel.before_run = gone
    outcome = call(spekctl, "--tests", "latency")
    assert outcome.code == ExitCode.RUN_FAILED
    assert "a device was removed during the run; 7 steps are kept" in outcome.err
    kernel.before_run = lambda config: None
    assert call(spekctl, "--tests", "latency", "--resume").code == ExitCode.OK


def test_io_errors_fail_the_test(spekctl: Spekctl, kernel: Settling) -> None:
    def fails(config: RunConfig) -> None:
        kernel.errors = 5 if len(kernel.runs_seen) == 4 else 0

    kernel.before_run = fails
    outcome = call(spekctl, "--tests", "latency")
    assert outcome.code == ExitCode.RUN_FAILED
    assert report_of()["verdict"].startswith("failed: latency-round-2-4k-read-100: the run comp")


def test_without_write_nothing_is_sent(spekctl: Spekctl, kernel: Settling) -> None:
    outcome = spekctl("pts", "--device", "/dev/fake0", *SHORT)
    assert outcome.code == ExitCode.REFUSED and "give --write" in outcome.sentence
    assert not kernel.runs_seen and not Path("t").exists()


def test_a_dry_run_says_what_would_be_done(spekctl: Spekctl, kernel: Settling) -> None:
    outcome = spekctl("pts", "--device", "/dev/fake0", "--dry-run")
    assert outcome.code == ExitCode.OK and not kernel.calls
    assert outcome.out.splitlines() == [
        "PTS-like test on /dev/fake0, unaudited",
        "  iops: purge, 200 % of the capacity by sequential writes of 128 KiB; at most 25 rounds of"
        " 56:00 (56 x 1m), tracked: iops of 4 KiB, 0 % reads",
        "  throughput-1024k: purge, 200 % of the capacity by sequential writes of 1 MiB; at most 25"
        " rounds of 2:00 (2 x 1m), tracked: bandwidth of 1 MiB, 0 % reads",
        "  throughput-128k: purge, 200 % of the capacity by sequential writes of 128 KiB; at most"
        " 25 rounds of 2:00 (2 x 1m), tracked: bandwidth of 128 KiB, 0 % reads",
        "  latency: purge, 200 % of the capacity by sequential writes of 128 KiB; at most 25 rounds"
        " of 9:00 (9 x 1m), tracked: latency of 4 KiB, 0 % reads",
        "  saturation: purge; random writes of 4 KiB for 400 % of the capacity",
        "  steady state: 5 rounds, range 20 %, slope 10 % of the average",
        "  at least 5:45:00, besides purges and what ends by its amount",
    ]
    assert not list(Path.cwd().glob("pts-*"))
    as_json = spekctl("pts", "--device", "/dev/fake0", "--dry-run", "--json", "--tests", "latency")
    assert json.loads(as_json.out)["parts"] == ["latency"]


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--tests", "iopps"), "--tests: no test is called 'iopps'; did you mean 'iops'?"),
        (("--tests", "iops,iops"), "--tests: iops is listed twice"),
        (("--sizes", "1000"), "--sizes: '1000' is no block size: it is a multiple of 512 bytes"),
        (("--sizes", "4K,4096"), "--sizes: 4096 is listed twice"),
        (("--sizes", "4Q"), "--sizes: '4Q' is not a size"),
        (("--sizes", "1G"), "is no block size"),
        (("--reads", "100,200"), "--reads: 200 is more than 100 per cent"),
        (("--reads", "x"), "--reads: 'x' is not a list of whole numbers"),
        (("--until", "steady:iops"), "--until: the test says what is tracked; leave out iops"),
        (("--until", "steady:window=30"), "a window of 30 rounds is more than the 25 of --rounds"),
        (("--time", "0"), "--time must be more than 0"),
        (("--saturation", "100"), "--saturation and --saturation-time exclude each other"),
        (("--destroy", "S999"), "S999"),
    ],
)
def test_wrong_input_is_refused(
    spekctl: Spekctl, kernel: Settling, options: tuple[str, ...], sentence: str
) -> None:
    outcome = call(spekctl, *options)
    assert outcome.code in (ExitCode.USAGE, ExitCode.REFUSED) and sentence in outcome.sentence
    assert not kernel.calls and not Path("t").exists()


def test_sizes_below_the_logical_block_are_left_out_or_refused(
    spekctl: Spekctl, kernel: Settling, monkeypatch: pytest.MonkeyPatch
) -> None:
    from lib.fakes.machine import disk

    from spekctl.block import device

    monkeypatch.setattr(device, "find", lambda path: disk(path, logical_block=4096))
    outcome = spekctl("pts", "--device", "/dev/fake0", "--dry-run")
    assert outcome.code == ExitCode.OK
    assert "--sizes: sizes below the logical block, 4096 B, are left out" in outcome.out
    assert "rounds of 49:00" in outcome.out
    refused = spekctl("pts", "--device", "/dev/fake0", "--dry-run", "--sizes", "512")
    assert refused.code == ExitCode.USAGE
    assert "512 B is no multiple of the device's logical block of 4 KiB" in refused.sentence
