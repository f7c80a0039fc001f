# SPDX-License-Identifier: GPL-2.0
"""Compiles the U6's part of spek-daq for tests: the real sources."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from lib.build.compiled import compiled
from lib.build.for_guests import for_guests
from lib.build.sources import ROOT

DAQ = ROOT / "daq"
PURE = ("u6/packet", "u6/calibration", "u6/stream", "u6/plausible")
SOURCE = ("u6/source", "u6/usb", "sources/settings", "number", "error", "pace")
FAKE = Path(__file__).with_name("fake_usb.c")
WARNINGS = ("-Wall", "-Wextra", "-Wconversion", "-Werror")


def build(name: str, flags: Sequence[str], sources: Sequence[Path]) -> Path:
    """Compile sources; the result is kept as long as nothing changes."""
    compiler = os.environ.get("CC", "gcc")

    def compile_to(scratch: Path) -> None:
        command = [compiler, "-std=gnu11", "-g", *WARNINGS, "-I", str(DAQ)]
        command += ["-o", str(scratch), *map(str, sources), *flags]
        subprocess.run(command, check=True)

    files = [*sorted(DAQ.rglob("*.h")), *sources]
    return compiled("daq", name, compiler, files, flags, compile_to)


def pure_sources() -> list[Path]:
    """What knows the U6's bytes, and nothing else."""
    return [DAQ / f"{name}.c" for name in PURE]


def _reader_sources() -> list[Path]:
    rest = [DAQ / f"{name}.c" for name in SOURCE]
    return [*pure_sources(), *rest, Path(__file__).with_name("read.c")]


def reader() -> Path:
    """The program that reads the source and says what comes (read.c), for guests."""
    flags = ("-O2", "-lusb-1.0")
    return for_guests("u6-read", lambda: build("u6-read", flags, _reader_sources()))


def spek_daq() -> Path:
    """spek-daq, for guests."""

    def make() -> Path:
        from lib.daq import build as daq_build  # guests needn't load what it takes

        return daq_build.guest_program()

    return for_guests("spek-daq", make)


def fake_reader() -> Path:
    """The reader with a USB that is only a socket, under sanitizers."""
    flags = ("-O1", "-fsanitize=address,undefined", "-fno-sanitize-recover=all")
    return build("u6-read-fake", flags, [*_reader_sources(), FAKE])


def fake_library() -> Path:
    """A libusb that is only a socket, to go before the real one."""
    return build("libu6-fake.so", ("-O1", "-shared", "-fPIC"), [FAKE])
