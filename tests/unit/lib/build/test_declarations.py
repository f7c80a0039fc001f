# SPDX-License-Identifier: GPL-2.0
"""Shared objects that tests and benchmarks call by cffi."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import cffi
import pytest
from lib.build.declarations import opened
from lib.core import spekcore


def test_threads_share_what_they_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """A structure of one ffi is refused by functions of another, even of the same file."""
    text, path = spekcore.compiled()
    make = cffi.FFI

    def slow() -> Any:
        time.sleep(0.5)
        return make()

    monkeypatch.setattr(cffi, "FFI", slow)
    text += "\n/* opened by no test before */"
    with ThreadPoolExecutor(4) as pool:
        pairs = list(pool.map(lambda _: opened(text, path), range(4)))
    assert {id(ffi) for ffi, _ in pairs} == {id(pairs[0][0])}
    assert {id(library) for _, library in pairs} == {id(pairs[0][1])}
