# SPDX-License-Identifier: GPL-2.0
"""Declarations of C headers for cffi: read from the headers, so that no binding drifts."""

from __future__ import annotations

import functools
import os
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cffi


def declarations_in(text: str, wanted: Callable[[Path], bool]) -> str:
    """The declarations of the @wanted files in what the preprocessor made, as cffi takes them."""
    kept: list[str] = []
    keep = False
    for line in text.splitlines():
        marker = re.match(r'# \d+ "([^"]*)"', line)
        if marker:
            keep = wanted(Path(os.path.normpath(marker[1])))
        elif keep:
            kept.append(line)
    return "\n".join(without_bodies("\n".join(kept)))


def opened(text: str, path: Path) -> tuple[Any, Any]:
    """A shared object with these declarations: (ffi, lib), the same ones for every thread.

    What belongs to one ffi is no argument for functions of another.
    """
    with _opening:
        return _open(text, path)


_opening = threading.Lock()


@functools.cache
def _open(text: str, path: Path) -> tuple[Any, Any]:
    ffi = cffi.FFI()
    ffi.cdef(
        "typedef uint8_t u8; typedef int8_t s8; typedef uint16_t u16; typedef uint32_t u32;"
        "typedef uint64_t u64; typedef int32_t s32; typedef int64_t s64;"
        "typedef u8 __u8; typedef u32 __u32; typedef u64 __u64; typedef s64 __s64;"
    )
    ffi.cdef(text)
    return ffi, ffi.dlopen(str(path))


def without_bodies(text: str) -> Iterator[str]:
    """Statements at the top level of text; functions become prototypes, inline ones vanish."""
    depth = 0
    statement = ""
    for char in text:
        depth += {"{": 1, "}": -1}.get(char, 0)
        statement += char
        is_function = re.match(r"[^{=]*\)\s*\{", statement) is not None
        if depth == 0 and (char == ";" or (char == "}" and is_function)):
            if is_function:
                statement = statement[: statement.index("{")] + ";"
            if not statement.lstrip().startswith(("static", "_Static_assert")):
                yield statement.strip()
            statement = ""
