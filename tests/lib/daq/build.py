# SPDX-License-Identifier: GPL-2.0
"""spek-daq for tests: its pure files as a library bound by cffi, and the program, with sanitizers.

Both are the real sources; the declarations are read from their headers.
"""

from __future__ import annotations

import functools
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import cffi
from lib.build.compiled import compiled
from lib.build.declarations import declarations_in
from lib.build.for_guests import for_guests

ROOT = Path(__file__).resolve().parents[3]
DAQ = ROOT / "daq"
PURE = (
    "error",
    "number",
    "clock",
    "calibrate",
    "sources/waveform",
    "sources/energy_counter",
    "sources/iio_scale",
    "sources/iio_interval",
    "powersensor3/config",
    "powersensor3/stream",
    "powersensor3/average",
    "powersensor3/arrival",
    "modbus/map",
    "quarch/text",
)
PURE_TOO = ("sources/csv", "meter", "queue", "pace", "stop", "file", "config/rails")
INCLUDES = ("-I", str(DAQ), "-I", str(ROOT / "prober"))
SANITIZE = ("-O1", "-g", "-fsanitize=undefined", "-fno-sanitize-recover=undefined")
# cffi does not support __int128; this has its size and alignment, and is never accessed.
TYPES = """
typedef uint64_t __u64; typedef int64_t __s64; typedef uint32_t __u32;
typedef struct { long part[5]; } pthread_mutex_t; /* of the C library, on x86-64 */
"""


def _kept(name: str, salt: str, make: Callable[[Path], object]) -> Path:
    """A file made of daq/ by @make; made once."""
    inputs = [path for suffix in ("c", "h", "cc") for path in sorted(DAQ.rglob(f"*.{suffix}"))]
    inputs += [DAQ / "Makefile", ROOT / "prober/uapi/spek_prober.h"]
    return compiled("daq", name, "gcc", inputs, [salt], make)


def _declarations() -> str:
    names = [*PURE, *PURE_TOO]
    text = subprocess.run(
        ["gcc", "-E", "-D_GNU_SOURCE", "-D__attribute__(x)=", *INCLUDES, "-"],
        input="".join(f'#include "{DAQ / name}.h"\n' for name in names),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    declared = declarations_in(
        text, lambda path: path.is_relative_to(DAQ) or path.name == "spek_prober.h"
    )
    return TYPES + declared.replace("__int128", "long double")


@functools.cache
def library() -> tuple[Any, Any]:
    """(ffi, lib) of the pure files; undefined behaviour ends the process."""

    def compile_to(scratch: Path) -> None:
        sources = [
            *(str(DAQ / f"{name}.c") for name in (*PURE, *PURE_TOO)),
            str(DAQ / "config/rails_toml.cc"),
        ]
        subprocess.run(
            [
                "gcc",
                *SANITIZE,
                "-D_GNU_SOURCE",
                *INCLUDES,
                "-Wall",
                "-Wextra",
                "-shared",
                "-fPIC",
                "-o",
                str(scratch),
                *sources,
                "-ltomlplusplus",
                "-lstdc++",
                "-lm",
            ],
            check=True,
        )

    ffi = cffi.FFI()
    ffi.cdef(_declarations())
    return ffi, ffi.dlopen(str(_kept("libdaq.so", " ".join(SANITIZE), compile_to)))


def _program(name: str, flags: str) -> Path:
    def compile_to(scratch: Path) -> None:
        variables = {"flags": flags, "built": scratch.with_name("built"), "program": scratch}
        words = [f"daq-{name}={value}" for name, value in variables.items()]
        subprocess.run(["make", "-s", "-C", str(ROOT), "daq", *words], check=True)

    return _kept(name, flags, compile_to)


def checked_program() -> Path:
    """spek-daq that ends at the first wrong access, leak or undefined behaviour."""
    flags = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=undefined"
    return _program("spek-daq-checked", flags)


def guest_program() -> Path:
    """spek-daq as it is shipped, where guests see it; made on the host, before they boot."""
    return for_guests("spek-daq", lambda: _program("spek-daq", "-O2 -g"))


def failure(error: Any) -> str:
    """The sentence in a struct daq_error."""
    ffi, _ = library()
    text = ffi.string(error.text)
    assert isinstance(text, bytes)
    return text.decode()
