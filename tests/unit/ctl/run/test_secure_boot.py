# SPDX-License-Identifier: GPL-2.0
"""What Secure Boot lets the kernel load, on machines that are directories.

How doctor tells it is tested with its other findings.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from spekctl.run import secure_boot
from spekctl.run.secure_boot import EFI, REQUESTED, SECURE_BOOT, TRUSTED

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
