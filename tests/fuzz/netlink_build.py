# SPDX-License-Identifier: GPL-2.0
"""Compiles the program that fuzzes the netlink families, on the host, for guests."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

from lib.build.for_guests import for_guests

from spekctl.vm.cache import cache_dir, cached, digest_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
FLAGS = ("-O2", "-g", "-std=gnu11", "-Wall", "-Wextra", "-Werror", "-D_GNU_SOURCE")


def program() -> Path:
    """The program; in a guest, the one that the host has built before."""
    return for_guests("netlink-fuzz", _built)


def _built() -> Path:
    from fuzz.netlink_tables import tables  # needs the specs' loader, which guests don't

    text = tables()
    sources = sorted((HERE / "netlink").glob("*.c"))

    def compile_to(scratch: Path) -> None:
        scratch.with_name("netlink_tables.h").write_text(text)
        command = [os.environ.get("CC", "gcc"), *FLAGS, "-I", str(scratch.parent)]
        command += ["-o", str(scratch), *map(str, sources), "-lpthread"]
        subprocess.run(command, check=True)

    folders = ("kmod/load/uapi", "kmod/drive/uapi", "prober/uapi")
    uapi = [header for folder in folders for header in sorted((ROOT / folder).glob("*.h"))]
    inputs = [*sources, *sorted((HERE / "netlink").glob("*.h")), *uapi]
    return cached(
        cache_dir("fuzz") / f"netlink-{digest_of(ROOT, inputs, text, *FLAGS)}", compile_to
    )
