# SPDX-License-Identifier: GPL-2.0-or-later
"""Holds devices exclusively while they are looked at, and says who has them.

Device mapper claims them exclusively too, so that they are let go just before it is asked: who
claims one in between is refused by the kernel, or refuses us. Its table names them by number, which
another disk may have by then: as long as a device is open its number is not given away.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence

from spekctl.block import opening, replaced, safety
from spekctl.block.device import ROOTS, Device, Roots
from spekctl.errors import NotPermittedError, RefusedError, SpekError
from spekctl.kernel.records import ClaimInfo, RunInfo


@contextlib.contextmanager
def pinned(
    devices: Sequence[Device],
    runs: Iterable[RunInfo] = (),
    claims: Iterable[ClaimInfo] = (),
    roots: Roots = ROOTS,
) -> Iterator[Callable[[], None]]:
    """Keep the numbers of the devices, and claim nothing. What is returned looks again, just before
    the numbers are used: RefusedError if a device is another one than was looked at."""
    runs, claims = list(runs), list(claims)

    def look_again() -> None:
        for device in devices:
            _refuse_replaced(device)

    with contextlib.ExitStack() as stack:
        for device in devices:
            stack.callback(os.close, _open(device, os.O_RDONLY, runs, claims, roots))
        yield look_again


@contextlib.contextmanager
def held(
    devices: Sequence[Device],
    runs: Iterable[RunInfo] = (),
    claims: Iterable[ClaimInfo] = (),
    roots: Roots = ROOTS,
) -> Iterator[None]:
    """RefusedError for a device that somebody uses, that is another one than was looked at, or
    that cannot be written."""
    runs, claims = list(runs), list(claims)
    with contextlib.ExitStack() as stack:
        for device in devices:
            fd = _open(device, os.O_RDONLY | os.O_EXCL, runs, claims, roots)
            stack.callback(os.close, fd)
            _refuse_replaced(device)
            if text := safety.unwritable(device):
                raise RefusedError(f"{device.path} {text}")
            safety.refuse_users(device, roots, lambda: (runs, claims))
        yield


def _refuse_replaced(device: Device) -> None:
    if here := replaced.now_at(device):
        raise RefusedError(replaced.sentence(device, here))


def _open(
    device: Device,
    flags: int,
    runs: Sequence[RunInfo],
    claims: Sequence[ClaimInfo],
    roots: Roots,
) -> int:
    try:
        number = (device.major, device.minor)
        return opening.open_block_device(device.path, flags, number)
    except PermissionError as error:
        raise NotPermittedError(f"not permitted to open {device.path}") from error
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise SpekError(f"cannot open {device.path}: {error.strerror}") from error
        users = safety.explain_busy(device, runs, roots, claims)
        raise RefusedError(f"{device.path} is in use: {users}") from error
