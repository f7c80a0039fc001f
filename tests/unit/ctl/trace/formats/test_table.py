# SPDX-License-Identifier: GPL-2.0
"""CSV with named columns: names that say their unit, and --column for the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.traces import read_text

from spekctl.errors import UsageError


def test_names_with_units_need_no_option(tmp_path: Path) -> None:
    text = (
        "at_us,device,offset_sectors,op,bytes,fua,note\n5,sda,8,read,4096,0,x\n7.25,sdb,9,w,1,1,y\n"
    )
    rows, trace = read_text(tmp_path, text)
    assert trace.parts[0].format.name == "csv"
    assert rows == [(0, "sda", 4096, 4096, "read"), (2250, "sdb", 4608, 1, "write+")]


def test_other_names_are_given(tmp_path: Path) -> None:
    text = "when;lba;length;kind\n100;1;8;Read\n130;3;16;discard\n"
    columns = ("at=when:100ns", "offset=lba:4096", "size=length:512", "op=kind")
    rows, _ = read_text(tmp_path, text, format="csv", columns=columns)
    assert rows == [(0, "0", 4096, 4096, "read"), (3000, "0", 12288, 8192, "discard")]


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ((), "no column for at; name it with --column FIELD=COLUMN:UNIT"),
        (("at",), "write FIELD=COLUMN"),
        (("sise=op",), "did you mean 'size'?"),
        (("at=when:h",), "a time is in ns, us, ms, s, 100ns"),
        (("at=wen",), "there is no column 'wen'; there are when, offset_bytes, bytes, op"),
        (("at=when", "offset=bytes:0"), "the unit is a number of bytes"),
        (("at=bytes",), "a column is used for two fields"),
    ],
)
def test_wrong_columns_get_a_sentence(
    columns: tuple[str, ...], sentence: str, tmp_path: Path
) -> None:
    text = "when,offset_bytes,bytes,op\n1,2,3,r\n"
    with pytest.raises(UsageError, match=r".") as caught:
        read_text(tmp_path, text, format="csv", columns=columns)
    assert sentence in caught.value.message


def test_columns_that_may_both_be_meant_have_to_be_chosen(tmp_path: Path) -> None:
    text = "time_ms,time_us,offset_sectors,bytes,op\n1,2000,8,512,r\n"
    with pytest.raises(UsageError) as caught:
        read_text(tmp_path, text, format="csv")
    assert caught.value.message.endswith(
        "columns time_ms, time_us each mean 'at'; choose one with --column at=COLUMN:UNIT"
    )
    text += "2,3000,8,512,w\n"
    rows, _ = read_text(tmp_path, text, format="csv", columns=("at=time_us:us",))
    assert [row[0] for row in rows] == [0, 1_000_000]


def test_bad_values_are_bad_lines(tmp_path: Path) -> None:
    text = "at_ns,offset_bytes,bytes,op,fua\n1,2,3,r,0\n2,2,3,r,2\n3,2,3,erase,0\n4,x,3,r,0\n"
    rows, trace = read_text(tmp_path, text)
    assert (len(rows), trace.faults.bad) == (1, 3)
    assert trace.faults.first is not None
    assert (trace.faults.first.number, trace.faults.first.reason) == (3, "fua is neither 0 nor 1")


def test_filetimes_are_times(tmp_path: Path) -> None:
    text = "when,offset_bytes,bytes,op\n128166372003061629,0,1,r\n128166372003061630,1,1,r\n"
    text += "0,2,1,r\n184467440737095516,2,1,r\n"
    rows, trace = read_text(tmp_path, text, format="csv", columns=("at=when:100ns",))
    assert [rows[0] for rows in rows] == [0, 128166372003061629 * 100, 128166372003061630 * 100]
    assert trace.faults.first is not None
    assert (trace.faults.first.number, trace.faults.first.reason) == (5, "a time beyond 584 years")


@pytest.mark.parametrize("word", ["trim", "TRIM", "Trim", "Sync", "WRITE-ZEROES", "Write-Zeroes"])
def test_operations_in_any_usual_case(word: str, tmp_path: Path) -> None:
    rows, _ = read_text(tmp_path, f"at_ns,offset_bytes,bytes,op\n1,0,512,{word}\n")
    wanted = {"trim": "discard", "sync": "flush"}.get(word.lower(), word.lower())
    assert rows == [(0, "0", 0, 512, wanted)]


def test_fields_may_be_in_quotes(tmp_path: Path) -> None:
    plain = "at_us,device,offset_bytes,bytes,op,note\n5,sda,0,4096,read,\n7,sdb,8,512,Write,x y\n"
    quoted = "".join(
        ",".join(f'"{field}"' for field in line.split(",")) + "\r\n" for line in plain.splitlines()
    )
    strings = plain.replace("sda", ' "sda"').replace("read", '"read" ').replace("x y", '"x ""y"')
    wanted, _ = read_text(tmp_path, plain)
    for text in (quoted, quoted.replace(",", ";"), strings):
        rows, trace = read_text(tmp_path, text)
        assert (rows, trace.faults.bad) == (wanted, 0)
    bad = '7,"sdb,8,512,Write,z\n8,sda,"9,9",512,r,z\n'
    rows, trace = read_text(tmp_path, plain + bad + '9,"sda",0,1,"r",z\n')
    assert rows == [*wanted, (2000, '"sdb', 8, 512, "write"), (4000, "sda", 0, 1, "read")]
    assert trace.faults.first is not None
    assert (trace.faults.bad, trace.faults.first.number) == (1, 5)


def test_columns_that_are_not_read_may_have_equal_names(tmp_path: Path) -> None:
    text = "at_us,x,offset_bytes,bytes,op,x,,\n5,a,8,512,r,b,,\n"
    rows, trace = read_text(tmp_path, text)
    assert (rows, trace.faults.bad) == ([(0, "0", 8, 512, "read")], 0)
    with pytest.raises(UsageError, match="two columns have the name 'bytes'"):
        read_text(tmp_path, "at_us,bytes,offset_bytes,bytes,op\n5,1,8,512,r\n")
