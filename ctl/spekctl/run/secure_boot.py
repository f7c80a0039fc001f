# SPDX-License-Identifier: GPL-2.0-or-later
"""What Secure Boot lets the kernel load, from sysfs and procfs alone.

A module's signature names its key by the serial number of the key's certificate. The certificates
that the firmware trusts are in EFI variables, byte for byte, so the number is looked for in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

EFI = Path("sys/firmware/efi")
SECURE_BOOT = EFI / "efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
# The owner's keys as shim hands them on, which may be longer than a variable, and the firmware's.
TRUSTED = ("mok-variables/MokListRT*", "efivars/MokListRT*", "efivars/db-*")
# What mokutil --import has asked for and nobody has confirmed at a boot yet.
REQUESTED = ("efivars/MokNew-*",)
# Of the keys that dkms signs with, on Debian and on Ubuntu.
CERTIFICATES = ("var/lib/dkms/mok.pub", "var/lib/shim-signed/mok/MOK.der")


def _bytes(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""


def is_on(root: Path) -> bool:
    """True if the firmware started the machine below @root with Secure Boot."""
    return _bytes(root / SECURE_BOOT)[4:5] == b"\1"  # after four bytes of attributes


def is_enforced(root: Path) -> bool:
    """False if the kernel is known to load modules whatever their signature."""
    lockdown = _bytes(root / "sys/kernel/security/lockdown")
    enforced = _bytes(root / "sys/module/module/parameters/sig_enforce").strip()
    return not (b"[none]" in lockdown and enforced == b"N")


def has_certificate(data: bytes, serial: bytes) -> bool:
    """True if @data holds a certificate with the number @serial (big endian)."""
    numbers = (serial, b"\0" + serial)  # DER puts a zero before one that looks negative
    return any(bytes((2, len(number))) + number in data for number in numbers)


def lists(root: Path, serial: bytes, variables: Sequence[str]) -> bool:
    """True if one of the EFI @variables has the certificate @serial."""
    paths = (path for pattern in variables for path in (root / EFI).glob(pattern))
    return any(has_certificate(_bytes(path), serial) for path in paths)


def certificate_of(root: Path, serial: bytes) -> str:
    """The file that mokutil can enrol the key @serial from; empty if dkms did not make it."""
    for name in CERTIFICATES:
        if has_certificate(_bytes(root / name), serial):
            return f"/{name}"
    return ""
