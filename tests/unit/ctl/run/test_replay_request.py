# SPDX-License-Identifier: GPL-2.0
"""spekctl run --trace on a fake kernel."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lib.ctl.command_line import Outcome, Spekctl
from lib.ctl.schemas import validator
from lib.fakes.kernel import SECOND, START_NS, FakeKernel

from spekctl.documents import result
from spekctl.errors import ExitCode
from spekctl.kernel import traces
from spekctl.kernel.records import Reason, ReplayInfo

HEAD = "at_us,offset_bytes,bytes,op\n"


class Feed:
    """Accepts everything."""

    def __init__(self) -> None:
        self.fed = 0

    def feed(self, run: int, worker: int, records: bytes) -> int:
        self.fed += len(records) // 24
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
    found = json.loads(outcome.out)
    validator(result.SCHEMA_FILE).validate(found)
    assert kernel.calls.index("run-new") < kernel.calls.index("run-start")
    assert feed.fed == 2
    told = found["replay"]
    assert (told["records"], told["fed"], told["issued"], told["complete"]) == (3, 2, 2, True)
    assert told["skipped"] == {"of no bytes": 1}
    assert (told["format"], told["pace"], told["speed"]) == ("csv", "original", 2.0)
    (remark,) = [one for one in found["remarks"] if "underruns" in one]
    assert remark.startswith("3 underruns: ") and "after 0.500 s" in remark
    assert found["workload"]["stream"][0]["pattern"] == "trace"


def test_the_table_names_the_trace(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    kernel.replay = ReplayInfo(fed=2, issued=2, ended=1)
    outcome = replay(spekctl, trace)
    assert "trace-io.csv: as recorded, at 1 times the speed" in outcome.out
    assert "trace: 2 of 3 records issued, 1 left out (1 of no bytes), 0 underruns" in " ".join(
        outcome.out.split()
    )


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
    outcome = replay(spekctl, trace, "--dry-run")
    assert outcome.code == ExitCode.OK
    assert "io.csv" in outcome.out
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
        (["--closed", "0"], "depth of at least 1"),
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
    [["--speed", "2"], ["--closed", "4"], ["--map", "wrap"], ["--think"], ["--share-by", "time"]],
)
def test_options_of_traces_need_one(
    spekctl: Spekctl, kernel: FakeKernel, arguments: list[str]
) -> None:
    outcome = spekctl("run", "random-read-4k", "--device", "/dev/fake0", *arguments)
    assert outcome.code == ExitCode.USAGE
    assert outcome.sentence == f"{arguments[0]} needs --trace as well"


WORKLOAD = '[workload]\nname = "mail"\nsummary = "mail"\n[run]\ninterval = "2s"\n'


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
    mine, other = json.loads(by_file.out), json.loads(by_options.out)
    validator(result.SCHEMA_FILE).validate(mine)
    assert mine["replay"] == other["replay"]
    assert (mine["config"].pop("name"), mine["config"].pop("interval_ns")) == ("mail", 2 * SECOND)
    assert (other["config"].pop("name"), other["config"].pop("interval_ns")) == (
        "trace-io.csv",
        SECOND,
    )
    assert mine["config"] == other["config"]
    assert (
        mine["workload"]["stream"][0]["trace"] | {"speed": "2.5"}
        == (other["workload"]["stream"][0]["trace"])
    )


def test_the_rate_of_the_command_line_counts(
    spekctl: Spekctl, kernel: FakeKernel, feed: Feed, trace: Path
) -> None:
    kernel.replay = ReplayInfo(fed=2, issued=2, ended=1)
    path = workload(trace.parent, 'trace = { files = ["io.csv"], closed = 4 }')

    outcome = spekctl("run", path, "--device", "/dev/fake0", "--json", "--rate", "200")

    told = json.loads(outcome.out)["replay"]
    assert (told["pace"], told["rate"], told["depth"]) == ("rate", 200.0, None)


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


FILES = 'trace = { files = ["io.csv"] }'


@pytest.mark.parametrize(
    ("source", "more", "text"),
    [
        ("", "", "pattern trace needs 'trace' with 'files'"),
        ("trace = { files = [] }", "", "at least one of 'files'"),
        (f"{FILES}\nsize = 4096", "", "'size' does not go with a trace"),
        (f'{FILES}\nasu = "all"', "", "'asu' does not go with a trace"),
        ('trace = { files = ["a"], speed = 2, rate = 3 }', "", "'speed' and 'rate' of a trace"),
        ('trace = { files = ["a"], think = true }', "", "'think' of a trace needs 'closed'"),
        ('trace = { files = ["a"], closed = 0 }', "", "closed must be 1 to 65536, not 0"),
        ('trace = { files = ["a"], map = "mirror" }', "", "'mirror'"),
        (FILES, '[[stream]]\nname = "b"\nsize = 512\n', "the run to itself; remove [[stream]] 'b'"),
        (FILES, '[[asu]]\nname = "all"\nsize = "9%"\n', "the run to itself; remove [[asu]] 'all'"),
        (FILES, '[[arrival]]\nname = "default"\n', "remove the [[arrival]] sections"),
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
