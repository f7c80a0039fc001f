# SPDX-License-Identifier: GPL-2.0
"""Capacity optimization on stores with known methods: what is sent, and what is concluded."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

import pytest
from lib.fakes.machine import disk

from spekctl.block import stored
from spekctl.block.stored import Stored, Thin
from spekctl.campaigns import capacity
from spekctl.errors import SpekError, UsageError

MIB = 1 << 20
SIZE = 64 * MIB


@dataclass
class Store:
    """Blocks of 1 MiB; @cost: of what is written there, by data set; @shared: with a snapshot."""

    cost: dict[str, Fraction] = field(default_factory=dict)
    is_thin: bool = True
    blocks: dict[int, int] = field(default_factory=dict)
    shared: dict[int, int] = field(default_factory=dict)
    sent: list[tuple[str, int, int]] = field(default_factory=list)

    def read(self) -> int:
        if not self.is_thin:
            return 1 << 30
        return sum(self.blocks.values()) + sum(self.shared.values())

    def send(self, name: str, start: int, size: int) -> None:
        self.sent.append((name, start, size))
        for block in range(start // MIB, (start + size) // MIB):
            if block in self.blocks and block in self.snapshot:
                self.shared[block] = self.blocks[block]
            self.blocks.pop(block, None)
            if name != "discard":
                self.blocks[block] = int(MIB * self.cost.get(name, Fraction(1)))

    @property
    def snapshot(self) -> set[int]:
        return self._snapshot

    _snapshot: set[int] = field(default_factory=set)


def verdicts(store: Store, thin: Thin | None = None, discards: bool = True) -> dict[str, str]:
    plan = capacity.Plan(SIZE, 25, capacity.BLOCK if discards else 0)
    steps = capacity.measure(plan, Stored("store", store.read, thin), store.send)
    return {method.name: method.verdict for method in capacity.judge(steps, 25, "")}


def test_each_method_is_seen_where_it_is() -> None:
    store = Store({"compressible": Fraction(1, 4)})
    told = verdicts(store)
    assert (told["compression"], told["deduplication"]) == ("yes", "no")
    assert told["thin provisioning"] == "yes"
    assert told["read-only delta snapshots"] == "not tested"
    assert store.sent == [
        ("discard", 0, 3 * SIZE),
        ("irreducible", 0, SIZE),
        ("compressible", SIZE, SIZE),
        ("repeating", 2 * SIZE, SIZE),
        ("discard", 0, SIZE),
    ]
    told = verdicts(Store({"repeating": Fraction(3, 4), "compressible": Fraction(76, 100)}))
    assert (told["compression"], told["deduplication"]) == ("no", "yes")


def test_a_thick_device_stores_nothing_more() -> None:
    told = verdicts(Store(is_thin=False))
    assert told["thin provisioning"] == "no"
    assert told["compression"] == told["deduplication"] == "not tested"


def test_without_discards_thin_provisioning_is_not_tested() -> None:
    store = Store()
    assert verdicts(store, discards=False)["thin provisioning"] == "not tested"
    assert "discard" not in {name for name, _, _ in store.sent}


@pytest.mark.parametrize("before", ["irreducible", "compressible"])
def test_data_in_place_of_others_show_no_saving(before: str) -> None:
    """A volume that cannot discard, was written, and saves nothing."""
    store = Store({before: Fraction(2)})
    store.send(before, capacity.SETS.index(before) * SIZE, SIZE)
    store.cost = {}
    assert verdicts(store, discards=False)["compression"] == "not tested"


def test_a_pool_that_could_run_full_is_refused() -> None:
    thin = Thin("volume", "pool", 1)
    needed = 3 * SIZE + SIZE // 4
    capacity.check_room(Stored("store", lambda: 0), SIZE)
    capacity.check_room(Stored("store", lambda: 0, thin, lambda: needed), SIZE)
    with pytest.raises(UsageError, match=f"{needed - 1} bytes left, and the test could take"):
        capacity.check_room(Stored("store", lambda: 0, thin, lambda: needed - 1), SIZE)


@pytest.mark.parametrize(
    ("granularity", "unit"),
    [("", 256), ("0", 256), ("4096", 256), (f"{192 << 10}", 768), (f"{4 * MIB}", 4096)],
)
def test_a_discard_is_no_part_of_what_the_device_discards(
    granularity: str, unit: int, tmp_path: Path
) -> None:
    (tmp_path / "queue").mkdir()
    (tmp_path / "queue" / "discard_granularity").write_text(f"{granularity}\n")
    assert capacity.unit_of(disk("/dev/x0", sysfs=tmp_path)) == unit << 10


def test_data_sets_are_of_whole_discards() -> None:
    with pytest.raises(UsageError, match="multiple of 16 MiB, and more than 0"):
        capacity.check(disk("/dev/x0"), 24 * MIB, 4 * MIB)
    capacity.check(disk("/dev/x0"), 32 * MIB, 4 * MIB)


@pytest.mark.parametrize(("copies", "verdict"), [(False, "yes"), (True, "no")])
def test_a_delta_snapshot_takes_what_is_rewritten(
    copies: bool, verdict: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, thin = Store(), Thin("volume", "pool", 1)

    dropped: list[int] = []

    @contextlib.contextmanager
    def taken(_: Thin) -> Iterator[int]:
        if copies:
            store.shared.update({1000 + block: MIB for block in store.blocks})
        else:
            store._snapshot = set(store.blocks)
        yield 5
        dropped.append(5)

    monkeypatch.setattr(stored, "snapshot", taken)
    assert verdicts(store, thin)["read-only delta snapshots"] == verdict
    assert dropped == [5]


def test_a_snapshot_goes_if_the_load_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    dropped: list[int] = []

    @contextlib.contextmanager
    def taken(_: Thin) -> Iterator[int]:
        try:
            yield 5
        finally:
            dropped.append(5)

    monkeypatch.setattr(stored, "snapshot", taken)
    store = Store()

    def send(name: str, start: int, size: int) -> None:
        if name == "rewrite":
            raise SpekError("rewrite: it failed")
        store.send(name, start, size)

    source = Stored("store", store.read, Thin("volume", "pool", 1))
    with pytest.raises(SpekError, match="it failed"):
        capacity.measure(capacity.Plan(SIZE, 25, capacity.BLOCK), source, send)
    assert dropped == [5]


def test_parity_is_a_matter_of_what_is_below() -> None:
    store = Store()
    plan = capacity.Plan(SIZE, 25, capacity.BLOCK)
    steps = capacity.measure(plan, Stored("store", store.read), store.send)
    parity = capacity.judge(steps, 25, "md raid5 of 4 devices")[-1]
    assert (parity.verdict, parity.reason) == ("yes", "md raid5 of 4 devices")


@pytest.mark.parametrize("size", [0, MIB + 1, 400 * MIB])
def test_data_sets_have_to_fit(size: int) -> None:
    with pytest.raises(UsageError, match="--size"):
        capacity.check(disk("/dev/x0"), size)


@pytest.mark.parametrize("name", ["discard", "irreducible", "compressible", "repeating", "rewrite"])
def test_each_load_has_its_place(name: str) -> None:
    stream = capacity.load_of(name, SIZE, SIZE).stream[0]
    assert (stream.start, stream.range, stream.pattern) == (SIZE, SIZE, "sequential")
    assert (stream.operation == "discard") == (name == "discard")
