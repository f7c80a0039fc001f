# SPDX-License-Identifier: GPL-2.0
"""Hosts in the result of a fleet: their rows are whole, and have a start."""

from __future__ import annotations

import msgspec
import pytest
from lib.ctl.fleets import Spec, fleet_of


def test_columns_of_rows_have_one_length() -> None:
    hosts = fleet_of(Spec("alpha")).hosts
    assert hosts is not None
    rows = hosts[0].rows
    count = len(rows.seq)
    with pytest.raises(
        ValueError, match=rf"column end_ns has {count - 1} entries for {count} rows"
    ):
        msgspec.structs.replace(rows, end_ns=rows.end_ns[1:])
    short = msgspec.structs.replace(rows.read, ios=rows.read.ios[1:])
    with pytest.raises(ValueError, match=rf"column ios has {count - 1} entries for {count} rows"):
        msgspec.structs.replace(rows, read=short)


def test_a_host_with_intervals_has_started() -> None:
    hosts = fleet_of(Spec("alpha")).hosts
    assert hosts is not None
    never = msgspec.structs.replace(hosts[0].start, monotonic_ns=None)
    with pytest.raises(ValueError, match="host alpha has intervals and no start"):
        msgspec.structs.replace(hosts[0], start=never)
