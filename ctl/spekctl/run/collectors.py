# SPDX-License-Identifier: GPL-2.0-or-later
"""The collectors that a request asks for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from spekctl.documents.result import Result
from spekctl.errors import UsageError
from spekctl.kernel.records import Reason
from spekctl.log.file import Names
from spekctl.log.place import Place
from spekctl.log.recorder import IoLog
from spekctl.power import nvme_log
from spekctl.run import profiled
from spekctl.run.collector import Claimed, Collector, Ended, Look, Sections
from spekctl.run.disk_looks import DiskLooks
from spekctl.run.job import Request
from spekctl.run.nvme_readings import NvmeReadings
from spekctl.run.profiled import Profiled
from spekctl.run.rights import Rights
from spekctl.run.slices import Slices
from spekctl.run.until import Watch
from spekctl.workload.config import RunConfig

if TYPE_CHECKING:
    from spekctl.run.replay import Feeder, Replay

POLL_S = 0.25


def of(request: Request, observers: Sequence[Collector] = ()) -> list[Collector]:
    """All collectors of a run, in the order in which they are armed; they end in reverse.

    @observers: the prober and power. Nothing is opened yet.
    """
    collectors: list[Collector] = []
    if request.config.data == "stamped":
        # The others end before everything is read back, which may take hours.
        collectors.append(VerifyCollector())
    if request.log is not None:
        collectors.append(LogCollector(request.log, request.config, request.rights))
    if request.slices:
        operations = [stream.operation for stream in request.config.streams]
        collectors.append(SlicesCollector(operations if request.service_slices else None))
    collectors += observers
    if request.power_states is not None and request.devices:
        collectors.append(DiskLooks(request.devices, request.power_states))
    if nvme_log.controllers(request.devices):
        collectors.append(NvmeReadings(request.devices, request.rights))
    if request.replay is not None:
        collectors.append(FeedCollector(request.replay))
    if request.until is not None or request.stop_when:
        interval_ns = request.config.interval_ns
        collectors.append(EndingCollector(Watch(request.until, request.stop_when, interval_ns)))
    if request.state_on is not None:
        from spekctl.run.state_on import StateCollector

        # It overwrites the log of an earlier run: nothing else may call this one off afterwards.
        collectors.append(StateCollector(request, request.state_on))
    profiler = profiled.wanted()
    if profiler is not None:
        # Nothing but the start lies between its mark and the run.
        collectors.append(ProfileCollector(profiler))
    return collectors


class LogCollector(Collector):
    """The per-I/O log."""

    def __init__(self, place: Place, config: RunConfig, rights: Rights) -> None:
        names = Names([stream.name for stream in config.streams], [asu.name for asu in config.asus])
        self._log = IoLog(place, config.log_records, names, rights.open_log)

    def arm(self, claimed: Claimed) -> str:
        self._log.start(claimed.info)
        return ""

    def trouble(self) -> str:
        return self._log.trouble()

    def conclude(self, ended: Ended, sections: Sections) -> None:
        ios = sum(cell.ios + cell.errors for cell in ended.cells)
        sections.log = self._log.finish(ended.plan, ended.info, ios)

    def close(self) -> None:
        self._log.close()


class SlicesCollector(Collector):
    """Response times over time."""

    needs_cells = True

    def __init__(self, operations: Sequence[str] | None) -> None:
        """@operations: see Slices."""
        self._slices = Slices(operations)

    def take(self, look: Look) -> None:
        self._slices.take(look.cells, look.rows)

    def conclude(self, ended: Ended, sections: Sections) -> None:
        self._slices.take(ended.cells, ended.rows)
        sections.slices = self._slices.result()


class FeedCollector(Collector):
    """The trace that the run replays."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self._feeder: Feeder | None = None

    def arm(self, claimed: Claimed) -> str:
        """Feed the run, up to as much as it needs to start."""
        from spekctl.run.replay import Feeder

        self._feeder = feeder = Feeder(self._replay, claimed.info.id)
        while not feeder.wait_ready(POLL_S) and not claimed.interrupts.count:
            pass
        if feeder.trouble():
            raise UsageError(feeder.trouble())
        return ""

    def conclude(self, ended: Ended, sections: Sections) -> None:
        from spekctl.run import replay

        assert self._feeder is not None
        self._feeder.close()
        sections.replay = replay.result_of(self._replay, ended.info, self._feeder.trouble())

    def close(self) -> None:
        if self._feeder is not None:
            self._feeder.close()


class EndingCollector(Collector):
    """The endings of the run, which stop it."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch

    def take(self, look: Look) -> None:
        self._watch.take(look.news)

    def stop_reason(self) -> str:
        return self._watch.text if self._watch.over else ""

    def conclude(self, ended: Ended, sections: Sections) -> None:
        sections.ending = self._watch.result(ended.info.reason is Reason.STOPPED)


class VerifyCollector(Collector):
    """Reads everything back after the load, under the claim of the run."""

    def __init__(self) -> None:
        self._claimed: Claimed | None = None

    def arm(self, claimed: Claimed) -> str:
        self._claimed = claimed
        return ""

    def conclude(self, ended: Ended, sections: Sections) -> None:
        from spekctl.run import verify

        claimed = self._claimed
        assert claimed is not None
        sections.verify = verify.conclude(
            claimed.kernel,
            claimed.request,
            claimed.facts,
            ended.info,
            claimed.progress,
            claimed.interrupts,
        )


class ProfileCollector(Collector):
    """Marks around the run, for a profiler of the guest."""

    def __init__(self, profiler: Profiled) -> None:
        self._profiler = profiler

    def arm(self, claimed: Claimed) -> str:
        self._profiler.mark()
        return ""

    def ended(self) -> None:
        self._profiler.mark()

    def deliver(self, result: Result) -> None:
        self._profiler.save(result)
