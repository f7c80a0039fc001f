# SPDX-License-Identifier: GPL-2.0
"""Facts and counters of a block device in documents."""

from __future__ import annotations

import msgspec
import pytest
from lib.ctl.plot_files import facts

from spekctl.documents.device import DeviceFacts, DiskCounters, TargetFacts

OLD = {"reads": 1, "read_sectors": 8, "writes": 2, "write_sectors": 16}


def test_counters_of_older_files_lack_what_was_not_read_then() -> None:
    counters = msgspec.convert(OLD, DiskCounters)
    assert (counters.read_ms, counters.write_ms, counters.discard_sectors) == (None, None, None)
    assert (counters.reads, counters.write_sectors) == (1, 16)


def test_unknown_counters_are_null_and_not_missing_in_a_file() -> None:
    written = msgspec.to_builtins(msgspec.convert(OLD, DiskCounters))
    assert written == {**OLD, "read_ms": None, "write_ms": None, "discard_sectors": None}


@pytest.mark.parametrize("name", OLD)
def test_the_counters_that_spek_compares_are_needed(name: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=f"missing required field `{name}`"):
        msgspec.convert({key: value for key, value in OLD.items() if key != name}, DiskCounters)


def test_a_target_is_a_device_whose_counters_may_be_unknown() -> None:
    target = facts()
    fields = msgspec.to_builtins(target)
    assert msgspec.convert(fields, TargetFacts) == target
    assert msgspec.convert({**fields, "disk_before": None}, TargetFacts).disk_before is None
    del fields["disk_before"], fields["start_bytes"]
    assert msgspec.convert(fields, DeviceFacts).path == target.path
    with pytest.raises(msgspec.ValidationError, match="missing required field `disk_before`"):
        msgspec.convert(fields, TargetFacts)
