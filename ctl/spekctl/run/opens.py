# SPDX-License-Identifier: GPL-2.0-or-later
"""Who else has devices open that a command is about to write itself, without a run on them.

The kernel side counts the opens of claimed devices only, so they are claimed for that, and let go:
the claim of the command comes after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from spekctl.block import openers
from spekctl.block.device import Device
from spekctl.errors import NoKernelSideError, SpekError
from spekctl.kernel import client
from spekctl.kernel.client import Kernel
from spekctl.run import claim, ending
from spekctl.run.job import Interrupts


def check(
    kernel: Kernel,
    devices: Sequence[Device],
    destroy: Sequence[str] = (),
    kept: Sequence[Device] = (),
    interrupts: Interrupts | None = None,
) -> list[str]:
    """Refuse devices that an unknown user has open, unless --destroy names them; remarks on those
    that are open, as block/openers.py makes them. @kept: devices that are not overwritten, and that
    --destroy cannot name."""
    interrupts = interrupts or Interrupts()
    everything = [*devices, *kept]
    written = {(device.major, device.minor) for device in everything}
    number = claim.hold(kernel, everything, written, interrupts)
    try:
        remarks = [
            openers.check(
                device,
                partial(_opens, kernel, number, index),
                destroy if index < len(devices) else None,
            )
            for index, device in enumerate(everything)
        ]
    finally:
        ending.release_claim(kernel, number, interrupts)
    return [remark for remark in remarks if remark]


def check_of_command(
    devices: Sequence[Device], destroy: Sequence[str] = (), kept: Sequence[Device] = ()
) -> list[str]:
    """The same for a command that does not need spek.ko otherwise: if it cannot be asked, a remark
    that nobody has counted."""
    try:
        kernel = client.connect()
    except NoKernelSideError:
        return [_not_counted("is not loaded", devices, kept)]
    except SpekError as error:
        return [_not_counted(f"cannot be asked ({error.message})", devices, kept)]
    except OSError as error:
        return [_not_counted(f"cannot be asked ({error.strerror})", devices, kept)]
    try:
        return check(kernel, devices, destroy, kept)
    finally:
        kernel.close()


def _not_counted(why: str, devices: Sequence[Device], kept: Sequence[Device]) -> str:
    names = ", ".join(device.path for device in (*devices, *kept))
    return (
        f"the module spek {why}, so whether a user in the kernel that nothing names has one of"
        f" {names} open is not known"
    )


def _opens(kernel: Kernel, number: int, index: int) -> int:
    (info,) = (info for info in kernel.claims() if info.id == number)
    return info.targets[index].opens
