# SPDX-License-Identifier: GPL-2.0-or-later
"""CPUs near the devices of a run: those of the device's NUMA node, spread over its hardware queues
and over cores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from spekctl import units
from spekctl.block.device import ROOTS, Device, Roots
from spekctl.errors import UsageError


@dataclass(frozen=True, slots=True)
class Near:
    """A disk in sysfs. @node: its NUMA node; None: unknown. @queues: CPUs of each hardware queue;
    empty: it has none."""

    path: str
    node: int | None
    node_cpus: tuple[int, ...]
    queues: tuple[tuple[int, ...], ...]

    def text(self) -> str:
        """The disk's place, for a remark."""
        if self.node is None:
            where = f"{self.path} has no known NUMA node"
        else:
            where = (
                f"{self.path} is on NUMA node {self.node}"
                f" (CPU {units.format_cpu_list(self.node_cpus) or 'none'})"
            )
        if not self.queues:
            return where
        number = len(self.queues)
        return f"{where} and has {number} hardware queue{'s' * (number > 1)}"


def of_device(device: Device, roots: Roots = ROOTS) -> Near:
    """CPUs and queues near a disk, or near the disk of a partition."""
    whole = device.sysfs.parent if device.partition else device.sysfs
    node = _node_of(whole, roots)
    node_cpus = _cpus(roots.sys / f"devices/system/node/node{node}/cpulist")
    folders = sorted(_entries(whole / "mq"), key=lambda entry: (len(entry.name), entry.name))
    queues = [_cpus(folder / "cpu_list") for folder in folders]
    return Near(device.path, node, node_cpus, tuple(cpus for cpus in queues if cpus))


def order(nears: Sequence[Near], available: Sequence[int], roots: Roots = ROOTS) -> list[int]:
    """The CPUs of @available, the nearest first. Several devices take turns; a device without a
    known node is equally near to all."""
    ranks = {cpu: _rank(cpu, roots) for cpu in available}
    chosen: dict[int, None] = {}
    remaining = [
        _spread([cpu for cpu in available if _is_near(cpu, near)], near, ranks) for near in nears
    ]
    while any(remaining):
        for cpus in remaining:
            while cpus and cpus[0] in chosen:
                cpus.pop(0)
            if cpus:
                chosen[cpus.pop(0)] = None
    for near in nears:
        chosen.update(dict.fromkeys(_spread(available, near, ranks)))
    return list(chosen)


def told(nears: Sequence[Near], cpus: Sequence[int]) -> str:
    """Which CPUs were chosen, and why, as a remark."""
    far = [cpu for cpu in cpus if not any(_is_near(cpu, near) for near in nears)]
    text = f"--cpus auto: workers on CPU {units.format_cpu_list(cpus)}: "
    text += "; ".join(near.text() for near in nears)
    if far:
        text += f"; CPU {units.format_cpu_list(far)} is on another node, as too few are near"
    return text


def _is_near(cpu: int, near: Near) -> bool:
    return near.node is None or cpu in near.node_cpus


def _spread(cpus: Sequence[int], near: Near, ranks: dict[int, int]) -> list[int]:
    """One CPU of each hardware queue before a second one of any queue, and likewise for cores."""
    queue_of = {cpu: number for number, queue in enumerate(near.queues) for cpu in queue}
    used: Counter[int] = Counter()
    turns = {}
    for cpu in sorted(cpus, key=lambda cpu: (ranks[cpu], cpu)):
        queue = queue_of.get(cpu, -1)
        turns[cpu] = used[queue]
        used[queue] += 1
    return sorted(turns, key=lambda cpu: (turns[cpu], ranks[cpu], cpu))


def _rank(cpu: int, roots: Roots) -> int:
    """Index of a CPU among the threads of its core."""
    siblings = _cpus(roots.sys / f"devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
    return siblings.index(cpu) if cpu in siblings else 0


def _node_of(whole: Path, roots: Roots) -> int | None:
    """The NUMA node of the nearest parent device that has one."""
    try:
        here = (whole / "device").resolve(strict=True)
    except OSError:
        return None
    while here.is_relative_to(roots.sys.resolve() / "devices"):
        text = _text(here / "numa_node")
        if text:
            return int(text) if text.isdecimal() else None  # -1: no node
        here = here.parent
    return None


def _cpus(path: Path) -> tuple[int, ...]:
    # The kernel writes lists of queues with spaces.
    text = _text(path).replace(" ", "")
    try:
        return tuple(units.parse_cpu_list(text)) if text else ()
    except UsageError:
        return ()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii", errors="replace").strip()
    except OSError:
        return ""


def _entries(folder: Path) -> Iterator[Path]:
    try:
        yield from folder.iterdir()
    except OSError:
        return
