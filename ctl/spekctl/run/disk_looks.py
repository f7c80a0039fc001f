# SPDX-License-Identifier: GPL-2.0-or-later
"""Power states of disks beside a run or a probe.

A disk at work is not asked, so that the run is not disturbed: a command that is not queued would
have to wait for all that are. The kernel's counters of I/O say that it is active, and are read
every second. A disk without I/O gets one command for each look, before the start and after the end
too; power/look.py has the order of questions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Self

from spekctl.block.device import Device
from spekctl.documents.disk_states import DiskStates
from spekctl.errors import NotPermittedError, SpekError
from spekctl.kernel.gen.spek_records import Backend
from spekctl.power import course, disk
from spekctl.power.course import BESIDE_LOADS, Course, Pace
from spekctl.power.look import Observer
from spekctl.run import rounds
from spekctl.run.collector import Claimed, Collector, Ended, Look, Sections
from spekctl.run.rounds import Rounds

# Between two glances, which send nothing.
GLANCE_NS = 10**9
_HIDDEN = (
    "power states: the counters of the disks do not have I/O of the back end scsi, and without"
    " report intervals active and idle are not told apart"
)


def courses_of(devices: Sequence[Device]) -> list[Course]:
    """The disks of devices, those of a RAID or a volume each for itself."""
    disks = {each.node: each for device in devices for each in disk.below(device)}
    return [course.of_disk(Observer(each)) for each in disks.values()]


class Looks:
    """Looks at disks in a thread, the first one at the start, the last one at the end."""

    def __init__(
        self,
        devices: Sequence[Device],
        pace: Pace,
        find: Callable[[Sequence[Device]], list[Course]] = courses_of,
    ) -> None:
        self._devices = devices
        self._pace = pace
        self._find = find
        self._courses: list[Course] = []
        # Why a disk gets no command in mid-run, or none at all, by its node.
        self._spared: dict[str, str] = {}
        self._denied: dict[str, str] = {}
        self._is_first = True
        tick_ns = min(pace.interval_ns, GLANCE_NS)
        # The last tick may have looked at a disk a moment later than this one does.
        self._due_ns = pace.interval_ns - tick_ns // 2
        self._rounds = Rounds(self._look, tick_ns, "power states")

    @property
    def trouble(self) -> str:
        """Why they ended early, or cannot end; empty if neither."""
        if self._rounds.is_held_up:
            return f"power states: a disk has not answered for {rounds.PATIENCE_S:g} s"
        failure = self._rounds.failure
        return f"power states: {failure}" if failure is not None else ""

    def find(self) -> list[Course]:
        """The disks, before the start."""
        try:
            self._courses = self._find(self._devices)
        except SpekError:
            # A disk may be going; that ends no run unless the looks are wanted.
            if not self._pace.is_sparing:
                raise
        if self._pace.is_sparing:
            self._courses = [each for each in self._courses if each.disk.place is not None]
            self._spared = {
                each.disk.node: disk.risk_of_commands(each.disk) for each in self._courses
            }
        return self._courses

    def start(self) -> None:
        """Look for the first time."""
        for each in self._courses:
            each.observer.count()
        if self._courses or not self._pace.is_sparing:
            self._rounds.start()

    def __enter__(self) -> Self:
        """Start; a failure of the first look is raised."""
        self.find()
        self.start()
        failure = self._rounds.failure
        if failure is not None:
            self.close()
            if isinstance(failure, SpekError):
                raise failure
            raise SpekError(self.trouble)
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _look(self) -> None:
        is_beside = not self._is_first and not self._rounds.is_last
        for each in self._courses:
            if is_beside and (each.glance() or not each.is_due(self._due_ns)):
                continue
            self._look_at(each, self._spared.get(each.disk.node, "") if is_beside else "")
        self._is_first = False

    def _look_at(self, each: Course, spared: str) -> None:
        node = each.disk.node
        try:
            each.look(self._denied.get(node, spared))
        except NotPermittedError as error:
            # Nobody has asked for these looks: what is known without a command is enough.
            if not self._pace.is_sparing:
                raise
            self._denied[node] = error.message
            each.look(error.message)

    def end(self) -> None:
        """Look for the last time."""
        self._rounds.end()

    def close(self) -> None:
        """End the thread, unless a disk holds it up."""
        self._rounds.close()

    def states(self) -> list[DiskStates]:
        """What the looks add up to, once they are closed."""
        return [each.part() for each in self._courses if each.looks]


class DiskLooks(Collector):
    """Looks at the disks from before the start until after the end."""

    def __init__(
        self,
        devices: Sequence[Device],
        pace: Pace = BESIDE_LOADS,
        find: Callable[[Sequence[Device]], list[Course]] = courses_of,
    ) -> None:
        self._pace = pace
        self._looks = Looks(devices, pace, find)
        # I/O of the back end scsi, which the kernel's counters do not have: I/Os of intervals, and
        # one for each time when there were some outstanding.
        self._hidden_io = 0

    def arm(self, claimed: Claimed) -> str:
        """Look for the first time."""
        info = claimed.info
        courses = self._looks.find()
        hidden = {
            (target.major, target.minor)
            for target in info.targets
            if target.backend is Backend.SCSI
        }
        for each in courses:
            device = each.disk.device
            each.observer.ask_by = claimed.request.rights.power_asker(device)
            if (device.major, device.minor) in hidden:
                each.observer.uncounted = lambda: self._hidden_io
        self._looks.start()
        # What is outstanding at a look alone would miss I/Os that are short.
        return _HIDDEN if courses and hidden and not info.interval_ns else ""

    def take(self, look: Look) -> None:
        """Note I/O."""
        self._hidden_io += look.info.outstanding > 0
        self._hidden_io += sum(row.read.ios + row.write.ios for row in look.news)

    def trouble(self) -> str:
        """Why the looks ended before the run; empty if they did not."""
        return self._looks.trouble

    def ended(self) -> None:
        """Look for the last time."""
        self._looks.end()

    def conclude(self, ended: Ended, sections: Sections) -> None:
        """What the looks add up to."""
        self.close()
        if self._looks.trouble:
            sections.remarks.append(self._looks.trouble)
        states = self._looks.states()
        sections.power_states = None if self._pace.is_sparing and not states else states

    def close(self) -> None:
        """End the thread, unless a disk holds it up."""
        self._looks.close()
