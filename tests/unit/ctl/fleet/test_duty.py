# SPDX-License-Identifier: GPL-2.0
"""What a host does: a load, a rest, or samples of its prober."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.fakes.fleet_member import LentRights, asked, device_asked
from lib.fakes.kernel import FakeKernel
from lib.fakes.machine import disk
from lib.fakes.prober import START_NS, FakeProber
from lib.waiting import eventually

from spekctl.block import device
from spekctl.errors import ExitCode, RefusedError, SpekError, UsageError
from spekctl.fleet import duty
from spekctl.fleet.rests import Rested
from spekctl.fleet.wire import Watched
from spekctl.power import span
from spekctl.power.course import BESIDE_LOADS
from spekctl.power.meter import PowerOptions
from spekctl.run import observe

SECOND = 10**9


class Prober(FakeProber):
    """As runs start it."""

    def start(self, interval_ns: int, **more: Any) -> int:
        more.pop("tasks", None)
        return super().start(interval_ns, **more)

    def samples(self, probe: int, after: Any = None, *, hold: bool = True) -> Any:
        return super().samples(probe, after, hold=True)


def watch(prober: FakeProber, **changes: Any) -> duty.Watch:
    claim = asked(role="target", devices=[], options={"prober-interval": "100ms"}, **changes)
    return duty.Watch(claim, lambda: prober)  # type: ignore[arg-type, return-value]


def test_a_load_is_logged_where_it_runs(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "run.a.parquet"
    request, _ = duty.request_of(
        asked(options={"log": str(path), "log-buffer": "65536"}), LentRights()
    )
    assert request.log is not None and request.log.name == str(path)
    assert request.config.log_records == 65536
    with pytest.raises(UsageError, match="cannot write /nowhere/log"):
        duty.request_of(asked(options={"log": "/nowhere/log"}), LentRights())
    with pytest.raises(UsageError, match="--log-buffer needs --log"):
        duty.request_of(asked(options={"log-buffer": "65536"}), LentRights())


def test_a_host_looks_at_its_disks_unless_the_plan_says_off(kernel: FakeKernel) -> None:
    for options, pace in (({}, BESIDE_LOADS), ({"power-states": "off"}, None)):
        request, _ = duty.request_of(asked(options=options), LentRights())
        assert request.power_states == pace


def test_only_a_disk_that_has_changed_is_refused(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = {"/dev/fake0": disk(diskseq=5), "/dev/fake1": disk("/dev/fake1", wwn="naa.2")}
    monkeypatch.setattr(device, "find", lambda path: here[path])
    both = [device_asked(diskseq=5), device_asked(path="/dev/fake1", wwn="naa.2")]
    request, _ = duty.request_of(asked(devices=both), LentRights())
    assert request.devices == list(here.values())
    # Without sequence numbers, as in a container, names tell disks apart.
    here["/dev/fake1"] = disk("/dev/fake1", wwn="naa.3")
    with pytest.raises(RefusedError, match=r"^/dev/fake1 has just been replaced by another device"):
        duty.request_of(asked(devices=both), LentRights())
    # A link such as /dev/disk/by-path/... leads elsewhere.
    here["/dev/fake0"] = disk(minor=3)
    with pytest.raises(RefusedError, match=r"^/dev/fake0 has .*; /dev/fake1 has just"):
        duty.request_of(asked(devices=both), LentRights())


def test_a_target_is_watched_from_its_claim_until_it_is_stopped(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(duty, "_FETCH_S", 0.001)
    prober = Prober()
    watching = watch(prober)
    watching.claim()
    assert prober.calls[0].startswith("start 100000000")
    watching.arm(START_NS + 2 * SECOND)
    ends: list[duty.Ended] = []
    thread = threading.Thread(target=lambda: ends.append(watching.follow()))
    thread.start()
    eventually(lambda: prober.seq > 5, "it does not sample")
    watching.stop()
    thread.join()
    (ended,) = ends
    assert (ended.code, ended.started_mono_ns) == (0, START_NS + 2 * SECOND)
    watched = msgspec.json.decode(ended.document, type=Watched)
    assert watched.report.probe.ended and len(watched.report.start_ns) > 3
    assert watched.prober is not None and watched.prober.samples > 3
    assert prober.calls[-2:] == ["delete", "close"]


def test_a_busy_prober_is_a_refusal() -> None:
    prober = Prober(busy=True)
    watching = watch(prober)
    with pytest.raises(RefusedError, match="already sampling"):
        watching.claim()
    watching.abandon()
    assert prober.calls[-1] == "close" and "delete" not in prober.calls


def test_a_feed_that_is_not_there_is_a_refusal() -> None:
    prober = Prober()
    watching = watch(prober, power_feeds=["attic"])
    with pytest.raises(UsageError, match="the probe has no feed 'attic'"):
        watching.claim()
    watching.abandon()
    assert prober.calls[-2:] == ["delete", "close"]


def test_a_watch_that_is_abandoned_leaves_no_probe() -> None:
    prober = Prober()
    watching = watch(prober)
    watching.claim()
    watching.abandon()
    assert prober.calls[-2:] == ["delete", "close"]


def test_a_load_is_a_run_with_the_seed_that_it_is_given(kernel: FakeKernel) -> None:
    load = duty.Load(asked(seed=5), Silent(), LentRights(), lambda: kernel)
    load.claim()
    load.arm(time.monotonic_ns() + SECOND)
    ended = load.follow()
    assert kernel.config is not None and kernel.config.seed == 5
    assert ended.code == 0 and kernel.deleted and kernel.closed


def test_a_load_that_is_stopped_speaks_of_no_keys(kernel: FakeKernel) -> None:
    view = Silent()
    load = duty.Load(asked(), view, LentRights(), lambda: kernel)
    load.claim()
    load.arm(time.monotonic_ns() + SECOND)
    kernel.on_wait = lambda second: load.stop() if second == 1 else None
    load.follow()
    assert "stopping" in view.notes
    assert not any("Ctrl-C" in text for text in view.notes)


def test_a_load_that_is_abandoned_gives_its_devices_back(kernel: FakeKernel) -> None:
    load = duty.Load(asked(), Silent(), LentRights(), lambda: kernel)
    load.claim()
    load.abandon()
    assert kernel.deleted and kernel.closed
    load.abandon()


def test_a_load_that_cannot_be_watched_holds_no_connection(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*wishes: object) -> None:
        raise UsageError("--power-feed: no prober")

    monkeypatch.setattr(observe, "connect", fail)
    with pytest.raises(SpekError, match="no prober"):
        duty.Load(asked(), Silent(), LentRights(), lambda: kernel)
    assert kernel.closed


class Silent:
    """Shows nothing."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def show(self, clock: object, news: object) -> None:
        pass

    def close(self) -> None:
        pass


class Meter:
    """Counts what is asked of it."""

    def __init__(self) -> None:
        self.spans: list[tuple[int, int]] = []
        self.is_closed = False

    def follow(self, start_ns: int, end_ns: int) -> None:
        pass

    def between(self, start_ns: int, end_ns: int) -> None:
        self.spans.append((start_ns, end_ns))

    def close(self) -> None:
        self.is_closed = True


def resting(monkeypatch: pytest.MonkeyPatch, meter: Meter, **changes: Any) -> duty.Rest:
    def connect(wish: PowerOptions, prober_ns: int | None) -> tuple[Meter, str]:
        assert (wish.feeds, prober_ns) == (("psu",), 1_000_000)
        return meter, ""

    monkeypatch.setattr(span, "connect", connect)
    options = {"prober-interval": "1ms"}
    return duty.Rest(asked(options=options, power_feeds=["psu"], **changes))


def rested_of(ended: duty.Ended) -> Rested:
    return msgspec.json.decode(ended.document, type=Rested)


def test_a_rest_begins_at_the_common_start_and_has_its_length(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    meter = Meter()
    host = resting(monkeypatch, meter, rest_ns=SECOND // 10)
    assert host.title == "no I/O for 100ms" and host.trace_records is None
    host.claim()
    start_ns = time.monotonic_ns() + SECOND // 10
    host.arm(start_ns)
    ended = host.follow()
    done = rested_of(ended).idle
    assert done is not None and ended.code == ExitCode.OK
    assert start_ns <= ended.started_mono_ns <= done.start_ns
    assert meter.spans == [(done.start_ns, done.end_ns)]
    assert done.end_ns - done.start_ns == done.length_ns == SECOND // 10
    assert [target.path for target in done.targets] == ["/dev/fake0"]
    assert meter.is_closed and host.outstanding() == 0 and kernel.calls == []


@pytest.mark.parametrize("when", ["before its start", "while it rests"])
def test_a_rest_that_is_stopped_has_no_power(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch, when: str
) -> None:
    meter = Meter()
    host = resting(monkeypatch, meter, rest_ns=3600 * SECOND)
    host.arm(time.monotonic_ns() + (3600 * SECOND if when == "before its start" else 0))
    if when == "before its start":
        assert not host.call_off()
    else:
        monkeypatch.setattr(meter, "follow", lambda *span: host.stop())
    ended = host.follow()
    assert (ended.code, ended.text) == (ExitCode.INTERRUPTED, "the rest was stopped early")
    assert rested_of(ended).idle is None and not meter.spans and meter.is_closed


def test_a_rest_that_is_abandoned_closes_its_meter(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    meter = Meter()
    host = resting(monkeypatch, meter, rest_ns=SECOND)
    host.abandon()
    host.abandon()
    assert meter.is_closed


def test_a_rest_without_power_says_why(kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(span, "connect", lambda *wishes: (None, "power not measured: no feed"))
    host = duty.Rest(asked(rest_ns=3600 * SECOND))
    host.arm(time.monotonic_ns())
    told = rested_of(host.follow())
    assert told.idle is not None and told.idle.power is None
    assert told.missing == "power not measured: no feed"
