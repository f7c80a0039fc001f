# SPDX-License-Identifier: GPL-2.0
"""Files that pictures are drawn from, and the foot that says so."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import msgspec
import pytest
from lib.ctl import report_files
from lib.ctl.benchmark_reports import ListReport
from lib.ctl.fleets import Spec, fleet_of, three
from lib.ctl.plot_files import (
    OPEN,
    facts,
    records,
    write_curve,
    write_log,
    write_report,
    write_result,
    write_rounds,
    write_streams,
)
from lib.ctl.plot_seen import foot, our_style
from lib.fakes.machine import disk

from spekctl import files
from spekctl.documents.curve import load_curve
from spekctl.documents.result import load_result
from spekctl.errors import UsageError
from spekctl.fleet.merge import merge
from spekctl.plots import addresses, power, source, timeline

drawing = pytest.fixture(autouse=True)(our_style)


def test_the_foot_names_the_machine_if_it_has_a_name(tmp_path: Path) -> None:
    whole = load_result(write_result(tmp_path / "r.json", []))
    for name, end in (("rig7", " on rig7"), ("(none)", "Linux 6.1"), ("", "Linux 6.1")):
        machine = msgspec.structs.replace(whole.environment, hostname=name, kernel="6.1")
        renamed = msgspec.structs.replace(whole, environment=machine)
        assert source.result_origin(Path("r.json"), renamed).details.endswith(end)


@pytest.mark.parametrize("picture", [timeline, power], ids=["timeline", "power"])
def test_a_result_without_phases_has_no_time_to_draw_over(
    tmp_path: Path, picture: ModuleType
) -> None:
    whole = load_result(report_files.powered_result(tmp_path / "r.json"))
    path = tmp_path / "bare.json"
    path.write_bytes(files.encode(msgspec.structs.replace(whole, phases=[])))
    with pytest.raises(UsageError, match=r"bare\.json does not say when its run started"):
        picture.of_result(path)


def test_phases_of_no_length_are_drawn_over_the_time_of_the_intervals(tmp_path: Path) -> None:
    whole = load_result(report_files.powered_result(tmp_path / "r.json"))
    phases = [msgspec.structs.replace(phase, end_ns=phase.start_ns) for phase in whole.phases]
    path = tmp_path / "short.json"
    path.write_bytes(files.encode(msgspec.structs.replace(whole, phases=phases)))
    drawn = timeline.draw(timeline.of_result(path))
    assert drawn.axes[-1].get_xlim() == (0, 12.25)


def test_lost_records_and_early_ends_are_told(tmp_path: Path) -> None:
    log = write_log(tmp_path / "a.parquet", records(900), lost=100, reason="stopped")
    text = foot(addresses.draw(addresses.read(log)))
    assert "100 of 1,000 I/Os not logged" in text
    assert "run ended early (stopped)" in text


@pytest.mark.parametrize(
    ("model", "text"), [("", "/dev/x (10 GiB)"), ("Disk  ", "/dev/x (Disk, 10 GiB)")]
)
def test_a_device_has_its_model_if_it_says_one(model: str, text: str) -> None:
    assert source.device(facts(model)) == text


def test_a_report_has_the_foot_of_its_curve(tmp_path: Path) -> None:
    plain = source.document_origin(write_curve(tmp_path / "c.json", OPEN))
    report = source.document_origin(write_report(tmp_path / "r.json", OPEN[:2], OPEN))
    assert (plain.file, report.file) == ("c.json", "r.json")
    assert (plain.workload, plain.details) == (report.workload, report.details)


def test_a_curve_that_was_broken_off_says_so(tmp_path: Path) -> None:
    path = write_curve(tmp_path / "c.json", OPEN)
    assert "not complete" not in source.document_origin(path).details
    broken = msgspec.structs.replace(load_curve(path), complete=False)
    path.write_bytes(files.encode(broken))
    assert ", not complete" in source.document_origin(path).details


@pytest.mark.parametrize(
    ("write", "notice"), [(write_streams, "SPC-2-like"), (write_rounds, "PTS-like")]
)
def test_a_test_has_its_notice_in_the_foot(
    write: Callable[[Path], Path], notice: str, tmp_path: Path
) -> None:
    assert source.document_origin(write(tmp_path / "t.json")).workload == f"{notice}, unaudited"


def test_a_result_is_a_line_across_a_load_curve_and_a_verification_is_none(tmp_path: Path) -> None:
    path = write_result(tmp_path / "r.json", [])
    assert source.document_origin(path).file == "r.json"
    with pytest.raises(UsageError, match="a curve is drawn from"):
        source.document_origin(report_files.make(tmp_path, "verify"))


def test_a_benchmark_has_its_verdict_devices_and_notice_in_the_foot() -> None:
    report = ListReport(targets=[disk().facts()])
    origin = source.report_origin(Path("there/list.json"), report)
    assert (origin.file, origin.workload) == ("list.json", "LIST-like, unaudited")
    assert origin.devices == (source.device(report.targets[0]),)
    assert origin.details == "the outcome"


def test_the_foot_of_a_fleet_names_hosts_or_counts_them() -> None:
    few = source.result_origin(Path("f.json"), merge(three()))
    assert few.devices[0].startswith("alpha:/dev/x (M, ") and few.details.endswith(" on 3 hosts")
    many = merge([fleet_of(Spec(f"host{number}")) for number in range(5)])
    assert source.result_origin(Path("f.json"), many).devices == ("5 devices of 5 hosts",)
