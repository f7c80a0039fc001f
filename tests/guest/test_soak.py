# SPDX-License-Identifier: GPL-2.0
"""Soak: mixed load with log and prober on; counters are exact at the end, and memory is flat.

150,000 I/Os in `make test` and half a million in `make test-kernels`; `make soak IOS=100000000`
does as many as wanted, and says how far it has come in out/tests/guest-6.1/output-1.log.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from guest.soak import FLAT_KIB, Account, assert_no_leak, changes, counts, lost_kib, mixes, soak
from lib.guest.drive import Controller
from lib.guest.modules import (
    idle_meminfo,
    orphaned_vmalloc_bytes,
    slab_objects,
    vmalloc_bytes,
)
from lib.harness.kernels import repeated
from lib.waiting import comes_true

from spekctl.kernel.prober import Prober

pytestmark = pytest.mark.any_kernel

IOS = int(os.environ.get("SPEK_SOAK_IOS", repeated(150_000, 500_000)))
ROUNDS = 6


@pytest.fixture(scope="module")
def controller(spek_module: Path, prober_module: Path) -> Iterator[Controller]:
    with Controller() as connection:
        yield connection


def test_soak(
    controller: Controller,
    record_property: Callable[[str, object], None],
    capfd: pytest.CaptureFixture[str],
) -> None:
    account = Account()
    begun_s = time.monotonic()
    marks: list[dict[str, int]] = []
    memory: dict[str, int] = {}
    with mixes() as parts, Prober() as prober:
        for number in range(ROUNDS):
            mine = IOS // ROUNDS + (IOS % ROUNDS if number == 0 else 0)
            for mix, count in zip(parts, counts(parts, mine), strict=True):
                soak(controller, prober, mix, count, account)
                with capfd.disabled():
                    print(
                        f"{account.ios:,} of {IOS:,} I/Os in {time.monotonic() - begun_s:.0f} s, "
                        f"now with: {mix.name}",
                        flush=True,
                    )
            gc.collect()
            marks.append(slab_objects())
            if number == 0:  # what is allocated once, and stays
                memory = idle_meminfo()
                held = vmalloc_bytes("spek"), orphaned_vmalloc_bytes()
            with capfd.disabled():
                print(f"round {number + 1}: memory since the first {changes(memory)}", flush=True)
        assert (vmalloc_bytes("spek"), orphaned_vmalloc_bytes()) == held
        assert_no_leak(marks, len(parts))
        has_come_back = comes_true(lambda: lost_kib(memory) < FLAT_KIB, 60)
        assert has_come_back, f"memory lost: {lost_kib(memory)} KiB; {changes(memory)}"
        lost = lost_kib(memory)
    assert account.ios == IOS
    record_property(
        "count",
        f"{account.ios:,} I/Os in {account.requests:,} requests, {account.bytes >> 20:,} MiB; "
        f"{account.lost_records:,} records found no room; {account.rows:,} rows of the prober, "
        f"{account.rows_missed} missed; memory in use {lost:+,} KiB; {account.by_mix}",
    )
