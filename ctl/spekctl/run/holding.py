# SPDX-License-Identifier: GPL-2.0-or-later
"""Devices held by one kernel claim over all runs of a command.

The runs of a campaign, and a verified run with its final pass, borrow the devices of a claim that
was taken before the first run. Until it is released nobody else can mount them, make a file system
on them, or start a run on them. The claim belongs to the connection: it goes with a killed program.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from types import TracebackType

from spekctl import recorded
from spekctl.block import replaced
from spekctl.block.device import Device
from spekctl.kernel.client import Kernel
from spekctl.run import claim, ending
from spekctl.run.job import Interrupts, Request
from spekctl.run.rights import OWN, Looked, Rights


@dataclass(frozen=True, slots=True)
class _Wish:
    """What runs may do to the devices; see rights.Overwriting."""

    devices: Sequence[Device]
    write_allowed: bool
    destroy: Sequence[str]


class Holding:
    """Devices of a command, held from take() to release(); as a context manager, from entry to
    exit."""

    def __init__(
        self,
        kernel: Kernel,
        devices: Sequence[Device],
        interrupts: Interrupts,
        *,
        written: Collection[tuple[int, int]] = (),
        write_allowed: bool = False,
        destroy: Sequence[str] = (),
        rights: Rights = OWN,
    ) -> None:
        """@written: numbers of the devices that runs may write. @write_allowed, @destroy: --write
        and --destroy."""
        self._kernel = kernel
        self._devices = devices
        self._interrupts = interrupts
        self._written = written
        self._wish = _Wish(devices, write_allowed, destroy)
        self._rights = rights
        self._claim: int | None = None
        self._looked: Looked | None = None
        self._remarks: list[str] = []

    def __enter__(self) -> Holding:
        self.take()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()

    @property
    def kernel(self) -> Kernel:
        """The connection that owns the claim: a run over another one cannot use it."""
        return self._kernel

    @property
    def claim(self) -> int:
        """Number of the claim."""
        assert self._claim is not None, "take() comes first"
        return self._claim

    def take(self) -> None:
        """Claim the devices, and check under the claim that they may be written."""
        self._claim = claim.hold(self._kernel, self._devices, self._written, self._interrupts)
        try:
            self._check()
        except BaseException:
            self.release()
            raise

    @property
    def looked(self) -> Looked | None:
        """What take() saw on the devices, None if no run may write."""
        return self._looked

    def remarks(self) -> list[str]:
        """On the devices, for results; each once."""
        remarks, self._remarks = self._remarks, []
        return remarks

    def release(self) -> None:
        """Give the devices back, unless a run still has I/O in flight: then the kernel does when
        that has ended. A further Ctrl-C ends the wait. A second call does nothing."""
        number, self._claim = self._claim, None
        if number is not None:
            ending.release_claim(self._kernel, number, self._interrupts)

    def _check(self) -> None:
        (info,) = (info for info in self._kernel.claims() if info.id == self._claim)
        for device, target in zip(self._devices, info.targets, strict=True):
            if device.diskseq and target.diskseq and device.diskseq != target.diskseq:
                raise replaced.refusal(device, target.diskseq)
        if self._written:
            self._looked = self._rights.look(info, self._wish)
            self._remarks += map(recorded.text, self._looked.remarks)


def of_requests(kernel: Kernel, requests: Iterable[Request], interrupts: Interrupts) -> Holding:
    """For runs in turn: all devices of all of them, each once."""
    asked = list(requests)
    devices = {
        (device.major, device.minor): device for request in asked for device in request.devices
    }
    return Holding(
        kernel,
        list(devices.values()),
        interrupts,
        written=set().union(*(request.config.written for request in asked)),
        write_allowed=any(request.write_allowed for request in asked),
        destroy=list(dict.fromkeys(name for request in asked for name in request.destroy)),
        rights=asked[0].rights,
    )


def of_steps(kernel: Kernel, requests: Sequence[Request], interrupts: Interrupts) -> list[Holding]:
    """For runs in turn or side by side: what holds the devices of each. Runs that share devices
    share a claim; those that only read, on devices that no other run writes, have one for reading.
    """
    shared: list[list[Request]] = []
    for request in requests:
        apart = [runs for runs in shared if not _share(runs, request)]
        joined = [run for runs in shared if _share(runs, request) for run in runs]
        shared = [*apart, [*joined, request]]
    held = {
        id(request): claimed
        for runs in shared
        for claimed in [of_requests(kernel, runs, interrupts)]
        for request in runs
    }
    return [held[id(request)] for request in requests]


def _share(runs: Sequence[Request], request: Request) -> bool:
    """True if a device of @request is one of those of @runs."""
    numbers = {(device.major, device.minor) for run in runs for device in run.devices}
    return any((device.major, device.minor) in numbers for device in request.devices)
