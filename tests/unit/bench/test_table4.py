# SPDX-License-Identifier: GPL-2.0
"""Table 4 of paper 002, out of what guests have written."""

from __future__ import annotations

import json
import subprocess
import threading
from pathlib import Path

import msgspec
import pytest
from bench import table4
from fleet import clients, lio, storage
from fleet.rig import BOOT_S, Rig
from lib.ctl import fleets, probes
from lib.waiting import eventually
from msgspec.structs import replace

from spekctl import files
from spekctl.documents.prober import ProberReport
from spekctl.documents.result import Result
from spekctl.documents.result_parts import Clocks, ProberTable
from spekctl.fleet import plan

SECOND = 10**9
OFFSET_NS = 500 * SECOND
PARTS = ("/dev/nullb0p1", "/dev/nullb0p2")


def samples(idle: list[float], disk: list[float]) -> ProberReport:
    """Seconds from 100 s on, whose CPU is idle, and whose disk is busy, for these parts."""
    report = probes.report(2)
    start_ns = [(100 + number) * SECOND for number in range(len(idle))]
    halves: list[list[int | None]] = [[round(part * SECOND / 2)] * 2 for part in idle]
    return replace(
        report,
        probe=replace(report.probe, started=Clocks(SECOND, 0, SECOND + OFFSET_NS)),
        start_ns=start_ns,
        end_ns=[at_ns + SECOND for at_ns in start_ns],
        tables=[
            ProberTable("machine", ["idle_ns", "iowait_ns"], halves),
            ProberTable(
                "disk nullb0", ["reads", "busy_time_ns"], [[0, round(p * SECOND)] for p in disk]
            ),
        ],
    )


def result(begin_s: float, end_s: float) -> Result:
    """Of a fleet; times are of the target's CLOCK_MONOTONIC."""
    fleet = fleets.three()[0]
    assert fleet.common is not None
    window = replace(
        fleet.common,
        start_ns=round(begin_s * SECOND) + OFFSET_NS,
        end_ns=round(end_s * SECOND) + OFFSET_NS,
    )
    return replace(fleet, common=window)


def test_the_target_is_judged_by_samples_inside_the_window() -> None:
    report = samples([1.0, 0.4, 0.2, 0.0, 1.0], [0.0, 0.8, 1.0, 1.0, 0.0])
    run = clients.Run(result(100.5, 103.5), report, {}, {})
    assert run.busy() == pytest.approx(0.7) and run.disk_busy() == pytest.approx(0.9)


def look(at_s: float, *reads: int) -> tuple[int, dict[str, dict[str, int]]]:
    counts = {node: {"reads": count} for node, count in zip(PARTS, reads, strict=True)}
    return round(at_s * SECOND) + OFFSET_NS, counts


def test_counters_are_from_shortly_before_a_run_to_after_it(tmp_path: Path) -> None:
    report = samples([0.5] * 5, [0.5] * 5)
    (tmp_path / "fleet-1.json").write_bytes(files.encode(result(101.0, 104.0)))
    (tmp_path / "fleet-1.spek1.json").write_bytes(files.encode(report))
    told = {
        # Claims read until 99 s; another run begins at 110 s.
        "parts": [look(98, 1, 1), look(99, 5, 5), look(100.4, 7, 9), look(100.9, 8, 9),
                  look(104.1, 106, 9), look(107, 107, 9), look(111, 150, 60)],
        "threads": [
            (look(100, 0, 0)[0], {"7/1": ("iscsi_ttx", 5)}),
            (look(101.5, 0, 0)[0], {"7/1": ("iscsi_ttx", 10), "8/1": ("kworker", 7),
                                    "9/1": ("kworker", 900)}),
            # One worker has ended, and its number is another's.
            (look(103.5, 0, 0)[0], {"7/1": ("iscsi_ttx", 40), "8/1": ("kworker", 8),
                                    "9/4": ("new", 3)}),
            (look(105, 0, 0)[0], {"7/1": ("iscsi_ttx", 900)}),
        ],
    }  # fmt: skip
    (tmp_path / "1.json").write_text(json.dumps({"looks": told}))
    (run,) = clients.runs(tmp_path, 1)
    assert run.parts == {PARTS[0]: {"reads": 100}, PARTS[1]: {"reads": 0}}
    assert run.cpu_ns == {"iscsi_ttx": 30, "kworker": 1, "new": 3}
    row = table4.row_of(run)
    assert row.cpu_busy == pytest.approx(0.5) and next(iter(row.threads)) == "iscsi_ttx"
    assert len(row.bytes_per_s) == len(run.clients())


def test_the_thread_that_reads_cpu_times_has_its_own_among_them() -> None:
    itself = threading.get_native_id()
    start = Path(f"/proc/self/task/{itself}/stat").read_text().rpartition(")")[2].split()[19]
    mine = f"{itself}/{start}"
    threads = storage.Threads(0)
    name, first_ns = threads.times()[mine]
    assert name == Path(f"/proc/self/task/{itself}/comm").read_text().strip()
    assert first_ns > 0
    # The kernel adds to a running thread's time at its ticks: two looks may come between two.
    eventually(lambda: threads.times()[mine][1] > first_ns, "its time does not grow", 60.0)
    assert threads.times()[mine][0] == name
    assert storage.Threads(itself).times()[mine][0] == storage.READER
    assert table4.parts_of({storage.READER: 1, "iscsi_ttx": 3})[storage.READER] == 0.25


def test_a_thread_that_ends_is_forgotten() -> None:
    """Its number may be another one's later."""
    threads, over = storage.Threads(0), threading.Event()
    thread = threading.Thread(target=over.wait)
    thread.start()
    number = f"{thread.native_id}/"
    assert any(key.startswith(number) for key in threads.times())
    over.set()
    thread.join()
    eventually(
        lambda: not any(key.startswith(number) for key in threads.times()), "it is listed", 60.0
    )
    assert str(thread.native_id) not in threads._known


def test_plans_are_read_by_a_fleet(tmp_path: Path) -> None:
    (tmp_path / "load.toml").write_text(clients.LOAD)
    (tmp_path / "plan.toml").write_text(clients.plan(3, 15))
    read = plan.load(tmp_path / "plan.toml")
    assert [host.role for host in read.hosts] == ["target", *["client"] * 3]
    devices = [host.devices for host in read.clients]
    assert len(set(devices)) == 3
    (first,) = devices[0]
    assert first == f"wwn:{lio.wwn(storage.part('/dev/nullb0', 1))}"
    assert len(first) == len("wwn:naa.") + 32


def test_a_table_is_written_as_it_is_read(tmp_path: Path) -> None:
    row = table4.Row([1e6], 0.1, 0.9, {"all else": 1.0})
    table = table4.Table4("6.12", 40_000_000, clients.MOST_BYTES_PER_S, [row])
    (tmp_path / table4.FILE).write_bytes(msgspec.json.encode(table))
    assert table4.load(tmp_path / table4.FILE) == table
    assert table4.rows_of(table) == [["1", "1.00", "10%", "90%", "all else 100%"]]
    assert "0.82 MB/s" in str(table4.sheet_of(table).verdict)


class Booting(Rig):
    """A guest that stays where it is."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, folder)
        self.limits: list[float] = []

    def boot(
        self, number: int, options: list[str], words: list[str], memory: str = "512M"
    ) -> subprocess.Popen[bytes]:
        (self.folder / f"output-{number}.log").write_text("waiting for a disk\n")
        sleeper = subprocess.Popen(["sleep", "600"])
        self.guests.append(sleeper)
        return sleeper

    def wait_ready(self, number: int, limit_s: float) -> None:
        self.limits.append(limit_s)
        super().wait_ready(number, 0)


def test_a_guest_that_does_not_boot_may_use_the_time_of_all_and_says_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(clients, "spekctl", lambda *words: None)
    rig = Booting(tmp_path)
    try:
        with pytest.raises(AssertionError, match="guest 1 does not boot: waiting for a disk"):
            clients.measure(rig, 3, 1)
    finally:
        rig.close()
    assert rig.limits == [4 * BOOT_S]
