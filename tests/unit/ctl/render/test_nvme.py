# SPDX-License-Identifier: GPL-2.0
"""NVMe controllers as text: a row each, and sentences on what should not have happened."""

from __future__ import annotations

import io
from pathlib import Path

import msgspec
import pytest
from lib.fakes.nvme_controller import FakeController, Machine, drive, extended, health
from rich.console import Console

from spekctl.documents.nvme import NvmeDrive
from spekctl.power.nvme_log import extended_of
from spekctl.render import nvme
from spekctl.render.console import print_parts


@pytest.fixture
def told(tmp_path: Path) -> NvmeDrive:
    return drive(Machine(tmp_path))


def text_of(told: NvmeDrive) -> str:
    out = io.StringIO()
    print_parts(list(nvme.parts([told])), 160, Console(file=out, width=160))
    return out.getvalue()


def test_a_row_has_what_the_run_did_to_the_drive(told: NvmeDrive) -> None:
    assert told.before is not None
    after = msgspec.structs.replace(
        told.before, temperature_k=312, used_percent=3, data_units_written=7 + 2097152
    )
    told = msgspec.structs.replace(told, after=after)
    row = text_of(told).splitlines()[1]
    assert row.split() == [
        "/dev/nvme0n1",
        "37",
        "39",
        "37",
        "0",
        "0",
        "B",
        "1000",
        "GiB",
        "3",
        "%",
        "PS0",
    ]


def test_throttling_errors_and_heat_are_told(told: NvmeDrive) -> None:
    assert told.before is not None
    after = msgspec.structs.replace(
        told.before,
        light_throttles=2,
        heavy_throttles=1,
        heavy_throttled_s=5,
        warning_minutes=1,
        media_errors=3,
        critical_warning=2,
        spare_threshold_percent=10,
        energy_wh=12,
    )
    text = text_of(msgspec.structs.replace(told, after=after))
    assert text.splitlines()[1].split()[4] == "3"
    for sentence in (
        "/dev/nvme0n1: 2 times throttled lightly during the run",
        "1 time throttled heavily during the run",
        "5 s throttled heavily during the run",
        "1 min at or above the warning temperature during the run",
        "3 errors of data integrity during the run",
        "critical warning 0x02",
        "0 % of its spare capacity is left, less than its threshold of 10 %",
        "3 Wh by its own count",
    ):
        assert sentence in text
    assert "s throttled lightly during" in text and "0 s throttled" not in text


def test_power_by_the_drive_itself(told: NvmeDrive) -> None:
    text = text_of(told)
    assert "its own measurement of the last second: 5.00 W" in text
    assert "mean 7.25 W, most 6.00 W of 1,000 measurements (+-5 %)" in text
    assert told.power_after is not None
    empty = msgspec.structs.replace(told.power_after, measurements=0)
    assert "nobody has started the measurement" in text_of(
        msgspec.structs.replace(told, power_after=empty)
    )


def test_the_cost_of_the_readings_is_told(told: NvmeDrive) -> None:
    assert "2 readings, at most one in 10s and one at the end, with 8 admin commands" in text_of(
        told
    )


def test_a_drive_that_was_not_read_has_the_reason(tmp_path: Path) -> None:
    bare = drive(Machine(tmp_path), FakeController(health_page=health()), count=0)
    text = text_of(msgspec.structs.replace(bare, after=None, text="only root may"))
    assert "no readings: only root may" in text
    assert "admin commands" not in text


def test_which_reading_is_missing_is_told(told: NvmeDrive) -> None:
    for missing, words in (
        ({"before": None}, "no reading before the start"),
        ({"after": None}, "no reading after the end"),
        ({"before": None, "after": None}, "no reading before the start, and none after the end"),
    ):
        text = text_of(msgspec.structs.replace(told, text="it was slow", **missing))
        assert f"/dev/nvme0n1: {words}: it was slow" in text
        cells = text.splitlines()[1].split()
        assert cells[4:7] == ["-", "-", "-"] and cells[-1] == "PS0"
        assert ("%" in cells) == (len(missing) == 1)


def test_a_counter_that_fell_has_no_difference_but_a_reason(told: NvmeDrive) -> None:
    assert told.before is not None
    before = msgspec.structs.replace(
        told.before, data_units_read=9, heavy_throttles=3, light_throttles=1, media_errors=2000
    )
    after = msgspec.structs.replace(
        told.before, data_units_read=5, heavy_throttles=2, light_throttles=4, energy_wh=1
    )
    text = text_of(msgspec.structs.replace(told, before=before, after=after))
    assert text.splitlines()[1].split()[4:8] == ["-", "-", "0", "B"]
    unknown = ": the part of the run is unknown"
    for sentence in (
        "its count of data units read fell from 9 to 5",
        "its count of transitions to heavy throttling fell from 3 to 2",
        "its count of errors of data integrity fell from 2,000 to 0",
        "its count of Wh consumed fell from 9 to 1",
    ):
        assert f"/dev/nvme0n1: {sentence}{unknown}" in text
    assert text.count(unknown) == 4
    assert "3 times throttled lightly during the run" in text
    assert "Wh by its own count" not in text


def test_energy_that_is_reported_once_only_is_no_difference(told: NvmeDrive) -> None:
    assert told.before is not None and told.before.energy_wh == 9
    silent = msgspec.structs.replace(told.before, energy_wh=None)
    for changed in ({"before": silent}, {"after": silent}):
        text = text_of(msgspec.structs.replace(told, **changed))
        assert "Wh" not in text and "fell" not in text


def test_a_single_thing_is_not_called_several(tmp_path: Path) -> None:
    controller = FakeController()
    told = drive(Machine(tmp_path), controller)
    assert told.before is not None and told.power_after is None
    after = msgspec.structs.replace(told.before, media_errors=1, error_log_entries=1)
    told = msgspec.structs.replace(told, after=after, state_changes=1, readings=1, commands=1)
    text = text_of(told)
    assert "PS0, 1 change" in text
    assert "1 error of data integrity during" in text
    assert "1 entry in its error log during" in text
    assert "1 reading, at most one in 10s" in text
    assert "with 1 admin command of" in text
    for several in ("changes", "errors", "entries", "readings", "commands"):
        assert several not in text


def test_the_extended_log_tells_write_amplification_and_all_changes(told: NvmeDrive) -> None:
    def with_log(version: int = 3, **fields: int) -> str:
        after = extended_of(extended(version, **fields), 2)
        return text_of(msgspec.structs.replace(told, extended_before=before, extended_after=after))

    assert told.before is not None and told.after is not None
    written = msgspec.structs.replace(told.after, data_units_written=7 + 1000)
    told = msgspec.structs.replace(told, after=written)
    before = extended_of(extended(written=10**9, states=5, events=255), 1)
    text = with_log(written=10**9 + 1_280_000_000, states=9, events=1, throttling=1)
    assert (
        "4 changes of its power state and 1.19 GiB written to its medium, 2.50 times what hosts"
        " wrote, by its own counters"
    ) in text.replace("\n", " ")
    assert "throttled at level 1 after the end" in text
    assert "2 throttling events by its extended log" in text
    assert "throttling event" not in with_log(written=10**9, states=5, events=255)
    assert "its part of the run is unknown" in with_log(written=10**9, states=4)
    # A version that does not count changes has reserved bytes there.
    text = with_log(1, written=10**9 + 1_280_000_000, states=4).replace("\n", " ")
    assert "1.19 GiB written to its medium, 2.50 times what hosts wrote, by its own" in text
    assert "of its power state and" not in text
    told = msgspec.structs.replace(told, after=told.before)
    assert "0 changes of its power state and 0 B written to its medium by its own" in with_log(
        written=10**9, states=5
    )
