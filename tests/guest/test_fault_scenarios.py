# SPDX-License-Identifier: GPL-2.0
"""Every fault in mid-run, once; `make faults TIMES=100` plays each a hundred times.

The scenarios are in faults/devices.py, controllers.py, machine.py and operations.py; what holds
after each of them is in faults/world.py. What the kernel complains of fails the test of the
scenario that caused it (lib/harness/inside.py).
"""

from __future__ import annotations

import contextlib
import gc
import os
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby, pairwise
from pathlib import Path

import pytest
from guest.faults import controllers as fault_controllers
from guest.faults import devices as fault_devices
from guest.faults import machine as fault_machine
from guest.faults import operations as fault_operations
from guest.faults.times import TIMES
from guest.faults.world import NOT_WITH_LOCKDEP, SCENARIOS, WITHOUT_RUN, World, play
from lib.guest.disks import udev_at_rest
from lib.guest.modules import slab_objects
from lib.harness.leaks import lost_each_time

assert all(
    (fault_controllers, fault_devices, fault_machine, fault_operations)
)  # they enter their scenarios

BATCHES = 5
LONG_ON_DEBUG_KERNELS = {"memory_runs_out", "everything_at_once"}
ENOUGH_FOR_LEAKS = 50  # rounds: what others keep meanwhile comes and goes, a leak comes each time


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    many = TIMES >= ENOUGH_FOR_LEAKS
    with udev_at_rest() if many else contextlib.nullcontext():
        world = World(Path(os.environ["SPEK_MODULES"]))
        yield world
        world.close()


def variants() -> tuple[list[str], list[str]]:
    """Scenarios that a debug kernel plays at once, one of those that differ in a back end or the
    like, and the others, with those that take minutes there."""
    names = [name for name in SCENARIOS if name not in NOT_WITH_LOCKDEP]
    groups = [list(group) for _, group in groupby(names, lambda name: name.partition("-")[0])]
    chosen = {group[number % len(group)] for number, group in enumerate(groups)}
    chosen -= LONG_ON_DEBUG_KERNELS
    return [name for name in names if name in chosen], [
        name for name in names if name not in chosen
    ]


AT_ONCE, AT_LENGTH = variants()


@pytest.mark.debug_kernel
@pytest.mark.parametrize("name", AT_ONCE)
def test_fault(name: str, world: World, record_property: Callable[[str, object], None]) -> None:
    play_it(name, world, record_property)


@pytest.mark.sampled
@pytest.mark.debug_kernel_at_length
@pytest.mark.parametrize("name", AT_LENGTH)
def test_fault_at_length(
    name: str, world: World, record_property: Callable[[str, object], None]
) -> None:
    play_it(name, world, record_property)


@pytest.mark.parametrize("name", sorted(NOT_WITH_LOCKDEP))
def test_fault_without_lockdep(
    name: str, world: World, record_property: Callable[[str, object], None]
) -> None:
    play_it(name, world, record_property)


def play_it(name: str, world: World, record_property: Callable[[str, object], None]) -> None:
    """TIMES rounds of a scenario."""
    seen = play(world, name)
    if TIMES >= ENOUGH_FOR_LEAKS:
        seen += many_times(name, world, TIMES - 1)
    else:
        for _ in range(TIMES - 1):
            seen += play(world, name)
    said = ", ".join(f"{count} x {text}" for text, count in sorted(seen.items()))
    record_property("count", f"{name}: {TIMES} rounds; {said}")


def many_times(name: str, world: World, rounds: int) -> Counter[str]:
    """In batches; no cache of the kernel may grow by one for each round in all of them."""
    seen: Counter[str] = Counter()
    each = rounds // BATCHES
    # A driver may leak by itself: measure what it leaks without I/O.
    without = WITHOUT_RUN.get(name)
    others = batches(each, lambda: without(world)) if without else {}
    growth = batches(each, lambda: seen.update(play(world, name)))
    for _ in range(rounds % BATCHES):
        seen += play(world, name)
    leaking = lost_each_time(growth, others, each)
    assert not leaking, f"objects more after each batch of {each} rounds: {leaking}; {others}"
    return seen


def batches(size: int, act: Callable[[], object]) -> dict[str, list[int]]:
    """By how many objects each cache grows in each of some batches of @size acts."""
    marks = [objects()]
    for _ in range(BATCHES):
        for _ in range(size):
            act()
        marks.append(objects())
    return {
        cache: [after.get(cache, 0) - before.get(cache, 0) for before, after in pairwise(marks)]
        for cache in marks[0]
    }


def objects() -> dict[str, int]:
    gc.collect()
    return slab_objects()
