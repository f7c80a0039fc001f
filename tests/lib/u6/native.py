# SPDX-License-Identifier: GPL-2.0
"""The U6's packet code of spek-daq, compiled as a library: the real sources, bound by cffi."""

from __future__ import annotations

import functools
import subprocess
from dataclasses import dataclass
from typing import Any

import cffi
from lib.build.declarations import declarations_in
from lib.u6.build import DAQ, PURE, build, pure_sources


def declarations() -> str:
    """What the headers declare, as cffi takes it."""
    text = subprocess.run(
        ["gcc", "-std=gnu11", "-E", "-I", str(DAQ), "-"],
        input="".join(f'#include "{DAQ / name}.h"\n' for name in PURE),
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    return declarations_in(text, lambda path: path.is_relative_to(DAQ))


@functools.cache
def library() -> tuple[Any, Any]:
    """(ffi, lib)."""
    ffi = cffi.FFI()
    ffi.cdef(declarations())
    return ffi, ffi.dlopen(str(build("libu6.so", ("-O1", "-shared", "-fPIC"), pure_sources())))


@dataclass(frozen=True)
class Scan:
    """One scan as it was given out."""

    number: int
    after_gap: bool
    samples: tuple[int, ...]


class Decoder:
    """struct u6_stream, and the scans that it has given out."""

    def __init__(self, channels: int, per_packet: int) -> None:
        self.ffi, self.lib = library()
        self.channels = channels
        self.stream = self.ffi.new("struct u6_stream *")
        self.scans: list[Scan] = []
        self._take = self.ffi.callback("u6_scan_fn", self._on_scan)
        self.lib.u6_stream_init(self.stream, channels, per_packet)

    def _on_scan(self, _context: Any, scan: Any) -> None:
        samples = tuple(scan.samples[i] for i in range(self.channels))
        self.scans.append(Scan(scan.number, scan.after_gap, samples))

    def feed(self, data: bytes) -> int:
        """One transfer. Return: what u6_stream_feed() returned."""
        return int(self.lib.u6_stream_feed(self.stream, data, len(data), self._take, self.ffi.NULL))

    def count(self, name: str) -> int:
        """One of struct u6_stream_counts."""
        return int(getattr(self.stream.counts, name))
