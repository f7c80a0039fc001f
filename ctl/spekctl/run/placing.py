# SPDX-License-Identifier: GPL-2.0-or-later
"""Chooses the CPUs of a run's workers, by its options and its devices."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Sequence

from spekctl.block import near
from spekctl.block.device import ROOTS, Device, Roots
from spekctl.power import disk
from spekctl.workload.options import AUTO, Options


def near_devices(
    given: Options, devices: Sequence[Device], roots: Roots = ROOTS
) -> tuple[Options, list[str]]:
    """@given with the CPUs of this process, and with `--cpus auto` replaced by a list of CPUs near
    @devices or the disks below them, one for each worker; a remark gives the reason."""
    available = sorted(os.sched_getaffinity(0))
    options = dataclasses.replace(given, available_cpus=available)
    wanted = given.workers or 1
    # With more workers than CPUs, the resolver refuses the run.
    if given.cpus != AUTO or wanted > len(available):
        return options, []
    disks = {each.node: each.device for device in devices for each in disk.below(device, roots)}
    nears = [near.of_device(device, roots) for device in disks.values()]
    cpus = near.order(nears, available, roots)[:wanted]
    return dataclasses.replace(options, cpus=cpus), [near.told(nears, cpus)]
