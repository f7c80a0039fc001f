# SPDX-License-Identifier: GPL-2.0
"""spekctl drive new, list, stats, fault and delete on a fake kernel."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl, caller
from lib.fakes.drives import FakeDrives

from spekctl.commands import drive_kernel
from spekctl.kernel import drives
from spekctl.kernel.gen.spek_drive_records import Fault

NODES = {"/dev/sdb", "/dev/sdc", "/dev/sdd"}


@pytest.fixture
def spekctl(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Spekctl:
    monkeypatch.setenv("COLUMNS", "160")
    exists = os.path.exists
    monkeypatch.setattr(os.path, "exists", lambda path: str(path) in NODES or exists(path))
    monkeypatch.setattr(drive_kernel, "NODE_S", 0.2)
    monkeypatch.setattr(drive_kernel, "GONE_S", 0.01)
    return caller(capfd)


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeDrives:
    fake = FakeDrives(tmp_path)
    monkeypatch.setattr(drives, "Link", fake)
    monkeypatch.setattr(drive_kernel, "SCSI_HOSTS", str(tmp_path))
    return fake


def test_a_new_drive_says_its_disk(spekctl: Spekctl, fake: FakeDrives) -> None:
    done = spekctl("drive", "new", "barracuda-es", "--arms", 4, "--rpm", 5200, "--serial", "A1")
    assert (done.code, done.out) == (0, "/dev/sdb\n")
    assert done.sentence == "drive 1: Seagate ST3750640NS (Barracuda ES)"
    values = fake.known[1]
    assert (values["arms"], values["serial"], values["name"]) == (4, "A1", "barracuda-es")
    assert (values["queue_depth"], values["period_ps"]) == (32, 60 * 10**12 // 5200)


def test_drives_do_not_turn_in_step(spekctl: Spekctl, fake: FakeDrives) -> None:
    for _ in range(2):
        spekctl("drive", "new", "mach2")
    first, second = (fake.known[number]["phase"] for number in (1, 2))
    assert first != second
    spekctl("drive", "new", "mach2", "--seed", 0)
    assert fake.known[3]["phase"] == first


def test_drives_are_listed(spekctl: Spekctl) -> None:
    assert spekctl("drive", "list").sentence == "no drives; `spekctl drive new` creates one"
    spekctl("drive", "new", "barracuda-es")
    (line,) = spekctl("drive", "list").out.splitlines()[1:]
    assert line.split() == [
        *("1", "/dev/sdb", "barracuda-es", "active", "750.2", "GB", "7,200", "1", "hwmon1"),
    ]
    (entry,) = json.loads(spekctl("drive", "list", "--json").out)
    assert (entry["disk"], entry["state"], entry["sectors"]) == ("/dev/sdb", "ready", 1465149168)


def test_nothing_of_a_list_is_cut_in_a_narrow_terminal(
    spekctl: Spekctl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("FORCE_COLOR", "1")
    spekctl("drive", "new", "mach2", "--name", "x" * 31)
    assert "\N{HORIZONTAL ELLIPSIS}" not in spekctl("drive", "list").out


def test_statistics_by_number_and_by_disk(spekctl: Spekctl) -> None:
    spekctl("drive", "new", "barracuda-es")
    text = spekctl("drive", "stats", "/dev/sdb").out
    assert "drive 1: barracuda-es, /dev/sdb, active" in text
    assert "serial SPEK1, hwmon1, outstanding 0, data 0 B" in text
    assert "10.0 s, 100 accesses, 90 of them with a seek" in text
    assert text == spekctl("drive", "stats", 1).out
    shown = json.loads(spekctl("drive", "stats", 1, "--json").out)
    assert [energy["nj"] for energy in shown["energies"]] == [30 * 10**9, 63 * 10**9]
    assert shown["lateness"]["mean_ns"] == 40_000
    assert shown["lateness"]["p50_ns"] <= shown["lateness"]["p99_ns"] <= 60_000


def test_drives_are_deleted(spekctl: Spekctl, fake: FakeDrives) -> None:
    for _ in range(3):
        spekctl("drive", "new", "barracuda-es")
    assert spekctl("drive", "delete", "/dev/sdb").code == 0
    assert sorted(fake.known) == [2, 3]
    fake.stays = True
    done = spekctl("drive", "delete", "--all")
    assert done.err.splitlines() == [
        f"spekctl: drive {number} will be deleted when its disk is closed" for number in (2, 3)
    ]


def test_a_drive_without_a_disk_is_deleted_again(
    spekctl: Spekctl, fake: FakeDrives, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drive_kernel, "SCSI_HOSTS", "/nowhere")
    done = spekctl("drive", "new", "barracuda-es")
    assert "drive 1 has no disk after 0.2 s" in done.sentence
    assert not fake.known
    fake.fails = "the kernel has no memory"
    assert "no drive: the kernel has no memory" in spekctl("drive", "new", "mach2").sentence
    assert not fake.known


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("new", "nosuch"), "there is no model 'nosuch'"),
        (("new", "mach2", "--serial", "x" * 21), "--serial has 21 characters; allowed are 20"),
        (("new", "mach2", "--name", "x" * 32), "--name has 32 characters; allowed are 31"),
        (("new", "mach2", "--spin", "201us"), "--spin is 201 us; allowed are 0 to 200 us"),
        (("new", "mach2", "--spin", "100"), "--spin"),
        (
            ("new", "mach2", "--atomic-write", "12KiB"),
            "--atomic-write is 12 KiB; allowed are power",
        ),
        (("new", "mach2", "--atomic-write", "64MiB"), "512 bytes to 16 MiB"),
        (("stats", "7"), "there is no drive 7; the numbers are: none"),
        (("delete",), "name the drives to delete, or give --all instead"),
        (("delete", "1", "--all"), "name the drives to delete, or give --all instead"),
        (("delete", "/dev/sdx"), "there is no drive /dev/sdx"),
    ],
)
def test_refusals_are_sentences(spekctl: Spekctl, words: tuple[str, ...], sentence: str) -> None:
    done = spekctl("drive", *words)
    assert done.code == 2
    assert sentence in done.sentence


def failed_arms(fake: FakeDrives) -> list[int]:
    faults = fake.known[1].get("faults", [])
    assert all(Fault(fault["kind"]) is Fault.ARM_FAILED for fault in faults)
    return [fault.get("number", 0) for fault in faults]


def test_arms_fail_and_are_mended(spekctl: Spekctl, fake: FakeDrives) -> None:
    spekctl("drive", "new", "barracuda-es", "--arms", 4)
    assert spekctl("drive", "fault", "/dev/sdb", "--arm", 3, "--arm", 0).code == 0
    assert failed_arms(fake) == [3, 0]
    assert spekctl("drive", "fault", 1, "--clear", "--arm", 2).code == 0
    assert failed_arms(fake) == [2]
    assert spekctl("drive", "fault", 1, "--clear").code == 0
    assert failed_arms(fake) == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((1,), "give the arms to fail (--arm), or --clear"),
        ((1, "--arm", 1, "--arm", 1), "--arm: an arm is given twice"),
        ((7, "--clear"), "there is no drive 7; the numbers are: 1"),
        ((1, "--arm", 4), "The drive has no such arm."),
    ],
)
def test_arms_that_cannot_fail_are_refused(
    spekctl: Spekctl, fake: FakeDrives, words: tuple[object, ...], sentence: str
) -> None:
    spekctl("drive", "new", "barracuda-es", "--arms", 4)
    refused = spekctl("drive", "fault", *words)
    assert refused.code != 0 and sentence.lower() in refused.sentence.lower()
    assert failed_arms(fake) == []
