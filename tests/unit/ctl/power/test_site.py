# SPDX-License-Identifier: GPL-2.0
"""Volts, power factor and temperature of a test: out of logs, or typed in."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from spekctl.errors import UsageError
from spekctl.power import site

S = 10**9
METER = "time_ns,power.nW,voltage.uV,pf.ppm\n"


def meter(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "meter.csv"
    path.write_text(METER + "".join(f"{line}\n" for line in lines))
    return path


def test_each_minute_has_the_mean_of_its_readings(tmp_path: Path) -> None:
    log = meter(
        tmp_path,
        f"{99 * S},1,1,1",
        f"{100 * S},1,230000000,800000",
        f"{160 * S},1,231000000,",
        f"{161 * S},1,9000000,1",
        f"{300 * S},1,240000000,900000",
    )
    wish = site.parse([f"volts={log}:voltage", f"power_factor={log}:pf"])
    first, last = wish.first(100 * S, 300 * S), wish.last(100 * S, 300 * S)
    report, remarks = site.site_of(wish, first, last)
    assert report is not None and remarks == []
    assert (report.volts, report.power_factor) == ("233.667", "0.850")
    assert report.sources == {"volts": f"{log}:voltage", "power_factor": f"{log}:pf"}
    assert first is not None and last is not None
    volts = first.readings["volts"]
    assert (volts.readings, volts.mean, first.end_ns) == (2, "230.500", 160 * S)
    assert (last.readings["volts"].mean, last.start_ns) == ("240.000", 240 * S)


def test_a_minute_reads_each_log_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs of days are long, however many columns are asked of them."""
    log = meter(tmp_path, f"{100 * S},1,230000000,800000")
    wish = site.parse([f"volts={log}:voltage", f"power_factor={log}:pf"])
    opened = []
    plain_open = Path.open

    def counted(path: Path, *arguments: Any, **options: Any) -> Any:
        opened.append(path)
        return plain_open(path, *arguments, **options)

    monkeypatch.setattr(Path, "open", counted)
    minute = wish.first(100 * S, 300 * S)
    assert minute is not None and set(minute.readings) == {"volts", "power_factor"}
    assert opened == [log]


def test_a_temperature_is_that_of_each_minute_and_can_be_missing(tmp_path: Path) -> None:
    log = tmp_path / "intake.csv"
    log.write_text(f"time_ns,nct/temp2.mC\n{5 * S},27500\n{6 * S},27600\n")
    wish = site.parse([f"celsius={log}:nct/temp2", "volts=211.14"])
    report, remarks = site.site_of(wish, wish.first(0, 10 * S), wish.last(300 * S, 400 * S))
    assert report is not None
    assert (report.first_celsius, report.last_celsius, report.volts) == ("27.550", None, "211.14")
    assert report.sources == {"volts": "given", "first_celsius": f"{log}:nct/temp2"}
    assert remarks == [f"site: {log}:nct/temp2 has no reading in the last minute under load"]


def test_a_restart_continues_a_log_and_a_boot_does_not(tmp_path: Path) -> None:
    log = meter(
        tmp_path,
        f"{50 * S},1,100000000,1",
        "time_ns,voltage.mV",
        f"{1 * S},1000",
        f"{51 * S},200000",
        "time_ns,voltage.V",
        f"{52 * S},300",
        "damaged",
        f"{53 * S},nan",
        f"{54 * S}",
    )
    with log.open("a") as stream:
        stream.write(f"{55 * S},7")  # under way
    wish = site.parse([f"volts={log}:voltage"])
    first = wish.first(49 * S, 60 * S)
    assert first is not None
    assert (first.readings["volts"].readings, first.readings["volts"].mean) == (2, "250.000")


def test_a_log_that_goes_is_a_remark(tmp_path: Path) -> None:
    log = meter(tmp_path, "1,1,1,1")
    wish = site.parse([f"volts={log}:voltage"])
    log.unlink()
    report, remarks = site.site_of(wish, wish.first(0, S), None)
    assert report is not None and report.volts is None
    assert len(remarks) == 2


def test_without_a_wish_there_is_no_site() -> None:
    wish = site.parse([])
    assert wish.minute(0, S) is None
    assert site.site_of(wish, None, None) == (None, [])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["volts"], "--site 'volts': write NAME=NUMBER"),
        (["volt=230"], "--site 'volt=230'"),
        (["volts=230", "volts=231"], "volts is given twice"),
        (["celsius=27"], "--site 'celsius=27': write"),
        (["first_celsius=log:temp1"], "--site 'first_celsius=log:temp1': write"),
        (["volts=nan"], "--site 'volts=nan': write"),
        (["volts=-230"], "--site 'volts=-230': volts must be from 1 to 100000"),
        (["power_factor=87"], "power_factor must be from -1 to 1"),
        (["last_celsius=-300"], "last_celsius must be from -100 to 200"),
        (["volts=gone.csv:voltage"], "cannot read gone.csv: No such file or directory"),
        (["volts=FILE:pf"], "has no column 'pf' in uV, mV, V; its columns: power.nW, voltage.uV"),
        (["volts=BARE:pf"], "has no header line 'time_ns,NAME.UNIT,...'"),
    ],
)
def test_wrong_words_are_refused(words: list[str], sentence: str, tmp_path: Path) -> None:
    log = meter(tmp_path)
    bare = tmp_path / "bare.csv"
    bare.write_text("1,2\n")
    given = [word.replace("FILE", str(log)).replace("BARE", str(bare)) for word in words]
    with pytest.raises(UsageError) as refused:
        site.parse(given)
    assert sentence in refused.value.message
