# SPDX-License-Identifier: GPL-2.0
"""A guest that starts as a machine does: UEFI firmware with Secure Boot on, and Debian's shim, GRUB
and kernel, each with the signature that the one before it asks for.

spekctl vm has QEMU load the kernel. On its PATH is a stand-in for QEMU, this file as a program: it
lays the same kernel out on an EFI system partition and starts QEMU with the firmware instead.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

QEMU = "qemu-system-x86_64"
OVMF = Path("/usr/share/OVMF")
CODE = OVMF / "OVMF_CODE_4M.ms.fd"
VARIABLES = OVMF / "OVMF_VARS_4M.ms.fd"  # with Microsoft's keys, as machines are sold
LOADERS = ("shim-signed", "grub-efi-amd64-signed")
SHIM = "usr/lib/shim/shimx64.efi.signed"
GRUB = "usr/lib/grub/x86_64-efi-signed/grubx64.efi.signed"
OWNER = "605dab50-e046-4300-abb6-3dd810dd8b23"  # of the variables of shim
SUBJECT = "/CN=DKMS module signing key/"  # the same on all machines


def make_key(folder: Path, name: str) -> Path:
    """A new key @name.key in @folder and its certificate, which is returned, as dkms makes them."""
    certificate = folder / f"{name}.der"
    new: list[str | Path] = [
        "openssl",
        "req",
        "-new",
        "-x509",
        "-nodes",
        "-days",
        "36500",
        "-newkey",
        "rsa:2048",
    ]
    new += ["-subj", SUBJECT, "-keyout", folder / f"{name}.key", "-outform", "DER"]
    subprocess.run([*new, "-out", certificate], check=True, capture_output=True)
    return certificate


def prepare(folder: Path, loaders: Path, certificate: Path) -> Path:
    """Fills @folder with what the firmware needs; the directory with the stand-in for QEMU.

    @loaders: a directory with the files of the packages LOADERS
    @certificate: of the owner's key, enrolled where MokManager would put it
    """
    pem = folder / "owner.pem"
    convert: list[str | Path] = [
        "openssl",
        "x509",
        "-inform",
        "DER",
        "-in",
        certificate,
        "-out",
        pem,
    ]
    subprocess.run(convert, check=True)
    enrol: list[str | Path] = [
        sys.executable,
        "-m",
        "virt.firmware.vars",
        "-i",
        VARIABLES,
        "--add-mok",
        OWNER,
        pem,
    ]
    subprocess.run([*enrol, "-o", folder / "variables.fd"], check=True, capture_output=True)
    for file, place in ((SHIM, "BOOT/BOOTX64.EFI"), (GRUB, "BOOT/grubx64.efi")):
        (folder / "esp/EFI" / place).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(loaders / file, folder / "esp/EFI" / place)
    (folder / "esp/EFI/debian").mkdir()
    program = folder / "bin" / QEMU
    program.parent.mkdir()
    program.write_text(
        f'#!/bin/sh\nexec {sys.executable} {__file__} {shutil.which(QEMU)} {folder} "$@"\n'
    )
    program.chmod(0o755)
    return program.parent


def boot_by_firmware(folder: Path, words: list[str]) -> list[str]:
    """Lays out the kernel that QEMU's arguments @words name; the arguments that boot it."""
    words = list(words)

    def take(option: str) -> str:
        at = words.index(option)
        _, value = words.pop(at), words.pop(at)
        return value

    shutil.copy(take("-kernel"), folder / "esp/vmlinuz")
    shutil.copy(take("-initrd"), folder / "esp/initrd")
    quoted = " ".join(f"'{word}'" for word in take("-append").split())
    (folder / "esp/EFI/debian/grub.cfg").write_text(
        f"linux /vmlinuz {quoted}\ninitrd /initrd\nboot\n"
    )
    # Only code in system management mode may write to the firmware's variables.
    words += ["-machine", "smm=on", "-global", "driver=cfi.pflash01,property=secure,value=on"]
    words += ["-global", "ICH9-LPC.disable_s3=1"]
    for unit, file in enumerate((f"{CODE},readonly=on", f"{folder}/variables.fd")):
        words += ["-drive", f"if=pflash,unit={unit},format=raw,file={file}"]
    words += ["-drive", f"if=none,id=esp,format=raw,readonly=on,file=fat:{folder}/esp"]
    return [*words, "-device", "virtio-blk-pci,drive=esp,bootindex=0"]


if __name__ == "__main__":
    qemu, place, *given = sys.argv[1:]
    # It is also asked for its version and its devices.
    if "-kernel" in given:
        given = boot_by_firmware(Path(place), given)
    os.execv(qemu, [qemu, *given])
