# SPDX-License-Identifier: GPL-2.0
"""Inputs that fuzzing has found: each was a traceback or took for ever; each gets its sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest
from lib.ctl.log_files import header, records

from spekctl import units
from spekctl.campaigns import inputs
from spekctl.documents import curve, result
from spekctl.documents.document import Kind, identify
from spekctl.errors import UsageError
from spekctl.gate import limits
from spekctl.log import file
from spekctl.power.rails import RailsFile
from spekctl.workload import file as workload_file

# Python 3.14 limits the stack in bytes, not calls; thousands of lists fit.
DEEP = b"[" * 1_000_000
LONG = "9" * 5000
CURVE = b'{"kind": "spek-curve", "version": 1, "workload": '


@pytest.mark.parametrize("data", [b'{"x": "\xe5"}', b'{"kind": "\xff"}', b'{"x": ' + DEEP])
@pytest.mark.parametrize(
    "read", [curve.load_curve, result.load_result, lambda path: identify(path, list(Kind))]
)
def test_json_that_is_no_text_or_too_deep(
    tmp_path: Path, read: Callable[[Path], object], data: bytes
) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=r"x\.json"):
        read(path)


@pytest.mark.parametrize("end", [b'"\xe5"}', DEEP])
def test_a_curve_that_is_damaged_behind_its_head(tmp_path: Path, end: bytes) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(CURVE + end)
    with pytest.raises(UsageError, match=r"UTF-8|deeply"):
        curve.load_curve(path)


def test_a_log_whose_header_is_no_text() -> None:
    good = msgspec.json.encode(header())
    damaged = good.replace(b'"mine"', b'"m\x9f"')
    assert damaged != good
    with pytest.raises(UsageError, match="not UTF-8"):
        file._header(Path("x.parquet"), {file.KEY: damaged})


@pytest.mark.parametrize(
    "text", ['[[rail]]\nname = "a"\nname = "b"\n', "x = " + "[" * 5000, f"x = {LONG}"]
)
def test_a_rails_file_with_a_key_twice_too_deep_or_a_number_too_long(
    tmp_path: Path, text: str
) -> None:
    path = tmp_path / "rails.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"rails\.toml"):
        assert RailsFile(path).rails


@pytest.mark.parametrize("text", ["x = " + "[" * 5000, f"x = {LONG}"])
def test_a_workload_too_deep_or_with_a_number_too_long(text: str) -> None:
    with pytest.raises(UsageError, match="not valid TOML"):
        workload_file.parse(text)


@pytest.mark.parametrize("text", ["x = " + "[" * 5000, f"x = {LONG}"])
def test_limits_too_deep_or_with_a_number_too_long(tmp_path: Path, text: str) -> None:
    path = tmp_path / "limits.toml"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"limits\.toml: not valid TOML"):
        limits.load(path)


@pytest.mark.parametrize(
    "number",
    [
        *("1e99999999", "1e-99999999", LONG, "1e999999999999999999999", "-1e101"),
        *("9" * 400, "-" + "9" * 400, "0x" + "f" * 5000, "0." + "9" * 400),
    ],
)
def test_a_number_that_would_take_hours_as_a_fraction(tmp_path: Path, number: str) -> None:
    path = tmp_path / "dcse.toml"
    path.write_text(f"gigabytes = {number}\n")
    with pytest.raises(UsageError, match=r"dcse\.toml") as refusal:
        inputs.dcse_inputs(path)
    assert len(refusal.value.message) < 300


def test_the_same_on_the_command_line() -> None:
    with pytest.raises(UsageError, match="1e100"):
        inputs.fraction_of("1e99999999", "--price")
    for text in ("9" * 400, "9" * 400 + "/1", "1/" + "9" * 400, "1/0", LONG, "nan", "-inf", "1//2"):
        with pytest.raises(UsageError, match="--price") as refusal:
            inputs.fraction_of(text, "--price")
        assert len(refusal.value.message) < 200
    assert inputs.fraction_of("1/3", "--price").denominator == 3
    with pytest.raises(UsageError, match="not a number"):
        inputs.fraction_of("x", "--price")


@pytest.mark.parametrize(
    ("parse", "text"),
    [
        (units.parse_duration_ns, LONG + "s"),
        (units.parse_size, LONG),
        (units.parse_percent, f"0.{LONG}%"),
        (units.parse_cpu_list, f"0,{LONG}"),
        (units.parse_numbers, f"1-{LONG}"),
        (units.parse_watts, LONG + "W"),
    ],
)
def test_numbers_of_more_digits_than_anybody_writes(
    parse: Callable[[str], object], text: str
) -> None:
    with pytest.raises(UsageError, match="too long"):
        parse(text)


def test_a_list_of_cpus_takes_as_long_as_it_is() -> None:
    assert units.parse_cpu_list("3," + "0-65535," * 50 + "7")[:3] == [3, 0, 1]


def test_a_log_with_any_byte_changed_is_read_or_refused(tmp_path: Path) -> None:
    whole = tmp_path / "whole.parquet"
    writer = file.LogWriter(whole)
    writer.add(records(20))
    writer.finish(header(records=20))
    data = whole.read_bytes()
    refused = 0
    for at in range(4, len(data), 5):
        path = tmp_path / "x.parquet"
        path.write_bytes(data[:at] + bytes([data[at] ^ 0x81]) + data[at + 1 :])
        try:
            assert all(batch.num_rows for batch in file.open_log(path).batches())
        except UsageError as error:
            assert "x.parquet" in error.message
            refused += 1
    assert refused > 100


def test_a_log_with_other_columns(tmp_path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "x.parquet"
    table = pa.table({"arrival_ns": [1, 2]})
    head = {file.KEY: msgspec.json.encode(header())}
    pq.write_table(table.replace_schema_metadata(head), path)
    with pytest.raises(UsageError, match="columns"):
        file.open_log(path)
