# SPDX-License-Identifier: GPL-2.0
"""In a guest with Secure Boot: installs the module in each of the given forms, asks doctor, and
loads it. Prints what happened as JSON.

    python locked_guest.py FORM=DIRECTORY... -- a command for when the last one is loaded
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

MODULES = Path("/lib/modules") / os.uname().release


def call(*words: str | Path) -> tuple[int, str]:
    """Exit code and all output."""
    done = subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False
    )
    return done.returncode, done.stdout


def make_installable() -> Path:
    """The directory for modules of DKMS; the kernel's own modules are a link to files that cannot
    be written."""
    kernels = MODULES.resolve()
    MODULES.unlink()
    MODULES.mkdir()
    for entry in kernels.iterdir():
        (MODULES / entry.name).symlink_to(entry)
    updates = MODULES / "updates/dkms"
    updates.mkdir(parents=True)
    return updates


def doctor() -> list[str]:
    """Level, text and remedy of what it finds about Secure Boot."""
    _, text = call(sys.executable, "-m", "spekctl", "doctor", "--json")
    findings = [
        finding for finding in json.loads(text)["findings"] if finding["check"] == "secure boot"
    ]
    return [
        value
        for finding in findings
        for value in (finding["level"], finding["text"], finding["remedy"])
    ]


def main() -> None:
    call("mount", "-t", "efivarfs", "none", "/sys/firmware/efi/efivars")
    call("mount", "-t", "securityfs", "none", "/sys/kernel/security")
    at = sys.argv.index("--")
    updates = make_installable()
    said: dict[str, Any] = {
        "kernel": call("dmesg")[1],
        "lockdown": Path("/sys/kernel/security/lockdown").read_text(),
        "forms": {},
    }
    for word in sys.argv[1:at]:
        form, _, folder = word.partition("=")
        shutil.copy(Path(folder, "spek.ko"), updates)
        before = doctor()
        code, text = call("insmod", updates / "spek.ko")
        said["forms"][form] = {"doctor": before, "code": code, "text": text}
    said["doctor"] = doctor()
    said["command"] = call(*sys.argv[at + 1 :])
    print(json.dumps(said))


if __name__ == "__main__":
    main()
