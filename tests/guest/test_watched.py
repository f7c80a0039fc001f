# SPDX-License-Identifier: GPL-2.0
"""The watch itself: a module that does everything wrong is found out, each time by its name.

This file is the last one: lockdep checks nothing any more after its first report.
"""

from __future__ import annotations

import os
import re
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from lib.guest import modules
from lib.harness.inside import TROUBLE, Messages, is_ours
from lib.harness.leaks import KMEMLEAK, Leaks
from lib.harness.races import races_of_others
from lib.waiting import comes_true

FAULTS = Path("/sys/kernel/debug/spek_rig")

# What the kernel must say, by fault; and what the watch must have found in it.
# Lock order first: any report of KASAN, and each of its own, switches lockdep off.
REPORTS = {
    "lock-order": r"WARNING: possible circular locking dependency detected",
    "use-after-free": r"BUG: KASAN: \S+ in use_after_free",
    "out-of-bounds": r"BUG: KASAN: \S+ in read_beyond_end",
    "sleep-in-atomic": r"BUG: sleeping function called from invalid context",
    "refcount": r"refcount_t: \S+",
    "shift": r"UBSAN: shift-out-of-bounds in \S*spek_rig\.c",
}

pytestmark = pytest.mark.allow_kernel_messages(".*")


@pytest.fixture
def rig() -> Iterator[Path]:
    modules.load(Path(os.environ["SPEK_TEST_MODULES"], "spek_rig.ko"))
    yield FAULTS
    modules.unload_soon("spek_rig")


def messages_of(rig: Path, fault: str, end: str) -> list[str]:
    """What the kernel says of a fault, at least up to the end of this."""
    messages, lines = Messages(), list[str]()
    messages.mark(f"{fault} on purpose")
    rig.write_text(fault)

    def is_said() -> bool:
        lines.extend(messages.read())
        return bool(re.search(end, "\n".join(lines), re.DOTALL))

    comes_true(is_said)
    return lines


@pytest.mark.debug_kernel_only("debug")
def test_leaks_are_found_and_whose_they_are(rig: Path) -> None:
    """Sixteen of each kind: a copy of a pointer that lies about somewhere hides one or another.

    What earlier tests have lost has been told of.
    """
    KMEMLEAK.write_text("clear")
    leaks = Leaks()
    assert leaks.is_there
    leaks.begin("loading the module")
    time.sleep(0.5)
    leaks.begin("a test before")
    time.sleep(0.5)
    leaks.begin("the test")

    rig.write_text("leak")
    rig.write_text("leak-vmalloc")

    time.sleep(0.5)
    leaks.begin("a test after")
    guilty = leaks.by_test()
    # ours are ones that kmemleak has to forget, so that this test is not the one that leaks
    leaks.path.write_text("clear")
    leaked = {
        nodeid: [leak for leak in all_of if is_ours(leak)] for nodeid, all_of in guilty.items()
    }
    sizes = Counter(leak.size for leak in leaked.get("the test", []))
    for size in (8192, 3 * os.sysconf("SC_PAGESIZE")):  # kmalloc() rounds 4711 up
        assert 8 <= sizes[size] <= 16, guilty
    assert not leaked.get("a test before") and not leaked.get("a test after")


@pytest.mark.debug_kernel_only("debug")
@pytest.mark.parametrize("fault", list(REPORTS))
def test_a_fault_is_found(rig: Path, fault: str) -> None:
    lines = messages_of(rig, fault, REPORTS[fault])

    told = [line for line in lines if re.search(REPORTS[fault], line)]
    assert told, lines
    assert TROUBLE.search(told[0])


@pytest.mark.debug_kernel_only("kcsan")
def test_a_race_is_found(rig: Path) -> None:
    lines = messages_of(rig, "race", "BUG: KCSAN: data-race in race.*Reported by Kernel")

    heads = [at for at, line in enumerate(lines) if "BUG: KCSAN: data-race in race" in line]
    assert heads, lines
    assert TROUBLE.search(lines[heads[0]])
    assert not races_of_others(lines) & set(heads)
