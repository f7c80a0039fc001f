# SPDX-License-Identifier: GPL-2.0
"""Compiles the program that fuzzes the netlink families, on the host, for guests."""

from __future__ import annotations

import hashlib
import os
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAM = ROOT / "out" / "cache" / "netlink-fuzz"
FLAGS = ("-O2", "-g", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE")


def program() -> Path:
    """The program; in a guest, the one that the host has built before."""
    if "SPEK_GUEST" in os.environ:
        return PROGRAM
    from fuzz.netlink_tables import tables  # needs the specs' loader, which guests don't

    text = tables()
    digest = hashlib.sha256(text.encode() + " ".join(FLAGS).encode())
    uapi = [*sorted((ROOT / "kmod/load/uapi").glob("*.h")), ROOT / "prober/uapi/spek_prober.h"]
    for path in [*sorted((HERE / "netlink").glob("*.[ch]")), *uapi]:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    stamp = PROGRAM.with_name("netlink-fuzz.of")
    if not (PROGRAM.exists() and stamp.exists() and stamp.read_text() == digest.hexdigest()):
        PROGRAM.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=PROGRAM.parent) as scratch:
            Path(scratch, "netlink_tables.h").write_text(text)
            out = Path(scratch, "netlink-fuzz")
            sources = [str(path) for path in sorted((HERE / "netlink").glob("*.c"))]
            command = [os.environ.get("CC", "gcc"), *FLAGS, "-I", scratch, "-o", str(out)]
            subprocess.run([*command, *sources, "-lpthread"], check=True)
            out.replace(PROGRAM)
        stamp.write_text(digest.hexdigest())
    return PROGRAM
