#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Stands for ssh: runs the remote command in a folder of the destination's name, by its shell.

Installed by install() as `ssh` in a folder of its own. A destination may be told to fail as ssh
does: the file DESTINATION.fails beside it has the exit status in its first line, and what it says
in the others. One that has a file DESTINATION.waits logs in once that is gone.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path


def install(folder: Path) -> Path:
    """The program, with its destinations in the same folder."""
    folder.mkdir(exist_ok=True)
    program = folder / "ssh"
    program.write_text(f"#!{sys.executable}\n" + Path(__file__).read_text())
    program.chmod(0o755)
    return program


def asked(folder: Path, destination: str) -> list[str]:
    """The words that ssh was started with."""
    words: list[str] = json.loads((folder / f"{destination}.json").read_text())
    return words


def main() -> int:
    folder = Path(__file__).parent
    *_, separator, destination, command = sys.argv
    assert separator == "--", sys.argv
    (folder / f"{destination}.json").write_text(json.dumps(sys.argv[1:]))
    fails = folder / f"{destination}.fails"
    if fails.exists():
        status, _, text = fails.read_text().partition("\n")
        sys.stderr.write(text)
        return int(status)
    while (folder / f"{destination}.waits").exists():
        time.sleep(0.05)
    home = folder / destination
    os.chdir(home)
    # As sshd: the user's shell, with a home and a path of its own.
    environment = {**os.environ, "HOME": str(home), "PATH": f"{home}:/usr/bin:/bin"}
    os.execve("/bin/sh", ["sh", "-c", command], environment)


if __name__ == "__main__":
    sys.exit(main())
