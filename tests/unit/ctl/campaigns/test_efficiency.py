# SPDX-License-Identifier: GPL-2.0
"""Work per watt by several methods beside each other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lib.ctl import report_files
from lib.ctl.plot_files import facts
from msgspec.structs import replace

from spekctl.campaigns import efficiency
from spekctl.campaigns.dcse.report import build as dcse_report
from spekctl.documents import document
from spekctl.documents.dcse import Inputs
from spekctl.documents.energy import EmeraldReport, Spc1eReport
from spekctl.documents.spc2 import Spc2eReport
from spekctl.errors import UsageError

KINDS: dict[str, Any] = {
    "spc1e": (report_files.energy_spc1e, Spc1eReport),
    "spc2e": (report_files.energy_spc2e, Spc2eReport),
    "emerald": (report_files.energy_emerald, EmeraldReport),
}


def written(folder: Path, name: str, **changes: Any) -> Path:
    """A report of a kind, with other values in some fields."""
    make, kind = KINDS[name]
    path = make(folder / f"{name}.json")
    report: Any = document.read(path, kind)
    return report_files.written(path, replace(report, **changes))


def test_each_metric_is_that_of_its_report(tmp_path: Path) -> None:
    paths = [written(tmp_path, name) for name in KINDS]
    paths.append(report_files.energy_dcse(tmp_path / "dcse.json"))
    rows = efficiency.compare(paths).rows
    assert list(dict.fromkeys(row.method for row in rows)) == [
        *("SPC-1/E", "SPC-2/E", "Emerald", "DCsE")
    ]
    spc1e = document.read(paths[0], Spc1eReport).composite
    spc2e = document.read(paths[1], Spc2eReport).composite
    assert spc1e is not None and spc2e is not None
    assert (rows[0].value, rows[0].unit) == (spc1e.iops_per_watt, "IOPS/W")
    assert (rows[1].value, rows[1].unit) == (spc2e.mb_s_per_watt, "MB/s/W")
    phases = document.read(paths[2], EmeraldReport).phases
    assert [(row.metric, row.load, row.work, row.value) for row in rows[2:4]] == [
        (phase.metric, phase.name, phase.work, phase.value) for phase in phases
    ]


def test_dcse_has_the_metrics_whose_numbers_are_known(tmp_path: Path) -> None:
    known = Inputs(
        iops=report_files.figure(60).fraction, load_watts=report_files.figure(8).fraction
    )
    path = report_files.written(tmp_path / "dcse.json", dcse_report(known, None, "x"))
    (row,) = efficiency.compare([path]).rows
    assert (row.metric, row.work, row.watts, row.value.text) == ("workload", "60", "8", "7.50")


def test_a_report_without_a_metric_is_named_with_its_reason(tmp_path: Path) -> None:
    path = written(tmp_path, "spc1e", composite=None, verdict="performance only: no power")
    compared = efficiency.compare([path])
    assert compared.rows == []
    assert compared.remarks == [f"{path}: there is no metric: performance only: no power"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_test_that_failed_is_said(tmp_path: Path, kind: str) -> None:
    assert efficiency.compare([written(tmp_path, kind, passed=True)]).remarks == []
    path = written(tmp_path, kind, passed=False, verdict="failed: conditioning: errors")
    compared = efficiency.compare([path])
    assert compared.rows and compared.remarks == [
        f"{path}: its test did not pass: failed: conditioning: errors"
    ]


def test_devices_tell_whether_the_system_is_the_same(tmp_path: Path) -> None:
    first = replace(facts(), path="/dev/sda", serial="A", bytes=10**12)
    second = replace(first, path="/dev/sdb")
    # Under another name, the same.
    same = [
        written(tmp_path, "spc1e", targets=[first]),
        written(tmp_path, "spc2e", targets=[second], passed=True),
    ]
    assert efficiency.compare(same).remarks == []
    different = replace(first, serial="B")
    path = written(tmp_path, "emerald", targets=[different], passed=True)
    (remark,) = efficiency.compare([*same, path]).remarks
    assert remark.startswith(f"{path} is of /dev/sda (1,000.0 GB), {same[0]} of /dev/sda")
    nameless = replace(first, serial="")
    # An md array had no serial number in earlier versions.
    paths = [written(tmp_path, "spc1e", targets=[nameless]), *same[1:]]
    assert efficiency.compare(paths).remarks
    paths[1] = written(tmp_path, "spc2e", targets=[first], passed=True)
    assert efficiency.compare(paths).remarks == []
    more = written(tmp_path, "spc2e", targets=[first, different], passed=True)
    assert efficiency.compare([paths[0], more]).remarks
    elsewhere = [replace(nameless, path="/dev/sdc")]
    moved = written(tmp_path, "emerald", targets=elsewhere, passed=True)
    assert efficiency.compare([written(tmp_path, "spc1e", targets=[nameless]), moved]).remarks


def test_a_report_that_names_no_device_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "spc1e", targets=[facts()])
    dcse = report_files.energy_dcse(tmp_path / "dcse.json")
    assert efficiency.compare([path, dcse]).remarks == [
        f"{dcse} names no device: make sure that the system is the same"
    ]
    assert efficiency.compare([dcse]).remarks == []


def test_what_is_no_such_report_is_refused(tmp_path: Path) -> None:
    path = report_files.study(tmp_path / "study.json")
    with pytest.raises(UsageError, match="metrics are compared from a report of"):
        efficiency.compare([path])
