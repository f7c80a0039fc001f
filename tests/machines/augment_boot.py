# SPDX-License-Identifier: GPL-2.0
"""In a guest: an augment cache with a file system, before and after a boot.

PYTHONPATH=tests python -m machines.augment_boot FOLDER before|after

The commands are those of the systemd unit, in its order, with what systemd puts in for its
specifiers and for the lines of the cache's file. `before` writes files until the guest is killed;
FOLDER has `synced`, the number of files that are on stable media. `after` writes `read`, the number
of files that are there.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from pathlib import Path

from lib.build.sources import ROOT
from machines.augment import node_of

NAME = "nas"
UNIT = ROOT / "ctl/spekctl/augment/spek-augment@.service"
SPEKCTL = Path(sys.executable).with_name("spekctl")
FILE_BYTES = 20_000
DISKS = ("ssd", "spare0", "spare1")


def lines_of(folder: Path) -> dict[str, str]:
    """The cache's file, as EnvironmentFile= of the unit reads it."""
    path = folder / f"{NAME}.conf"
    path.write_text(f"RAID={node_of('raid')}\nOPTIONS=--age 10m --quiet 10m\n")
    return dict(line.split("=", 1) for line in path.read_text().splitlines())


def run_unit(key: str, lines: dict[str, str]) -> None:
    """Run a command of the unit."""
    match = re.search(rf"^{key}=(.*)$", UNIT.read_text(), re.M)
    assert match
    words: list[str] = []
    for word in match[1].replace("%i", NAME).split():
        if word.startswith("${"):
            words.append(lines[word[2:-1]])
        elif word.startswith("$"):
            words += lines[word[1:]].split()
        else:
            words.append(word)
    assert words[0] == "/usr/bin/spekctl"
    subprocess.run([SPEKCTL, *words[1:]], check=True)


def contents(number: int) -> bytes:
    digest = hashlib.sha256(str(number).encode()).digest()
    return digest * (FILE_BYTES // len(digest))


def before(folder: Path, mounted: Path) -> None:
    """Make the cache and a file system, and write until the guest is killed."""
    spares = [word for disk in DISKS[1:] for word in ("--spare", node_of(disk))]
    create = ["augment", "create", NAME, "--raid", node_of("raid"), "--ssd", node_of("ssd")]
    subprocess.run([SPEKCTL, *create, *spares], check=True)
    subprocess.run(["mkfs.ext4", "-q", f"/dev/mapper/{NAME}"], check=True)
    subprocess.run(["mount", f"/dev/mapper/{NAME}", mounted], check=True)
    synced = os.open(folder / "synced", os.O_RDWR | os.O_CREAT)
    number = 0
    while True:
        with open(mounted / str(number % 100), "wb") as file:
            file.write(number.to_bytes(8, "little") + contents(number))
            file.flush()
            os.fsync(file.fileno())
        number += 1
        if number <= 100:
            folder_fd = os.open(mounted, os.O_RDONLY)
            os.fsync(folder_fd)
            os.close(folder_fd)
        os.pwrite(synced, b"%-19d\n" % number, 0)


def check(mounted: Path, last: int) -> int:
    """Each file has what was written to it last, or, of the one under way, any of it."""
    seen = 0
    for place in range(min(last, 100)):
        newest = max(number for number in range(last) if number % 100 == place)
        data = (mounted / str(place)).read_bytes()
        if place == last % 100 and data != newest.to_bytes(8, "little") + contents(newest):
            continue
        assert data == newest.to_bytes(8, "little") + contents(newest), (place, newest, data[:8])
        seen += 1
    return seen


def after(folder: Path, mounted: Path) -> None:
    """What a boot does, and a shutdown; then the RAID alone."""
    last = int((folder / "synced").read_text())
    lines = lines_of(folder)
    run_unit("ExecStart", lines)
    subprocess.run(["mount", f"/dev/mapper/{NAME}", mounted], check=True)
    seen = check(mounted, last)
    status = subprocess.run(
        ["dmsetup", "status", NAME], check=True, capture_output=True, text=True
    ).stdout.split()[3:]
    assert int(status[5]), "nothing was left to the log"
    subprocess.run(["umount", mounted], check=True)
    run_unit("ExecStop", lines)
    assert not Path("/dev/mapper", NAME).exists()
    subprocess.run(["mount", "-o", "ro", node_of("raid"), mounted], check=True)
    assert check(mounted, last) == seen
    subprocess.run(["umount", mounted], check=True)
    (folder / "read").write_text(str(seen))


def main() -> None:
    folder, step = Path(sys.argv[1]), sys.argv[2]
    subprocess.run(["modprobe", "-q", "libcrc32c"], check=False)
    subprocess.run(["modprobe", "dm_mod"], check=True)
    subprocess.run(["modprobe", "ext4"], check=True)
    subprocess.run(["insmod", f"{os.environ['SPEK_MODULES']}/spek_augment.ko"], check=True)
    mounted = Path("/tmp/spek-mounted")
    mounted.mkdir(exist_ok=True)
    {"before": before, "after": after}[step](folder, mounted)


if __name__ == "__main__":
    main()
