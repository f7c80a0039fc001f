# SPDX-License-Identifier: GPL-2.0
"""What Secure Boot lets the kernel load, and what spekctl doctor says of it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.fakes.rig import UPDATES, Rig, doctor

from spekctl import __version__
from spekctl.errors import ExitCode
from spekctl.run import secure_boot
from spekctl.run.secure_boot import EFI, REQUESTED, SECURE_BOOT, TRUSTED

EFIVARS = SECURE_BOOT.parent
SERIAL = "F2:30:8E:72:01:A7:EB:34:3E:98:05:34:B1:F3:45:DA:27:A9:D0:3B"
# What a certificate has: a zero before a number that looks negative.
CERTIFICATE = b"before\x02\x15\0" + bytes.fromhex(SERIAL.replace(":", "")) + b"after"
SIGNATURE = f"sig_id:         PKCS#7\nsigner:         DKMS key\nsig_key:        {SERIAL}\n"


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    return Rig(tmp_path / "machine")


@pytest.fixture
def locked(rig: Rig, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Rig:
    """A machine that started with Secure Boot and has not loaded its module. What modinfo says of
    it is in the file signature."""
    rig.put(str(SECURE_BOOT), b"\6\0\0\0\1")
    rig.remove("sys/module/spek")
    rig.put(f"{UPDATES}/spek.ko", "")
    program = tmp_path / "bin/modinfo"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho srcversion: A\ncat {rig.root}/signature\n")
    program.chmod(0o755)
    rig.put("signature", SIGNATURE)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)
    return rig


def test_secure_boot_is_no_matter_once_the_module_is_loaded(spekctl: Spekctl, rig: Rig) -> None:
    rig.put(str(SECURE_BOOT), b"\6\0\0\0\1")
    assert doctor(spekctl, rig) == (0, {})
    rig.remove("sys/module/spek")
    level, text, remedy = doctor(spekctl, rig)[1]["secure boot"]
    assert level == "note" and "only modules signed with an enrolled key" in text
    assert remedy.endswith("then mokutil --import /var/lib/dkms/mok.pub")
    rig.put(str(SECURE_BOOT), b"\6\0\0\0\0")
    assert "secure boot" not in doctor(spekctl, rig)[1]


def test_a_module_without_a_signature_is_refused(spekctl: Spekctl, locked: Rig) -> None:
    locked.put("signature", "version: 1\n")
    code, findings = doctor(spekctl, locked)
    assert code == ExitCode.NO_KERNEL_SIDE
    level, text, remedy = findings["secure boot"]
    assert level == "stops"
    assert f"{locked.root / UPDATES}/spek.ko is not signed: the kernel refuses it" in text
    assert remedy == (
        f"dkms add . && dkms install spek/{__version__} signs it;"
        " then mokutil --import /var/lib/dkms/mok.pub"
    )


def test_a_kernel_that_loads_anything_needs_no_signature(spekctl: Spekctl, locked: Rig) -> None:
    locked.put("signature", "version: 1\n")
    locked.put("sys/module/module/parameters/sig_enforce", "N")
    locked.put("sys/kernel/security/lockdown", "none [integrity] confidentiality")
    assert "secure boot" in doctor(spekctl, locked)[1]
    locked.put("sys/kernel/security/lockdown", "[none] integrity confidentiality")
    assert "secure boot" not in doctor(spekctl, locked)[1]
    locked.put("sys/module/module/parameters/sig_enforce", "Y")
    assert "secure boot" in doctor(spekctl, locked)[1]


@pytest.mark.parametrize(
    "variable",
    [
        EFIVARS / "MokListRT-605dab50-e046-4300-abb6-3dd810dd8b23",
        EFIVARS / "db-d719b2cb-3d3a-4596-a3bc-dad00e67656f",
        EFIVARS.parent / "mok-variables/MokListRT1",
    ],
    ids=lambda path: path.name,
)
def test_a_key_that_the_firmware_knows_is_found(
    spekctl: Spekctl, locked: Rig, variable: Path
) -> None:
    locked.put(str(variable), b"\6\0\0\0" + CERTIFICATE)
    assert "secure boot" not in doctor(spekctl, locked)[1]
    text = spekctl("doctor", "--root", locked.root).out
    assert f"is signed with a key (DKMS key, {SERIAL}) that the firmware knows\n" in text


def test_a_key_that_the_firmware_does_not_know_is_to_be_enrolled(
    spekctl: Spekctl, locked: Rig
) -> None:
    # Another one of the same name, as each installation of dkms makes it.
    locked.put(str(EFIVARS / "MokListRT-605dab50"), CERTIFICATE.replace(b"\xf2", b"\xf3"))
    level, text, remedy = doctor(spekctl, locked)[1]["secure boot"]
    assert level == "note" and f"a key (DKMS key, {SERIAL}) that the firmware does not know" in text
    assert remedy.startswith("mokutil --import the certificate of that key, restart")
    for name in ("var/lib/shim-signed/mok/MOK.der", "var/lib/dkms/mok.pub"):
        locked.put(name, CERTIFICATE)
        remedy = doctor(spekctl, locked)[1]["secure boot"][2]
        assert remedy.startswith(f"mokutil --import /{name}, restart and choose 'Enroll MOK'")
    locked.put(str(EFIVARS / "MokNew-605dab50"), CERTIFICATE)
    assert "enrolment is requested" in doctor(spekctl, locked)[1]["secure boot"][2]


def test_a_signature_without_a_number_is_of_a_key_that_nobody_knows(
    spekctl: Spekctl, locked: Rig
) -> None:
    locked.put("signature", "sig_id: PKCS#7\nsigner:\nsig_key: unknown\n")
    assert "a key (unknown, unknown)" in doctor(spekctl, locked)[1]["secure boot"][1]


# ---- what it is made of ----

LOW, HIGH = bytes.fromhex("7a01"), bytes.fromhex("f201")  # HIGH looks negative


def put(root: Path, name: str | Path, data: bytes) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


@pytest.mark.parametrize(
    ("data", "on"),
    [
        (None, False),
        (b"", False),
        (b"\6\0\0\0", False),
        (b"\6\0\0\0\0", False),
        (b"\6\0\0\0\1", True),
        # The attributes come first, and say nothing.
        (b"\1\1\1\1\0", False),
    ],
)
def test_secure_boot_is_on_where_the_variable_says_so(
    tmp_path: Path, data: bytes | None, on: bool
) -> None:
    if data is not None:
        put(tmp_path, SECURE_BOOT, data)
    assert secure_boot.is_on(tmp_path) is on


@pytest.mark.parametrize(
    ("lockdown", "enforce", "enforced"),
    [
        (None, None, True),
        (b"[none] integrity confidentiality\n", b"N\n", False),
        (b"[none] integrity confidentiality\n", b"Y\n", True),
        (b"none [integrity] confidentiality\n", b"N\n", True),
        (None, b"N\n", True),
        (b"[none] integrity confidentiality\n", None, True),
    ],
)
def test_signatures_matter_unless_both_files_say_otherwise(
    tmp_path: Path, lockdown: bytes | None, enforce: bytes | None, enforced: bool
) -> None:
    for name, data in (
        ("sys/kernel/security/lockdown", lockdown),
        ("sys/module/module/parameters/sig_enforce", enforce),
    ):
        if data is not None:
            put(tmp_path, name, data)
    assert secure_boot.is_enforced(tmp_path) is enforced


@pytest.mark.parametrize("serial", [LOW, HIGH], ids=["positive", "negative"])
def test_a_certificate_is_known_by_its_whole_number(serial: bytes) -> None:
    written = b"\0" * (serial == HIGH) + serial
    whole = b"before" + bytes((2, len(written))) + written + b"after"
    assert secure_boot.has_certificate(whole, serial)
    assert not secure_boot.has_certificate(whole, serial[:1])
    assert not secure_boot.has_certificate(whole, serial + b"\1")
    assert not secure_boot.has_certificate(b"before" + serial + b"after", serial)
    assert not secure_boot.has_certificate(b"", serial)


def test_variables_are_looked_for_by_their_pattern(tmp_path: Path) -> None:
    certificate = bytes((2, 2)) + LOW
    assert not secure_boot.lists(tmp_path, LOW, TRUSTED)
    put(tmp_path, EFI / "efivars/MokListXRT-1", certificate)  # what is forbidden
    put(tmp_path, EFI / "efivars/dbx-1", certificate)
    assert not secure_boot.lists(tmp_path, LOW, TRUSTED)
    put(tmp_path, EFI / "efivars/MokNew-1", certificate)
    assert secure_boot.lists(tmp_path, LOW, REQUESTED)
    assert not secure_boot.lists(tmp_path, LOW, TRUSTED)
    put(tmp_path, EFI / "mok-variables/MokListRT1", certificate)
    assert secure_boot.lists(tmp_path, LOW, TRUSTED)
    assert not secure_boot.lists(tmp_path, HIGH, TRUSTED)


def test_the_file_to_enrol_is_that_of_the_key(tmp_path: Path) -> None:
    assert secure_boot.certificate_of(tmp_path, LOW) == ""
    put(tmp_path, "var/lib/dkms/mok.pub", bytes((2, 2)) + bytes.fromhex("7a02"))
    assert secure_boot.certificate_of(tmp_path, LOW) == ""
    put(tmp_path, "var/lib/shim-signed/mok/MOK.der", bytes((2, 2)) + LOW)
    assert secure_boot.certificate_of(tmp_path, LOW) == "/var/lib/shim-signed/mok/MOK.der"
