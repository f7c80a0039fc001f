# SPDX-License-Identifier: GPL-2.0-or-later
"""Ranges of each of several devices as a range of the addresses that are striped over them.

Imported files state places on each device. An asu that is striped over N devices has a row of
N stripes for each stripe of a device, so only whole stripes of a device are a range of the asu.
"""

from __future__ import annotations

from spekctl import units
from spekctl.errors import UsageError

SHARES = (
    "places in per cent are of all devices together: on each device, the range may begin and end up"
    " to {} before or after that share"
)


def range_of(
    keys: str, start: int, end: int | None, devices: int, stripe: int, align: int, largest: int
) -> tuple[int, int | None, str]:
    """First byte, bytes and difference to report, or "", of the largest striped range that stays
    within bytes @start to @end of each of @devices, so that none is used outside them.

    @keys: parameters that the range is from; @end: None: that of the devices; @align, @largest:
    what the bytes are multiples of, and have room for. UsageError if nothing remains.
    """
    first_row = -(-start // stripe)
    first = -(-first_row * stripe * devices // align) * align
    allowed = f"bytes from {start} on" if end is None else f"bytes {start} to {end}"
    used = f"bytes from {first_row * stripe} on"
    length = None
    if end is not None:
        last_row = end // stripe
        length = last_row * stripe * devices // align * align - first
        if length < largest:
            raise UsageError(
                f"{keys}: {allowed} of each device have no room for a block of"
                f" {units.format_bytes(largest)} in whole stripes of {units.format_bytes(stripe)};"
                " give multiples of that, or a file for each device"
            )
        used = f"bytes {first_row * stripe} to {last_row * stripe}"
    if used == allowed:
        return first, length, ""
    return (
        first,
        length,
        f"{keys}: {used} of each device are used, in whole stripes of {units.format_bytes(stripe)};"
        f" the file allows {allowed}",
    )
