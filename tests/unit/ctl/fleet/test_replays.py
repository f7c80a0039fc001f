# SPDX-License-Identifier: GPL-2.0
"""A trace that hosts replay together: one start, each record once, and the sum of all."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np
import pytest
from lib.fakes.fleet import FakeView
from lib.fakes.fleet_members import Members, coordinator, plan_text, use
from lib.fakes.machine import disk

from spekctl.documents.result import Result
from spekctl.documents.result_parts import ReplayResult
from spekctl.errors import RefusedError, SpekError, UsageError
from spekctl.fleet import merge, plan, replays, results, selector
from spekctl.kernel import traces
from spekctl.kernel.records import ReplayInfo
from spekctl.run import replay, replay_request
from spekctl.run.job import Interrupts
from spekctl.trace.trace import open_trace

WORKLOAD = """
[workload]
name = "mail"
summary = "a trace"
[[stream]]
name = "trace"
pattern = "trace"
[stream.trace]
files = ["t.csv"]
"""
HEAD = "device,at_ns,offset_bytes,bytes,op\n"
MIB = 1 << 20


class Feeds:
    """What the hosts have fed, by the number of the run: those of Members have one each."""

    def __init__(self) -> None:
        self.records: dict[int, list[tuple[int, int]]] = {}

    def feed(self, run: int, worker: int, records: bytes) -> int:
        table = np.frombuffer(bytes(records), replay.RECORD)
        pairs = zip(table["at_ns"].tolist(), table["addr"].tolist(), strict=True)
        self.records.setdefault(run, []).extend(pairs)
        return len(table)

    def end(self, run: int, count: int) -> None:
        """All were fed."""
        self.records.setdefault(run, [])

    def close(self) -> None:
        """Nothing to do."""


@pytest.fixture
def members(monkeypatch: pytest.MonkeyPatch) -> Iterator[Members]:
    use(monkeypatch)
    engine = Members(["b", "a"])
    for kernel in engine.kernels.values():
        kernel.replay = ReplayInfo(fed=2, issued=2, ended=1)
    yield engine
    engine.close()


@pytest.fixture
def feeds(monkeypatch: pytest.MonkeyPatch) -> Feeds:
    feeds = Feeds()
    monkeypatch.setattr(traces, "connect", lambda: feeds)
    return feeds


def carry_out(members: Members, folder: Path, lines: str, share: str = "split") -> Result:
    (folder / "t.csv").write_text(HEAD + lines)
    (folder / "mail.toml").write_text(WORKLOAD)
    text = plan_text(["b", "a"], f'share = "{share}"\noptions = {{write = true}}')
    (folder / "plan.toml").write_text(text.replace("random-read-4k", "mail.toml"))
    planned = plan.load(folder / "plan.toml")
    outcome = coordinator(planned, members, FakeView(), Interrupts()).carry_out()
    result = results.of(outcome, planned)
    assert result is not None, outcome.text
    return result


FOUR = "x,0,0,4096,read\ny,1000,4096,4096,write\nx,2000,8192,4096,read\ny,3000,0,4096,read\n"


def test_devices_of_a_trace_go_to_the_hosts_in_turn(
    members: Members, feeds: Feeds, tmp_path: Path
) -> None:
    result = carry_out(members, tmp_path, FOUR)
    # The plan has b first. Times are those of the whole trace.
    assert feeds.records == {100: [(0, 0), (2000, 8192)], 101: [(1000, 4096), (3000, 0)]}
    assert result.replay is not None and result.replay.split and result.replay.complete
    assert (result.replay.records, result.replay.fed, result.replay.issued) == (4, 4, 4)
    assert len(result.hosts or []) == 2
    assert merge.merge(merge.split(result)) == result


def test_hosts_that_share_a_device_replay_the_addresses_of_their_slices(
    monkeypatch: pytest.MonkeyPatch, members: Members, feeds: Feeds, tmp_path: Path
) -> None:
    monkeypatch.setattr(selector, "find", lambda text: disk(text, wwn="naa.1"))
    half = 512 * MIB
    members.kernels["a"].replay = ReplayInfo(fed=1, issued=1, ended=1)
    lines = f"x,0,0,4096,read\nx,10,{half},4096,read\nx,20,{half - 4096},8192,write\n"
    carry_out(members, tmp_path, lines)
    assert feeds.records == {100: [(0, 0), (20, half - 4096)], 101: [(10, half)]}


def test_a_host_whose_slice_has_no_record_says_so_before_any_start(
    monkeypatch: pytest.MonkeyPatch, members: Members, feeds: Feeds, tmp_path: Path
) -> None:
    monkeypatch.setattr(selector, "find", lambda text: disk(text, wwn="naa.1"))
    with pytest.raises(SpekError, match=r"^a: no record of the trace starts on this host's part"):
        carry_out(members, tmp_path, f"x,0,0,4096,read\nx,20,{512 * MIB - 4096},8192,write\n")
    assert not any(kernel.start_ns for kernel in members.kernels.values())
    assert not any(kernel.claimed for kernel in members.kernels.values())


def saved(members: Members, feeds: Feeds, folder: Path) -> list[Result]:
    """The results of two hosts, each with two of the four records of a trace."""
    return merge.split(carry_out(members, folder, FOUR))


def with_replay(result: Result, **changes: object) -> Result:
    (host,) = result.hosts or []
    assert host.run is not None and host.run.replay is not None
    told = msgspec.structs.replace(host.run.replay, **changes)
    run = msgspec.structs.replace(host.run, replay=told)
    return msgspec.structs.replace(result, hosts=[msgspec.structs.replace(host, run=run)])


def test_saved_parts_of_different_traces_are_refused(
    members: Members, feeds: Feeds, tmp_path: Path
) -> None:
    first, second = saved(members, feeds, tmp_path)
    text = "a and b replayed parts of different traces: of 4 and of 5 records"
    for pair in ([first, with_replay(second, records=5)], [with_replay(second, records=5), first]):
        with pytest.raises(UsageError, match=text):
            merge.merge(pair)


def test_a_part_and_a_whole_replay_are_no_replay_together(
    members: Members, feeds: Feeds, tmp_path: Path
) -> None:
    first, second = saved(members, feeds, tmp_path)
    with pytest.raises(UsageError, match="a replayed a part of its trace, and b all of it"):
        merge.merge([first, with_replay(second, split=False)])
    with pytest.raises(UsageError, match="b replayed a part of its trace, and a all of it"):
        merge.merge([with_replay(first, split=False), second])


def test_saved_parts_that_overlap_are_refused(
    members: Members, feeds: Feeds, tmp_path: Path
) -> None:
    first, second = saved(members, feeds, tmp_path)
    text = "the parts of a, b overlap: together 5 records were fed, and the trace has 4 to replay"
    with pytest.raises(UsageError, match=text):
        merge.merge([first, with_replay(second, fed=3, issued=3)])
    skipped = {"of no bytes": 1}
    with pytest.raises(UsageError, match="together 4 records were fed, and the trace has 3"):
        merge.merge([with_replay(each, skipped=skipped) for each in (first, second)])
    # Only the devices of one host have no discards: the other one has sent its own.
    merge.merge([with_replay(first, skipped={"the device has no discards": 2}), second])


def test_a_merge_that_lacks_the_part_of_a_host_is_not_complete_and_says_so(
    members: Members, feeds: Feeds, tmp_path: Path
) -> None:
    first, second = saved(members, feeds, tmp_path)
    alone, whole = merge.merge([first]), merge.merge([first, second])
    assert alone.replay is not None and not alone.replay.complete
    (remark,) = (remark for remark in alone.remarks if "replay" in remark)
    assert remark == (
        "the replay is not complete: 2 records of the trace are in the parts of hosts whose results"
        " are not here"
    )
    assert whole.replay is not None and whole.replay.complete
    assert not any("not complete" in remark for remark in whole.remarks)
    # A replay that was stopped lacks records for another reason.
    stopped = merge.merge([with_replay(first, complete=False)])
    assert stopped.replay is not None and not stopped.replay.complete
    assert not any("not complete" in remark for remark in stopped.remarks)


def test_hosts_that_overlap_replay_all_of_it_each(
    members: Members, feeds: Feeds, tmp_path: Path
) -> None:
    result = carry_out(members, tmp_path, FOUR, "overlap")
    assert feeds.records[100] == feeds.records[101] and len(feeds.records[100]) == 4
    assert result.replay is not None and not result.replay.split
    assert (result.replay.records, result.replay.fed) == (8, 4)


def test_a_host_without_a_part_of_the_trace_says_so_before_any_start(
    members: Members, feeds: Feeds, tmp_path: Path
) -> None:
    with pytest.raises(SpekError, match="a: the trace has 1 device, the fleet 2, and this host"):
        carry_out(members, tmp_path, "x,0,0,4096,read\n")
    assert not any(kernel.start_ns for kernel in members.kernels.values())
    assert not any(kernel.claimed for kernel in members.kernels.values())


def test_a_file_that_a_host_does_not_have_is_its_refusal(
    members: Members, feeds: Feeds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = WORKLOAD.replace("t.csv", "gone.csv")
    monkeypatch.setitem(globals(), "WORKLOAD", text)
    with pytest.raises(SpekError, match=r"b: .*gone\.csv"):
        carry_out(members, tmp_path, FOUR)


def give_one_host_other_files(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """The first host to read its trace finds one of two records at the path of the others."""
    (folder / "shorter.csv").write_text(HEAD + "x,0,0,4096,read\ny,1000,4096,4096,read\n")
    others = iter([folder / "shorter.csv"])
    monkeypatch.setattr(
        replay_request, "open_trace", lambda paths: open_trace([next(others, paths[0])])
    )


def test_parts_of_different_traces_are_not_replayed(
    members: Members, feeds: Feeds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_one_host_other_files(monkeypatch, tmp_path)
    text = (
        "hosts have different traces at the same path: that of [ab] has 2 records, that of [ab] 4"
    )
    with pytest.raises(RefusedError, match=text):
        carry_out(members, tmp_path, FOUR)
    assert not any(kernel.start_ns for kernel in members.kernels.values())
    assert not any(kernel.claimed for kernel in members.kernels.values())


def test_whole_traces_may_differ(
    members: Members, feeds: Feeds, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_one_host_other_files(monkeypatch, tmp_path)
    carry_out(members, tmp_path, FOUR, "overlap")
    assert sorted(len(records) for records in feeds.records.values()) == [2, 4]


def part_of(**changes: object) -> ReplayResult:
    whole = ReplayResult(
        files=["/t.csv"],
        format="csv",
        pace="closed",
        speed=None,
        rate=None,
        depth=4,
        map="as-is",
        records=10,
        fed=3,
        issued=3,
        complete=True,
        skipped={"trim is not replayed": 2},
        shifted=1,
        grown=2,
        bad=1,
        unordered=0,
        underruns=1,
        underrun_ns=7,
        underrun_first_ns=5,
        underrun_last_ns=6,
        dry_ns=9,
        text="",
        split=True,
    )
    return msgspec.structs.replace(whole, **changes)


def test_parts_say_the_same_of_the_trace_and_add_up_in_what_they_sent() -> None:
    first, second = part_of(), part_of(fed=5, issued=4, complete=False, text="gone", dry_ns=1)
    summed = replays.summed([first, second], 2)
    assert summed == replays.summed([second, first], 2)
    assert summed == part_of(
        fed=8,
        issued=7,
        complete=False,
        depth=8,
        underruns=2,
        underrun_ns=14,
        underrun_first_ns=0,
        underrun_last_ns=0,
        text="gone",
    )
    assert replays.summed([], 2) is None


def test_whole_replays_add_up_in_everything() -> None:
    whole = part_of(split=False)
    summed = replays.summed([whole, whole], 2)
    assert summed is not None and (summed.records, summed.grown, summed.bad) == (20, 4, 2)
    assert summed.skipped == {"trim is not replayed": 4} and not summed.split


def test_a_replay_without_the_part_of_a_lost_host_is_not_complete() -> None:
    known = part_of(records=5)
    alone, missed = replays.summed([known], 1), replays.summed([known], 2)
    assert alone is not None and alone.complete
    assert missed is not None and not missed.complete
    assert (missed.issued, missed.records) == (known.issued, known.records)


@pytest.mark.parametrize(("split", "records", "reread"), [(True, 10, 12), (False, 20, 22)])
def test_a_trace_that_has_changed_on_one_host_is_told_of_all(
    split: bool, records: int, reread: int
) -> None:
    same, changed = part_of(split=split), part_of(split=split, reread=12, complete=False)
    summed = replays.summed([same, changed], 2)
    assert summed is not None and not summed.complete
    assert (summed.records, summed.reread) == (records, reread)
