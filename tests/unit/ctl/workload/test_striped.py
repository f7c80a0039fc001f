# SPDX-License-Identifier: GPL-2.0
"""A striped range stays within the bytes that a file allows on each device, whatever they are."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.errors import UsageError
from spekctl.workload.striped import range_of

KIB = 1 << 10
MIB = 1 << 20


def places(first: int, length: int, devices: int, stripe: int, block: int) -> set[int]:
    """Bytes of the devices at which blocks of such a range begin, of all devices alike."""
    on_each = set()
    for byte in range(first, first + length, block):
        number, within = divmod(byte, stripe)
        on_each.add(number // devices * stripe + within)
    return on_each


@given(
    start=st.integers(0, 40),
    length=st.integers(1, 80),
    devices=st.integers(1, 4),
    stripe=st.sampled_from([1, 2, 4, 8]),
    align=st.sampled_from([1, 2, 4, 16]),
)
def test_no_byte_outside_is_used_and_no_whole_row_is_left(
    start: int, length: int, devices: int, stripe: int, align: int
) -> None:
    end = start + length
    try:
        first, used, text = range_of("k", start, end, devices, stripe, align, align)
    except UsageError:
        assert (end // stripe - -(-start // stripe)) * stripe * devices < 2 * align + devices
        return
    assert used is not None and used >= align and first % align == used % align == 0
    on_devices = places(first, used, devices, stripe, 1)
    assert start <= min(on_devices) and max(on_devices) < end
    exact = start % stripe == end % stripe == 0
    assert (text == "") == exact
    rows = range(-(-start // stripe), end // stripe)
    assert len(rows) * stripe * devices - used < 2 * align


def test_what_is_used_is_said_beside_what_is_allowed() -> None:
    first, length, text = range_of("offset", MIB, 1025 * MIB, 2, 2 * MIB, 2 * MIB, 2 * MIB)
    assert (first, length) == (4 * MIB, 2044 * MIB)
    assert text == (
        f"offset: bytes {2 * MIB} to {1024 * MIB} of each device are used, in whole stripes of"
        f" 2 MiB; the file allows bytes {MIB} to {1025 * MIB}"
    )


@pytest.mark.parametrize(
    ("devices", "stripe"), list(itertools.product((1, 3), (4 * KIB, 64 * KIB)))
)
def test_without_an_end_it_is_that_of_the_devices(devices: int, stripe: int) -> None:
    first, length, text = range_of("offset", 4 * KIB, None, devices, stripe, 4 * KIB, 4 * KIB)
    assert (first, length) == (stripe * devices, None)
    assert (text == "") == (stripe == 4 * KIB)


def test_a_range_without_a_whole_stripe_is_refused() -> None:
    with pytest.raises(UsageError, match="bytes 1024 to 65536 of each device have no room"):
        range_of("offset, size", KIB, 64 * KIB, 2, 64 * KIB, 4 * KIB, 4 * KIB)
