# SPDX-License-Identifier: GPL-2.0
"""Compiles the U6's part of spek-daq for tests: the real sources."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
DAQ = ROOT / "daq"
PURE = ("u6/packet", "u6/calibration", "u6/stream", "u6/plausible")
SOURCE = ("u6/source", "u6/usb", "sources/settings", "number", "error", "pace")
FAKE = Path(__file__).with_name("fake_usb.c")
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Werror")
USUAL = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache"))
# where guests see it, too
SHARED = ROOT / "out" / "cache"


def build(name: str, flags: Sequence[str], sources: Sequence[Path]) -> Path:
    """Compile sources; the result is kept as long as nothing changes."""
    digest = hashlib.sha256(" ".join(flags).encode())
    for path in [*sorted(DAQ.rglob("*.h")), *sources]:
        digest.update(str(path.relative_to(ROOT)).encode() + b"\0" + path.read_bytes())
    out = USUAL / "spek" / "daq" / f"{name}-{digest.hexdigest()[:16]}"
    if not out.exists():
        out.parent.mkdir(parents=True, exist_ok=True)
        scratch = out.with_name(f"{out.name}.{os.getpid()}")
        command = [os.environ.get("CC", "gcc"), "-std=gnu11", "-g", *WARNINGS, "-I", str(DAQ)]
        command += ["-o", str(scratch), *map(str, sources), *flags]
        subprocess.run(command, check=True)
        scratch.replace(out)
    return out


def pure_sources() -> list[Path]:
    """What knows the U6's bytes, and nothing else."""
    return [DAQ / f"{one}.c" for one in PURE]


def _reader_sources() -> list[Path]:
    rest = [DAQ / f"{one}.c" for one in SOURCE]
    return [*pure_sources(), *rest, Path(__file__).with_name("read.c")]


def _for_guests(name: str, make: Callable[[], Path]) -> Path:
    """A guest uses what the host has built: a compiler takes a minute there."""
    shared = SHARED / name
    if "SPEK_GUEST" not in os.environ:
        SHARED.mkdir(parents=True, exist_ok=True)
        scratch = SHARED / f"{name}.{os.getpid()}"
        shutil.copy2(make(), scratch)
        scratch.replace(shared)
    return shared


def reader() -> Path:
    """The program that reads the source and says what comes (read.c), for guests."""
    flags = ("-O2", "-lusb-1.0")
    return _for_guests("u6-read", lambda: build("u6-read", flags, _reader_sources()))


def spek_daq() -> Path:
    """spek-daq, for guests."""

    def make() -> Path:
        from lib.daq import build as daq_build  # guests needn't load what it takes

        return daq_build.guest_program()

    return _for_guests("u6-spek-daq", make)


def fake_reader() -> Path:
    """The reader with a USB that is only a socket, under sanitizers."""
    flags = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    return build("u6-read-fake", flags, [*_reader_sources(), FAKE])


def fake_library() -> Path:
    """A libusb that is only a socket, to go before the real one."""
    return build("libu6-fake.so", ("-O1", "-shared", "-fPIC"), [FAKE])
