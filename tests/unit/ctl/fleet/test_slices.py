# SPDX-License-Identifier: GPL-2.0
"""Slices of a device that several hosts have: disjoint, whole blocks and zones, by weight."""

from __future__ import annotations

import dataclasses
import functools
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.fakes.fleet import GIB, device

from spekctl.errors import UsageError
from spekctl.fleet import plan, slices
from spekctl.fleet.plan import Plan
from spekctl.fleet.wire import DeviceSeen, ReplayPiece, ReplayTarget, Slice

MIB = 1 << 20


@functools.cache
def plan_of(count: int, share: str) -> Plan:
    text = f"""
[fleet]
listen = "tls://10.0.0.1:8786"
workload = "random-read-4k"
share = "{share}"
"""
    hosts = [f'[[host]]\nname = "h{number}"\ndevices = ["/dev/fake0"]\n' for number in range(count)]
    return plan.parse(text + "".join(hosts))


def planned(weights: list[int], share: str = "split") -> Plan:
    whole = plan_of(len(weights), share)
    hosts = [
        dataclasses.replace(host, weight=weight)
        for host, weight in zip(whole.hosts, weights, strict=True)
    ]
    return dataclasses.replace(whole, hosts=tuple(hosts))


def seen(count: int, **changes: Any) -> dict[str, list[DeviceSeen]]:
    return {f"h{number}": [device(**changes)] for number in range(count)}


def part(number: int, **changes: Any) -> DeviceSeen:
    """A partition of 64 MiB; 1 to 3 lie behind each other on naa.1."""
    start = MIB + (number - 1) * 64 * MIB
    facts = {"wwn": "naa.1", "partition": number, "start": start, "bytes": 64 * MIB}
    return device(f"/dev/fake{number}", **{**facts, **changes})


@given(
    st.lists(st.integers(1, 9), min_size=2, max_size=20),
    st.integers(0, 2 * MIB // 512).map(lambda blocks: 4 * GIB + blocks * 512),
    st.sampled_from([0, 4 * MIB, 3 * MIB]),
)
def test_slices_are_disjoint_and_in_order_and_leave_no_address_out(
    weights: list[int], size: int, zone_bytes: int
) -> None:
    given_slices = slices.of(
        planned(weights), seen(len(weights), wwn="naa.1", bytes=size, zone_bytes=zone_bytes)
    )
    unit = max(MIB, zone_bytes)
    end = 0
    for number in range(len(weights)):
        (part,) = given_slices[f"h{number}"]
        assert part.start == end and part.bytes > 0 and part.start % unit == 0
        end = part.start + part.bytes
    assert end == size


def test_weights_set_their_sizes() -> None:
    cut = slices.of(planned([1, 3]), seen(2, wwn="naa.1"))
    assert cut == {"h0": [Slice(0, GIB // 4)], "h1": [Slice(GIB // 4, 3 * GIB // 4)]}


def test_a_device_that_no_other_host_has_is_whole() -> None:
    devices = seen(2, wwn="naa.1")
    devices["h0"].append(device("/dev/fake1", wwn="naa.2"))
    cut = slices.of(planned([1, 1]), devices)
    assert cut["h0"] == [Slice(0, GIB // 2), Slice(0, GIB)]
    assert slices.of(planned([1, 1]), seen(2)) == {}
    assert slices.of(planned([1, 1], "overlap"), seen(2, wwn="naa.1")) == {}


@pytest.mark.parametrize(
    ("devices", "sentence"),
    [
        (seen(2, wwn="naa.1", bytes=MIB), "is too small for 2 slices of 1048576 bytes or more"),
        (
            {"h0": [device(wwn="naa.1")], "h1": [device(wwn="naa.1", bytes=2 * GIB)]},
            "hosts see different sizes of the device wwn naa.1",
        ),
        (
            {"h0": [device(wwn="naa.1"), device("/dev/fake1", wwn="naa.1")]},
            "h0: /dev/fake1 and /dev/fake0 are one device, wwn naa.1",
        ),
        (
            {"h0": [device(wwn="naa.1"), part(1)]},
            "h0: /dev/fake1 and /dev/fake0 have bytes in common: partition 1 of wwn naa.1, wwn",
        ),
        (
            {"h0": [device(wwn="naa.1")], "h1": [part(2)]},
            "h0's /dev/fake0 and h1's /dev/fake2 have bytes in common: wwn naa.1, partition 2 of",
        ),
        (
            {"h0": [part(1)], "h1": [part(1, start=8 * MIB)]},
            r"hosts see partition 1 of wwn naa.1 at different bytes of its disk: \[1048576, ",
        ),
    ],
)
def test_what_cannot_be_split_is_refused(
    devices: dict[str, list[DeviceSeen]], sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence):
        slices.of(planned([1, 1]), devices)


def test_partitions_of_one_disk_are_devices_of_their_own() -> None:
    devices = {"h0": [part(1), part(2)], "h1": [part(3), part(1)]}
    cut = slices.of(planned([1, 1]), devices)
    assert cut == {
        "h0": [Slice(0, 32 * MIB), Slice(0, 64 * MIB)],
        "h1": [Slice(0, 64 * MIB), Slice(32 * MIB, 32 * MIB)],
    }
    said = "h0, h1 share the device partition 1 of wwn naa.1, each a slice of its own"
    assert slices.remarks(planned([1, 1]), devices) == [said]
    replayed = slices.replayed(planned([1, 1]), devices)
    assert [piece.target for piece in replayed["h0"].own] == [0, 1]
    assert [piece.target for piece in replayed["h1"].own] == [2, 0]


def test_a_disk_and_a_partition_of_it_may_overlap_if_the_plan_says_so() -> None:
    devices = {"h0": [device(wwn="naa.1")], "h1": [part(2)], "h2": [device(wwn="naa.2")]}
    overlap = planned([1, 1, 1], "overlap")
    assert slices.of(overlap, devices) == {}
    assert slices.remarks(overlap, devices) == [
        "h0's /dev/fake0 and h1's /dev/fake2 have bytes in common: wwn naa.1, partition 2 of wwn"
        " naa.1"
    ]


@given(st.integers(0, 9), st.integers(1, 9), st.integers(0, 9), st.integers(1, 9))
def test_ranges_of_one_disk_overlap_if_a_byte_is_in_both(
    first: int, first_bytes: int, second: int, second_bytes: int
) -> None:
    left = part(1, start=first, bytes=first_bytes)
    right = part(2, start=second, bytes=second_bytes)
    common = set(range(first, first + first_bytes)) & set(range(second, second + second_bytes))
    assert left.overlaps(right) == right.overlaps(left) == bool(common)
    assert not left.overlaps(part(2, start=second, bytes=second_bytes, wwn="naa.2"))


def test_a_result_says_who_shares_what() -> None:
    shared = seen(2, wwn="naa.1")
    split = slices.remarks(planned([1, 1]), shared)
    assert split == ["h0, h1 share the device wwn naa.1, each a slice of its own"]
    overlap = slices.remarks(planned([1, 1], "overlap"), shared)
    assert overlap == ["h0, h1 share the device wwn naa.1, and overlap there"]
    unknown = slices.remarks(planned([1, 1]), seen(2))
    assert unknown == [
        "other hosts may have the same devices, which have no WWN to tell: /dev/fake0 of h0,"
        " /dev/fake0 of h1"
    ]


def test_targets_of_a_replay_are_the_devices_of_all_clients_each_once() -> None:
    apart = slices.replayed(planned([1, 1]), seen(2))
    assert apart["h0"].targets == apart["h1"].targets == [ReplayTarget(GIB, 512)] * 2
    assert [apart[name].own for name in ("h0", "h1")] == [
        [ReplayPiece(0, 0, GIB)],
        [ReplayPiece(1, 0, GIB)],
    ]
    shared = slices.replayed(planned([3, 1]), seen(2, wwn="naa.1"))
    assert shared["h0"].targets == [ReplayTarget(GIB, 512)]
    assert [shared[name].own for name in ("h0", "h1")] == [
        [ReplayPiece(0, 0, 768 * MIB)],
        [ReplayPiece(0, 768 * MIB, 256 * MIB)],
    ]
    assert slices.replayed(planned([1, 1], "overlap"), seen(2)) == {}


@given(
    st.lists(st.integers(1, 9), min_size=2, max_size=9),
    st.integers(0, 2 * MIB // 512).map(lambda blocks: GIB + blocks * 512),
    st.sampled_from([0, 3 * MIB]),
)
def test_each_address_of_a_shared_device_has_a_client_that_replays_it(
    weights: list[int], size: int, zone_bytes: int
) -> None:
    devices = seen(len(weights), wwn="naa.1", bytes=size, zone_bytes=zone_bytes)
    end = 0
    for part in slices.replayed(planned(weights), devices).values():
        (piece,) = part.own
        assert piece.start == end
        end = piece.start + piece.bytes
    assert end == size
