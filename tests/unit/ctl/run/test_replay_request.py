# SPDX-License-Identifier: GPL-2.0
"""spekctl run --trace on a fake kernel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lib.ctl.command_line import Outcome, Spekctl
from lib.ctl.log_files import records, written
from lib.ctl.schemas import validator
from lib.fakes.kernel import SECOND, START_NS, FakeKernel
from lib.fakes.machine import disk

from spekctl.documents import result
from spekctl.errors import ExitCode
from spekctl.kernel import traces
from spekctl.kernel.records import Reason, ReplayInfo
from spekctl.run import replay_request
from spekctl.run.replay import RECORD
from spekctl.trace.mapping import Target
from spekctl.trace.part import Part, Piece
from spekctl.workload import file as workload_file
from spekctl.workload.options import Options

HEAD = "at_us,offset_bytes,bytes,op\n"


class Feed:
    """Accepts everything."""

    def __init__(self) -> None:
        self.fed = 0
        self.asus: set[int] = set()

    def feed(self, run: int, worker: int, records: bytes) -> int:
        self.fed += len(records) // 24
        self.asus |= set(np.frombuffer(records, RECORD)["asu"].tolist())
        return len(records) // 24

    def end(self, run: int, count: int) -> None:
        assert count == self.fed

    def close(self) -> None:
        pass


@pytest.fixture
def feed(monkeypatch: pytest.MonkeyPatch) -> Feed:
    fake = Feed()
    monkeypatch.setattr(traces, "connect", lambda: fake)
    return fake


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    path = tmp_path / "io.csv"
    path.write_text(HEAD + "0,0,4096,read\n1000,8192,512,read\n2000,0,0,read\n")
    return path


def replay(spekctl: Spekctl, trace: Path, *more: object) -> Outcome:
    return spekctl("run", "--trace", trace, "--device", "/dev/fake0", *more)


def test_the_result_says_what_became_of_the_records(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    kernel.replay = ReplayInfo(
        fed=2,
        issued=2,
        ended=1,
        underruns=3,
        underrun_ns=2 * SECOND,
        underrun_first_ns=START_NS + SECOND // 2,
        underrun_last_ns=START_NS + SECOND,
    )

    outcome = replay(spekctl, trace, "--json", "--speed", "2")

    assert outcome.code == ExitCode.OK
    document = json.loads(outcome.out)
    validator(result.SCHEMA_FILE).validate(document)
    assert kernel.calls.index("run-new") < kernel.calls.index("run-start")
    assert feed.fed == 2
    told = document["replay"]
    assert (told["records"], told["fed"], told["issued"], told["complete"]) == (3, 2, 2, True)
    assert told["skipped"] == {"of no bytes": 1}
    assert (told["format"], told["pace"], told["speed"]) == ("csv", "original", 2.0)
    (remark,) = [text for text in document["remarks"] if "underruns" in text]
    assert remark.startswith("3 underruns: ") and "after 0.500 s" in remark
    assert document["workload"]["stream"][0]["pattern"] == "trace"


def test_the_table_names_the_trace(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    kernel.replay = ReplayInfo(fed=2, issued=2, ended=1)
    outcome = replay(spekctl, trace)
    assert "trace-io.csv: as recorded, at 1 times the speed" in outcome.out
    assert "trace: 2 of 3 records issued, 1 left out (1 of no bytes), 0 underruns" in " ".join(
        outcome.out.split()
    )


def test_the_result_says_what_was_cut_of_idle_times(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    kernel.replay = ReplayInfo(fed=2, issued=2, ended=1)
    outcome = replay(spekctl, trace, "--json", "--max-idle", "1ns")
    told = json.loads(outcome.out)["replay"]
    assert told["max_idle_ns"] == 1
    assert told["idles"] >= 1 and told["idle_ns"] > 0


def test_the_table_says_what_was_cut_of_idle_times(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    kernel.replay = ReplayInfo(fed=2, issued=2, ended=1)
    outcome = replay(spekctl, trace, "--max-idle", "1ns")
    assert "1 idle times cut to 1ns, by" in " ".join(outcome.out.split())


def test_a_replay_that_ends_early_fails(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    kernel.replay = ReplayInfo(fed=2, issued=1)
    kernel.end_reason = Reason.FEEDER_GONE
    outcome = replay(spekctl, trace)
    assert outcome.code == ExitCode.RUN_FAILED
    assert "the feeder of the trace exited before the end of the trace" in outcome.out


def test_dry_run_shows_the_streams_and_sends_nothing(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    outcome = replay(spekctl, trace, "--rate", "5", "--bursts", "--dry-run")
    assert outcome.code == ExitCode.OK
    assert "io.csv" in outcome.out
    assert "rate = 5.0\nbursts = true\n" in outcome.out
    assert (kernel.calls, feed.fed) == ([], 0)


def test_a_trace_that_writes_needs_permission(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, tmp_path: Path
) -> None:
    path = tmp_path / "io.csv"
    path.write_text(HEAD + "0,0,4096,write\n")
    outcome = replay(spekctl, path)
    assert outcome.code == ExitCode.REFUSED
    assert "--write" in outcome.sentence
    assert kernel.calls == []


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--speed", "2", "--closed", "4"], "--speed, --rate and --closed exclude each other"),
        (["--speed", "2", "--rate", "4"], "--speed, --rate and --closed exclude each other"),
        (["--depth", "4"], "--trace and --depth exclude each other"),
        (["--count", "4"], "--trace and --count exclude each other"),
        (["--verify"], "--trace and --verify exclude each other"),
        (["--detach"], "--trace and --detach exclude each other"),
        (["--polled"], "--trace and --polled exclude each other"),
        (["--set", "run.time=1s"], "--trace and --set exclude each other"),
        (["random-read-4k"], "exclude each other"),
        (["--speed", "fast"], "'fast' is not a speed"),
        (["--think"], "--think needs --closed as well"),
        (["--speed", "2", "--think"], "--think needs --closed as well"),
        (["--bursts"], "--bursts needs --rate as well"),
        (["--speed", "2", "--bursts"], "--bursts needs --rate as well"),
        (["--closed", "0"], "depth of at least 1"),
        (["--max-idle", "1s", "--rate", "4"], "'max_idle' of a trace excludes rate"),
        (["--max-idle", "1s", "--closed", "4"], "'max_idle' of a trace excludes closed without"),
        (["--max-idle", "0"], "max_idle must be more than 0"),
        (["--max-idle", "5"], "'5' has no unit"),
    ],
)
def test_what_does_not_go_with_a_trace_is_refused(
    spekctl: Spekctl, kernel: FakeKernel, trace: Path, arguments: list[str], text: str
) -> None:
    outcome = replay(spekctl, trace, *arguments)
    assert outcome.code == ExitCode.USAGE
    assert text in outcome.sentence


@pytest.mark.parametrize(
    "arguments",
    [
        ["--speed", "2"],
        ["--closed", "4"],
        ["--map", "wrap"],
        ["--think"],
        ["--bursts"],
        ["--share-by", "time"],
        ["--max-idle", "1s"],
    ],
)
def test_options_of_traces_need_one(
    spekctl: Spekctl, kernel: FakeKernel, arguments: list[str]
) -> None:
    outcome = spekctl("run", "random-read-4k", "--device", "/dev/fake0", *arguments)
    assert outcome.code == ExitCode.USAGE
    assert outcome.sentence == f"{arguments[0]} needs --trace as well"


WORKLOAD = '[workload]\nname = "mail"\nsummary = "mail"\n[run]\ninterval = "2s"\n'
FILES = 'trace = { files = ["io.csv"] }'
# A stream beside a trace.
BESIDE = '[[stream]]\nname = "scrub"\npattern = "sequential"\nsize = "64KiB"\n'
PACED = '[[arrival]]\nname = "paced"\nlaw = "constant"\nrate = 320\n' + BESIDE


def workload(folder: Path, source: str, more: str = "") -> Path:
    """A workload file whose stream replays a trace."""
    path = folder / "mail.toml"
    path.write_text(f'{WORKLOAD}[[stream]]\nname = "mail"\npattern = "trace"\n{source}\n{more}')
    return path


def test_a_workload_file_replays_as_the_command_line_does(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    kernel.replay = ReplayInfo(fed=2, issued=2, ended=1)
    source = 'trace = { files = ["io.csv"], speed = 2.5, map = "wrap" }'
    path = workload(trace.parent, source)

    by_file = spekctl("run", path, "--device", "/dev/fake0", "--json")
    fed, feed.fed = feed.fed, 0
    by_options = replay(spekctl, trace, "--json", "--speed", "2.5", "--map", "wrap")

    assert (by_file.code, by_options.code) == (ExitCode.OK, ExitCode.OK)
    assert fed == feed.fed == 2
    mine, theirs = json.loads(by_file.out), json.loads(by_options.out)
    validator(result.SCHEMA_FILE).validate(mine)
    assert mine["replay"] == theirs["replay"]
    assert (mine["config"].pop("name"), mine["config"].pop("interval_ns")) == ("mail", 2 * SECOND)
    assert (theirs["config"].pop("name"), theirs["config"].pop("interval_ns")) == (
        "trace-io.csv",
        SECOND,
    )
    assert mine["config"] == theirs["config"]
    assert (
        mine["workload"]["stream"][0]["trace"] | {"speed": "2.5"}
        == (theirs["workload"]["stream"][0]["trace"])
    )


def test_the_rate_of_the_command_line_counts(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    kernel.replay = ReplayInfo(fed=2, issued=2, ended=1)
    path = workload(trace.parent, 'trace = { files = ["io.csv"], closed = 4 }')

    outcome = spekctl("run", path, "--device", "/dev/fake0", "--json", "--rate", "200")

    told = json.loads(outcome.out)["replay"]
    assert (told["pace"], told["rate"], told["depth"]) == ("rate", 200.0, None)


@pytest.mark.parametrize("more", ["", PACED], ids=["alone", "mixed"])
@pytest.mark.parametrize("options", [[], ["--dry-run"]], ids=["run", "dry-run"])
@pytest.mark.parametrize(
    ("operations", "reasons"),
    [
        (["discard"], "the device has no discards"),
        (["write-zeroes"], "write-zeroes is not replayed"),
        (
            ["discard", "zone-reset"],
            "the device has no discards, zone-reset is not replayed",
        ),
    ],
)
def test_a_trace_without_a_request_for_the_device_is_refused(
    spekctl: Spekctl,
    kernel: FakeKernel,
    feed: Feed,
    trace: Path,
    operations: list[str],
    reasons: str,
    options: list[str],
    more: str,
) -> None:
    trace.write_text(HEAD + "".join(f"{n},0,4096,{op}\n" for n, op in enumerate(operations)))
    path = workload(trace.parent, FILES, more)
    outcome = spekctl("run", path, "--device", "/dev/fake0", "--write", *options)
    assert (outcome.code, kernel.calls) == (ExitCode.USAGE, [])
    assert outcome.sentence == (
        f"{trace} has no requests that can be replayed: {reasons}; allowed are read, write, flush"
    )


def test_a_trace_says_all_that_it_leaves_out(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    trace.write_text(HEAD + "0,0,0,read\n1,0,4096,discard\n")
    outcome = replay(spekctl, trace, "--write")
    assert (outcome.code, kernel.calls) == (ExitCode.USAGE, [])
    assert outcome.sentence == (
        f"{trace} has no requests that can be replayed: the device has no discards, requests of no"
        " bytes are left out; allowed are read, write, flush"
    )


@pytest.mark.parametrize("is_stored", [False, True])
def test_ios_that_a_log_has_lost_are_told(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, tmp_path: Path, is_stored: bool
) -> None:
    log = written(tmp_path / "log", records(9), lost=4)
    if is_stored:
        spekctl("trace", "convert", log, "-o", tmp_path / "t.trace")
        log = tmp_path / "t.trace"
    kernel.replay = ReplayInfo(fed=9, issued=9, ended=1)
    outcome = replay(spekctl, log, "--write", "--json", "--map", "wrap")
    assert outcome.code == ExitCode.RUN_FAILED
    document = json.loads(outcome.out)
    assert (document["replay"]["records"], document["replay"]["lost"]) == (9, 4)
    assert "the log lacks 4 I/Os, lost while it was recorded" in document["remarks"]


def test_flushes_need_no_bytes(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    trace.write_text(HEAD + "0,0,0,flush\n1000,0,0,flush\n")
    kernel.replay = ReplayInfo(fed=2, issued=2, ended=1)
    outcome = replay(spekctl, trace, "--write", "--json")
    assert (outcome.code, feed.fed) == (ExitCode.OK, 2)
    document = json.loads(outcome.out)
    assert [stream["operation"] for stream in document["config"]["streams"]] == ["flush"]
    assert document["replay"]["skipped"] == {}


def test_writes_of_no_bytes_are_left_out_and_need_no_permission(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    trace.write_text(HEAD + "0,0,4096,read\n1000,0,0,write\n2000,0,0,write\n")
    kernel.replay = ReplayInfo(fed=1, issued=1, ended=1)
    outcome = replay(spekctl, trace, "--json")
    assert (outcome.code, feed.fed) == (ExitCode.OK, 1)
    document = json.loads(outcome.out)
    assert document["config"]["write"] is False
    assert document["replay"]["skipped"] == {"of no bytes": 2}
    assert "2 records are left out: they have no bytes" in document["remarks"]


@pytest.mark.parametrize("option", ["--depth=4", "--count=4", "--polled", "--bsu=2"])
def test_options_without_a_meaning_for_a_trace_are_refused(
    spekctl: Spekctl, kernel: FakeKernel, trace: Path, option: str
) -> None:
    path = workload(trace.parent, 'trace = { files = ["io.csv"] }')
    outcome = spekctl("run", path, "--device", "/dev/fake0", option)
    assert outcome.code == ExitCode.USAGE
    flag = option.partition("=")[0]
    assert outcome.sentence == (f"mail replays a trace, which has its own requests: remove {flag}")


def test_a_replay_cannot_be_detached(spekctl: Spekctl, kernel: FakeKernel, trace: Path) -> None:
    path = workload(trace.parent, 'trace = { files = ["io.csv"] }')
    outcome = spekctl("run", path, "--device", "/dev/fake0", "--detach")
    assert (outcome.code, kernel.calls) == (ExitCode.USAGE, [])
    assert outcome.sentence == "mail replays a trace, which has to be fed: remove --detach"


@pytest.mark.parametrize(
    ("source", "more", "text"),
    [
        ("", "", "pattern trace needs 'trace' with 'files'"),
        ("trace = { files = [] }", "", "at least one of 'files'"),
        (f"{FILES}\nsize = 4096", "", "'size' does not go with a trace"),
        (f'{FILES}\nasu = "all"', "", "'asu' does not go with a trace"),
        ('trace = { files = ["a"], speed = 2, rate = 3 }', "", "'speed' and 'rate' of a trace"),
        ('trace = { files = ["a"], think = true }', "", "'think' of a trace needs 'closed'"),
        ('trace = { files = ["a"], bursts = true }', "", "'bursts' of a trace needs 'rate'"),
        ('trace = { files = ["a"], rate = 3, max_idle = "1s" }', "", "'max_idle' of a trace excl"),
        ('trace = { files = ["a"], closed = 0 }', "", "closed must be 1 to 65536, not 0"),
        ('trace = { files = ["a"], map = "mirror" }', "", "'mirror'"),
        (FILES, f'[[stream]]\nname = "b"\npattern = "trace"\n{FILES}\n', "remove [[stream]] 'b'"),
        (FILES, '[[asu]]\nname = "all"\nsize = "9%"\n', "[[asu]] 'all' is unused"),
        (FILES, '[[arrival]]\nname = "default"\n', "[[arrival]] 'default' is unused"),
        (FILES, '[[arrival]]\nname = "a"\n[[arrival]]\nname = "b"\n' + BESIDE, "'b': no stream"),
        (FILES, '[[arrival]]\nname = "default"\nlaw = "trace"\n', "which has no [[arrival]]"),
        ('trace = { files = ["none.csv"] }', "", "none.csv"),
        ('trace = { files = ["io.csv"], speed = 1e9 }', "", "a speed must be"),
    ],
)
def test_a_wrong_trace_of_a_workload_file_is_refused(
    spekctl: Spekctl, kernel: FakeKernel, trace: Path, source: str, more: str, text: str
) -> None:
    outcome = spekctl("run", workload(trace.parent, source, more), "--device", "/dev/fake0")
    assert outcome.code == ExitCode.USAGE
    assert text in outcome.sentence
    assert kernel.calls == []


def test_a_pattern_of_another_kind_has_no_trace(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path
) -> None:
    path = tmp_path / "odd.toml"
    path.write_text(f'{WORKLOAD}[[stream]]\nname = "s"\nsize = 4096\n{FILES}\n')
    outcome = spekctl("run", path, "--device", "/dev/fake0")
    assert outcome.code == ExitCode.USAGE
    assert "'trace' belongs to pattern trace" in outcome.sentence


def test_what_needs_no_run_does_not_read_the_trace(
    spekctl: Spekctl, kernel: FakeKernel, trace: Path
) -> None:
    path = workload(trace.parent, FILES)
    outcome = spekctl("show", path, "--device", "/dev/fake0")
    assert outcome.code == ExitCode.USAGE
    assert "spekctl run does that, also with --dry-run" in outcome.sentence


# --- beside other streams ------------------------------------------------------------------------


def mixed(folder: Path, others: str = PACED, source: str = FILES) -> Path:
    return workload(folder, source, others)


def numbers(outcome: Outcome) -> dict[str, Any]:
    assert outcome.code == ExitCode.OK, outcome.err
    document: dict[str, Any] = json.loads(outcome.out)
    return document


def test_streams_beside_a_trace_come_first_as_they_are_alone(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    kernel.replay = ReplayInfo(fed=2, issued=2, ended=1)
    alone = trace.parent / "alone.toml"
    alone.write_text(WORKLOAD + PACED)

    outcome = spekctl("run", mixed(trace.parent), "--device", "/dev/fake0", "--json")
    without = spekctl("run", alone, "--device", "/dev/fake0", "--json", "--time", "1s")

    assert (outcome.code, feed.fed) == (ExitCode.OK, 2)
    document = json.loads(outcome.out)
    validator(result.SCHEMA_FILE).validate(document)
    config, reference = document["config"], json.loads(without.out)["config"]
    for kind in ("stream", "arrival", "asu"):
        assert config[f"{kind}s"][:1] == reference[f"{kind}s"], kind
    assert config["seed"] == reference["seed"]
    assert [(arrival["name"], arrival["law"]) for arrival in config["arrivals"]] == [
        *(("paced", "constant"), ("trace", "trace")),
    ]
    assert [(stream["name"], stream["arrival"], stream["asu"]) for stream in config["streams"]] == [
        *(("scrub", 0, 0), ("trace", 1, 1)),
    ]
    assert [asu["name"] for asu in config["asus"]] == ["all", "target-1"]
    assert (config["time_ns"], config["count"], config["backend"]) == (0, 0, "bio")
    assert config["trace_records"] > 0
    assert document["replay"]["complete"]


def test_streams_beside_a_part_of_a_trace_stay_in_that_part(
    trace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(trace.parent)
    half = disk().bytes // 2
    mail = workload_file.load(str(mixed(trace.parent)))
    targets = [Target(2 * half, 512)]
    starts = []
    for start in (0, half):
        trace.write_text(f"{HEAD}0,0,4096,read\n1000,{half},512,read\n")
        part = Part(targets, [Piece(0, start, half)])
        config = replay_request.build(mail, [disk()], Options(), part=part).config
        beside, replayed = config.asus
        scrub = config.streams[0]
        assert (scrub.name, scrub.range_start, scrub.range_bytes) == ("scrub", 0, half)
        assert (beside.bytes, replayed.bytes) == (half, 2 * half)
        starts.append((beside.extents[0].start, replayed.extents[0].start))
    assert starts == [(0, 0), (half, 0)]


def test_the_table_names_both_loads(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    kernel.replay = ReplayInfo(fed=2, issued=2, ended=1)
    outcome = spekctl("run", mixed(trace.parent), "--device", "/dev/fake0")
    assert "constant arrivals, 320 per second + as recorded, at 1 times the speed" in " ".join(
        outcome.out.split()
    )


def test_a_limit_of_the_user_is_kept_and_its_default_is_not(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    plan = ("--device", "/dev/fake0", "--dry-run", "--json")
    limited = numbers(spekctl("run", mixed(trace.parent), *plan, "--time", "3s", "--ramp", "1s"))
    assert (limited["time_ns"], limited["ramp_ns"]) == (3 * SECOND, SECOND)
    free = numbers(spekctl("run", mixed(trace.parent), *plan))
    assert (free["time_ns"], free["ramp_ns"]) == (0, 0)


def test_room_for_outstanding_ios_is_that_of_both(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    closed = '[[arrival]]\nname = "deep"\ndepth = 5\n' + BESIDE
    path = mixed(trace.parent, closed, 'trace = { files = ["io.csv"], closed = 3 }')
    plan = ("run", path, "--device", "/dev/fake0", "--dry-run", "--json")
    assert numbers(spekctl(*plan))["max_outstanding"] == 8
    assert numbers(spekctl(*plan, "--max-outstanding", "2"))["max_outstanding"] == 2


def test_a_trace_beside_striped_streams_has_a_range_for_each_device(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    devices = ("--device", "/dev/fake0", "--device", "/dev/fake1")
    plan = numbers(spekctl("run", mixed(trace.parent), *devices, "--dry-run", "--json"))
    assert [[extent["target"] for extent in asu["extents"]] for asu in plan["asus"]] == [
        [0, 1],
        [0],
        [1],
    ]
    assert [(stream["name"], stream["asu"]) for stream in plan["streams"]] == [
        *(("scrub", 0), ("trace-1", 1), ("trace-2", 2)),
    ]


def test_records_name_the_ranges_of_their_devices(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    kernel.replay = ReplayInfo(fed=2, issued=2, ended=1)
    trace.write_text("at_us,device,offset_bytes,bytes,op\n0,a,0,4096,read\n9,b,0,4096,read\n")
    two = '[[asu]]\nname = "a"\nsize = "50%"\n[[asu]]\nname = "b"\nsize = "50%"\n' + BESIDE
    devices = ("--device", "/dev/fake0", "--device", "/dev/fake1")
    outcome = spekctl("run", mixed(trace.parent, two), *devices, "--json")
    assert outcome.code == ExitCode.OK, outcome.err
    config = json.loads(outcome.out)["config"]
    of_trace = {stream["asu"] for stream in config["streams"] if stream["pattern"] == "trace"}
    assert feed.asus == of_trace == {2, 3}


def test_dry_run_shows_the_trace_and_its_company(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    outcome = spekctl("run", mixed(trace.parent), "--device", "/dev/fake0", "--dry-run")
    assert outcome.code == ExitCode.OK
    assert "io.csv" in outcome.out and 'name = "scrub"' in outcome.out
    assert (kernel.calls, feed.fed) == ([], 0)


def test_fields_of_both_can_be_set(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    kernel.replay = ReplayInfo(fed=2, issued=2, ended=1)
    settings = ("--set", "stream.mail.trace.speed=4", "--set", "arrival.paced.rate=40")
    outcome = spekctl("run", mixed(trace.parent), "--device", "/dev/fake0", "--json", *settings)
    document = json.loads(outcome.out)
    assert document["replay"]["speed"] == 4.0
    assert document["config"]["arrivals"][0]["rate_milli"] == 40_000


@pytest.mark.parametrize(
    "others",
    [
        BESIDE + "rate = 100\n",
        BESIDE + "rate = 100\n" + BESIDE.replace("scrub", "second"),
        BESIDE + "read_rate = 10\nwrite_rate = 10\n",
        '[[asu]]\nname = "part"\nsize = "25%"\n' + BESIDE + 'asu = "part"\n',
    ],
)
def test_company_may_be_any_workload(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path, others: str
) -> None:
    alone = trace.parent / "alone.toml"
    alone.write_text(WORKLOAD + others)
    plan = ("--device", "/dev/fake0", "--dry-run", "--json")
    mine = numbers(spekctl("run", mixed(trace.parent, others), *plan))
    theirs = numbers(spekctl("run", alone, *plan))
    for kind in ("streams", "arrivals", "asus"):
        assert mine[kind][: len(theirs[kind])] == theirs[kind]
        assert len(mine[kind]) == len(theirs[kind]) + 1


def test_a_trace_beside_streams_that_write_needs_permission(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    path = mixed(trace.parent, BESIDE + 'read = "0%"\n')
    outcome = spekctl("run", path, "--device", "/dev/fake0")
    assert outcome.code == ExitCode.REFUSED
    assert (feed.fed, kernel.calls) == (0, [])


@pytest.mark.parametrize(
    ("others", "options", "text"),
    [
        (PACED, ["--rate", "5"], "--rate is ambiguous"),
        (PACED, ["--depth", "5"], "remove --depth"),
        (PACED, ["--count", "5"], "remove --count"),
        (PACED, ["--verify"], "remove --verify"),
        (PACED, ["--polled"], "remove --polled"),
        (PACED, ["--detach"], "remove --detach"),
        (PACED, ["--hrrw", "fixed"], "no random walk"),
        (BESIDE.replace("scrub", "trace"), [], "stream 'trace': the replay uses this name"),
        (
            '[[asu]]\nname = "target-1"\nsize = "9%"\n' + BESIDE,
            [],
            "asu 'target-1': the replay uses this name",
        ),
        (
            PACED.replace('"paced"', '"trace"'),
            [],
            "arrival 'trace': the replay uses this name",
        ),
        (
            "".join(f'[[asu]]\nname = "a{n}"\nsize = "1%"\n' for n in range(16)) + BESIDE,
            [],
            "its trace have 17 asus together; at most 16",
        ),
        (BESIDE + "[run]\ncount = 5\n", [], "run"),
        (BESIDE + 'arrival = "none"\n', [], "there is no arrival 'none'"),
        (BESIDE.replace("64KiB", "100"), [], "not a multiple of 512"),
    ],
)
def test_what_does_not_go_with_a_mixture_is_refused(
    spekctl: Spekctl,
    kernel: FakeKernel,
    feed: Feed,
    trace: Path,
    others: str,
    options: list[str],
    text: str,
) -> None:
    outcome = spekctl("run", mixed(trace.parent, others), "--device", "/dev/fake0", *options)
    assert outcome.code == ExitCode.USAGE
    assert text in outcome.sentence
    assert kernel.calls == []


def test_a_mixture_does_not_end_by_count(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    path = mixed(trace.parent)
    path.write_text(path.read_text().replace("[run]", "[run]\ncount = 9"))
    outcome = spekctl("run", path, "--device", "/dev/fake0")
    assert outcome.code == ExitCode.USAGE
    assert "a replay ends with its trace or by time, not by count" in outcome.sentence
