# SPDX-License-Identifier: GPL-2.0
"""What hosts have sent as one result: those that were lost and those that only watched included."""

from __future__ import annotations

import dataclasses
import errno
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.ctl import results as sample
from lib.fakes.fleet import CHRONY, FakeHost
from lib.fakes.kernel import FakeKernel

from spekctl import files
from spekctl.documents.hosts import ClockLook, Role
from spekctl.documents.result import Result, load_result
from spekctl.documents.result_parts import EndingResult
from spekctl.errors import ExitCode, SpekError
from spekctl.fleet import merge, plan, results, wire
from spekctl.fleet.clock import Bound, Distance
from spekctl.fleet.clocks import Skew
from spekctl.fleet.outcome import Loss, Outcome, Part
from spekctl.fleet.plan import Plan
from spekctl.kernel.records import RunState
from spekctl.run import verify
from spekctl.workload.model import Asu

SECOND = 10**9
START_NS = 1_795_000_000 * SECOND
PLAN = """
[fleet]
listen = "tls://10.0.0.1:8786"
workload = "mixed-70-30-8k"
[[host]]
name = "a"
devices = ["/dev/fake0"]
[[host]]
name = "b"
devices = ["/dev/fake0"]
[[host]]
name = "t"
role = "target"
"""


class FakeKernelWithRows(FakeKernel):
    """After two seconds of a run."""

    def __init__(self) -> None:
        super().__init__(state=RunState.RUNNING, seconds=2)
        self.run_new(sample.plan().config)


def planned() -> Plan:
    return plan.parse(PLAN)


def result(boot: str) -> Result:
    own = sample.build()
    environment = msgspec.structs.replace(own.environment, boot_id=boot)
    return msgspec.structs.replace(own, environment=environment)


def collected(document: object, stepped_ns: int = 0, after: Bound = CHRONY) -> wire.Collected:
    facts = wire.Facts(
        Distance(START_NS - 5_000, 100), 5_000, 5_000, stepped_ns, Bound(50_000, "chrony"), after
    )
    return wire.Collected(0, "the run completed", facts, msgspec.Raw(msgspec.json.encode(document)))


def outcome(**collections: wire.Collected | None) -> Outcome:
    parts = [Part(host, collected=collections.get(host.name)) for host in planned().hosts]
    for part in parts:
        if part.collected is None:
            part.loss = Loss(part.name, 41.2, "its connection has ended")
    return Outcome(
        "r-1", "f-1", START_NS, ExitCode.OK, "", parts, CHRONY, remarks=["a and b share it"]
    )


def merged(told: Outcome) -> Result:
    of_all = results.of(told, planned())
    assert of_all is not None
    return of_all


def test_the_result_of_a_run_has_all_its_hosts() -> None:
    told = outcome(a=collected(result("1")), b=collected(result("2"), 7_000))
    of_all = merged(told)
    assert of_all.hosts is not None
    a, b, t = of_all.hosts
    assert [host.role for host in (a, b, t)] == [Role.CLIENT, Role.CLIENT, Role.TARGET]
    single = result("1").totals.all
    assert of_all.totals.all.ios == 2 * single.ios
    assert a.start.planned_ns == b.start.planned_ns == START_NS
    assert (a.clock.stepped_ns, b.clock.stepped_ns) == (0, 7_000)
    # The worse bound of the two looks.
    assert (a.clock.bound_ns, a.clock.source) == (100_000, "chrony")
    # On the run of all of them, and not on that of the first.
    own = result("1").remarks
    assert own and of_all.remarks == [
        *(f"a, b: {text}" for text in own),
        "b: the clock was set by 7.00 us meanwhile",
        "a and b share it",
    ]
    assert a.run is not None and a.run.remarks == own
    assert merge.merge(merge.split(of_all)).remarks == of_all.remarks


def test_a_disk_that_each_host_calls_by_another_path_is_that_of_the_plan() -> None:
    def on(text: Result, path: str) -> Result:
        asu = Asu("a", device=path)
        return msgspec.structs.replace(
            text, workload=msgspec.structs.replace(text.workload, asu=[asu])
        )

    told = outcome(
        a=collected(on(result("1"), "/dev/sdb")), b=collected(on(result("2"), "/dev/sdc"))
    )
    workload = on(result("1"), "wwn:naa.1").workload
    of_all = results.of(told, dataclasses.replace(planned(), workload=workload))
    assert of_all is not None and of_all.workload == workload
    assert [host.name for host in of_all.hosts or ()] == ["a", "b", "t"]


def test_a_clock_that_has_lost_its_source_promises_nothing() -> None:
    told = outcome(a=collected(result("1"), after=Bound(None, "gone")))
    (a, *_) = merged(told).hosts or []
    assert (a.clock.bound_ns, a.clock.source) == (None, "gone")


def test_a_result_has_each_clock_before_and_after_the_run() -> None:
    told = outcome(a=collected(result("1"), after=Bound(900_000, "the kernel")))
    told.parts[0].skew_before, told.parts[0].skew_after = Skew(5_000, 90), Skew(-7_000, 80)
    told.parts[1].described = FakeHost("b").described()
    told.parts[1].skew_before = Skew(6_000, 70)
    (a, b, t) = merged(told).hosts or []
    assert a.clock.before == ClockLook(50_000, "chrony", 5_000, 90)
    assert a.clock.after == ClockLook(900_000, "the kernel", -7_000, 80)
    assert b.clock.before == ClockLook(100_000, "chrony", 6_000, 70) and b.clock.after is None
    assert (t.clock.before, t.clock.after) == (None, None)


def test_a_host_that_was_lost_is_in_it() -> None:
    of_all = merged(outcome(a=collected(result("1"))))
    assert of_all.hosts is not None
    _, b, _ = of_all.hosts
    assert b.loss is not None and b.loss.at_ns == START_NS + round(41.2 * SECOND)
    assert b.loss.text == "its connection has ended" and b.run is None
    assert not of_all.outcome.ok and "b lost at 41.2 s" in of_all.outcome.text


def test_its_intervals_up_to_there_are_in_it() -> None:
    told = outcome(a=collected(result("1")))
    lost = told.parts[1]
    lost.armed = wire.Armed(5_000, Distance(START_NS - 5_000, 100), START_NS)
    lost.rows = tuple(FakeKernelWithRows().intervals(7, 0))
    (_, b, _) = merged(told).hosts or []
    assert b.start.actual_ns == START_NS and len(b.rows.start_ns) == 2


@pytest.mark.parametrize(
    ("ios", "code", "ends"),
    [
        (5, ExitCode.OK, (ExitCode.OK, "all is over")),
        (
            0,
            ExitCode.OK,
            (ExitCode.RUN_FAILED, "all is over; no I/O completed in the measure phase"),
        ),
        (0, ExitCode.HOST_LOST, (ExitCode.HOST_LOST, "all is over")),
        # Of a clock that has left max_skew.
        (
            0,
            ExitCode.LIMIT_MISSED,
            (ExitCode.RUN_FAILED, "all is over; no I/O completed in the measure phase"),
        ),
        (5, ExitCode.LIMIT_MISSED, (ExitCode.LIMIT_MISSED, "all is over")),
    ],
)
def test_a_run_without_io_has_failed(ios: int, code: ExitCode, ends: tuple[ExitCode, str]) -> None:
    told = dataclasses.replace(outcome(), code=code, text="all is over")
    own = result("1")
    totals = msgspec.structs.replace(
        own.totals, all=msgspec.structs.replace(own.totals.all, ios=ios)
    )
    assert results.end_of(told, msgspec.structs.replace(own, totals=totals)) == ends


def test_a_run_without_io_that_has_missed_its_limit_is_as_on_one_host() -> None:
    told = dataclasses.replace(outcome(), code=ExitCode.LIMIT_MISSED, text="all is over")
    own = result("1")
    none = msgspec.structs.replace(own.totals.all, ios=0)
    missed = msgspec.structs.replace(
        own,
        totals=msgspec.structs.replace(own.totals, all=none),
        ending=EndingResult(None, None, SECOND, None, 3, [], ["p99 > 1ms"], "p99 > 1ms", ""),
    )
    assert missed.limit_missed
    assert results.end_of(told, missed) == (ExitCode.LIMIT_MISSED, "all is over")


def test_intervals_of_clients_that_are_all_lost_are_a_result() -> None:
    told = outcome()
    for part in told.parts[:2]:
        part.described = FakeHost(part.name).described()
        part.armed = wire.Armed(5_000, Distance(START_NS - 5_000, 100), START_NS)
        part.rows = tuple(FakeKernelWithRows().intervals(7, 0))
    of_all = merged(told)
    assert [len(host.rows.seq) for host in of_all.hosts or ()] == [2, 2, 0]
    assert [row.read.ios for row in of_all.intervals] == [
        2 * row.read.ios for row in FakeKernelWithRows().intervals(7, 0)
    ]
    assert not of_all.outcome.ok and "a lost at 41.2 s" in of_all.outcome.text
    assert of_all.workload == planned().workload and "a and b share it" in of_all.remarks
    assert merge.merge(merge.split(of_all)) == of_all


def test_intervals_of_verified_runs_need_no_memory_of_the_controller(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Guards the mend of 36921d3c: the hosts have the states of what was written."""
    monkeypatch.setattr(verify, "memory_available", lambda: 4096)
    verified = plan.parse(PLAN.replace("[[host]]", "[fleet.options]\nverify = true\n[[host]]", 1))
    told = outcome()
    for part, host in zip(told.parts[:2], verified.hosts, strict=False):
        part.host, part.described = host, FakeHost(part.name).described()
        part.armed = wire.Armed(5_000, Distance(START_NS - 5_000, 100), START_NS)
        part.rows = tuple(FakeKernelWithRows().intervals(7, 0))
    of_all = results.of(told, verified)
    assert of_all is not None and of_all.config.data == "stamped"
    assert [len(host.rows.seq) for host in of_all.hosts or ()] == [2, 2, 0]


def test_a_sum_that_fails_is_a_failure_whatever_the_clocks_did() -> None:
    told = dataclasses.replace(
        outcome(b=collected({"kind": "spek-result"})), code=ExitCode.LIMIT_MISSED, text="strayed"
    )
    with pytest.raises(SpekError) as failure:
        results.of(told, planned())
    assert failure.value.exit_code is ExitCode.RUN_FAILED


def test_a_sum_that_fails_says_what_else_went_wrong() -> None:
    told = dataclasses.replace(
        outcome(b=collected({"kind": "spek-result"})),
        code=ExitCode.HOST_LOST,
        text="incomplete: a lost at 41.2 s",
    )
    with pytest.raises(SpekError) as failure:
        results.of(told, planned())
    assert failure.value.exit_code is ExitCode.HOST_LOST
    said = "incomplete: a lost at 41.2 s; b has sent a damaged result: "
    assert failure.value.message.startswith(said)


def test_without_any_result_there_is_none() -> None:
    assert results.of(outcome(), planned()) is None
    assert results.of(outcome(a=collected(None)), planned()) is None


def test_a_damaged_result_names_its_host() -> None:
    with pytest.raises(SpekError, match="b has sent a damaged result: "):
        results.of(outcome(b=collected({"kind": "spek-result"})), planned())


def test_a_fault_of_the_sum_leaves_what_the_hosts_have_sent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(self: object) -> None:
        raise ZeroDivisionError("division by zero")

    monkeypatch.setattr(merge.Sum, "whole", fail)
    told = dataclasses.replace(outcome(a=collected(result("1"))), code=ExitCode.HOST_LOST)
    with pytest.raises(SpekError) as failure:
        results.of(told, planned())
    assert failure.value.exit_code is ExitCode.HOST_LOST
    said = "the hosts' results cannot be added up: ZeroDivisionError: division by zero"
    assert failure.value.message == said
    assert list(results.documents(told)) == ["a"]


def test_what_hosts_have_sent_can_be_kept_as_it_came(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    damaged = wire.Collected(0, "", None, msgspec.Raw(b'{"kind": 5}'))
    own = result("1")
    told = outcome(a=collected(own), b=damaged)
    paths = results.write_documents(told, tmp_path / "fleet.json").paths
    assert paths == [tmp_path / "fleet.a.json", tmp_path / "fleet.b.json"]
    assert load_result(paths[0]) == own and paths[1].read_bytes() == b'{"kind": 5}'
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    unasked = results.write_documents(told, None).paths
    assert [path.read_bytes() for path in unasked] == [path.read_bytes() for path in paths]


def test_a_file_that_cannot_be_written_keeps_no_other_host_from_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards the mend of 02332be3."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "fleet.a.json").mkdir()
    told = outcome(a=collected({"host": "a"}), b=collected({"host": "b"}))
    kept = results.write_documents(told, tmp_path / "fleet.json")
    (copy,) = (tmp_path / "temporary").iterdir()
    assert kept.paths == [tmp_path / "fleet.b.json"]
    assert [path.read_bytes() for path in (copy, *kept.paths)] == [
        b'{"host":"a"}',
        b'{"host":"b"}',
    ]
    assert results.kept_text(SpekError("they differ"), kept) == (
        f"they differ; the hosts' own results: {tmp_path}/fleet.b.json; cannot write"
        f" {tmp_path}/fleet.a.json: Is a directory; the result is in {copy}"
    )


def test_without_room_for_temporary_files_the_results_of_hosts_go_to_standard_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.mkdtemp", fail)
    monkeypatch.setattr("tempfile.NamedTemporaryFile", fail)
    for name in "ab":
        (tmp_path / f"fleet.{name}.json").mkdir()
    told = outcome(a=collected({"host": "a"}), b=collected({"host": "b"}))
    kept = results.write_documents(told, None)
    assert not kept.paths and len(kept.failures) == 2
    assert capsys.readouterr().out == '{"host":"a"}{"host":"b"}'


def test_samples_of_a_target_have_a_file_of_their_own(
    tmp_path: Path, watched: dict[str, Any]
) -> None:
    told = outcome(a=collected(result("1")), t=collected(watched))
    assert results.write_reports(told, None).paths == []
    kept = results.write_reports(told, tmp_path / "fleet.json")
    assert (kept.paths, kept.failures) == ([tmp_path / "fleet.t.json"], [])
    report = files.decode((tmp_path / "fleet.t.json").read_bytes(), dict[str, Any])
    assert report["kind"] == "spek-prober"
    (*_, t) = merged(told).hosts or []
    assert t.prober is not None and t.run is None


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What a target sends."""
    import threading

    from lib.fakes.fleet_member import asked
    from lib.fakes.prober import START_NS as PROBED_NS
    from lib.fakes.prober import FakeProber
    from lib.waiting import eventually

    from spekctl.fleet import duty

    class Prober(FakeProber):
        def start(self, interval_ns: int, **more: Any) -> int:
            return super().start(interval_ns)

        def samples(self, probe: int, after: Any = None, *, hold: bool = True) -> Any:
            return super().samples(probe, after, hold=True)

    monkeypatch.setattr(duty, "_FETCH_S", 0.001)
    prober: Any = Prober()
    watch = duty.Watch(asked(role="target", devices=[], options={}), lambda: prober)
    watch.claim()
    watch.arm(PROBED_NS + SECOND)
    ends: list[duty.Ended] = []
    thread = threading.Thread(target=lambda: ends.append(watch.follow()))
    thread.start()
    eventually(lambda: prober.seq > 5, "it does not sample")
    watch.stop()
    thread.join()
    document: dict[str, Any] = msgspec.json.decode(ends[0].document)
    return document
