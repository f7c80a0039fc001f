# SPDX-License-Identifier: GPL-2.0
"""Sense data: both formats, whatever a device leaves out, and any rubbish."""

import ctypes
import mmap

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.core.spekcore import library

FFI, LIB = library()


def parse(data: bytes) -> tuple[int, int, int, bool] | None:
    """(key, asc, ascq, deferred), None if there is nothing; @data lie before a forbidden page."""
    sense = FFI.new("struct spek_sense *", {"present": True, "key": 9})
    ctypes.memmove(EDGE - len(data), data, len(data))
    LIB.spek_sense_parse(sense, FFI.cast("u8 *", EDGE - len(data)), len(data))
    fields = sense.key, sense.asc, sense.ascq, sense.deferred
    if not sense.present:
        assert fields == (0, 0, 0, False)
        return None
    return fields


def _two_pages() -> tuple[mmap.mmap, int]:
    """Two pages and the address of the second, which must not be read."""
    pages = mmap.mmap(-1, 2 * mmap.PAGESIZE)
    edge = ctypes.addressof(ctypes.c_char.from_buffer(pages)) + mmap.PAGESIZE
    libc = ctypes.CDLL(None)
    assert libc.mprotect(ctypes.c_void_p(edge), mmap.PAGESIZE, 0) == 0
    return pages, edge


PAGES, EDGE = _two_pages()


def fixed(code: int, key: int, asc: int, ascq: int) -> bytes:
    return bytes([code, 0, key, 0, 0, 0, 0, 10, 0, 0, 0, 0, asc, ascq, 0, 0, 0, 0])


@pytest.mark.parametrize(
    ("data", "wanted"),
    [
        (fixed(0x70, 3, 0x11, 4), (3, 0x11, 4, False)),
        (fixed(0xF0, 0xE3, 0x11, 4), (3, 0x11, 4, False)),  # valid bit, filemark bits
        (fixed(0x71, 4, 0x0C, 2), (4, 0x0C, 2, True)),
        (bytes([0x72, 6, 0x29, 1, 0, 0, 0, 0]), (6, 0x29, 1, False)),
        (bytes([0x73, 0xF4, 0x44, 0, 0, 0, 0, 0]), (4, 0x44, 0, True)),
        (fixed(0x70, 5, 0x24, 9)[:13], (5, 0x24, 0, False)),
        (fixed(0x70, 5, 0x24, 9)[:12], (5, 0, 0, False)),
        (b"\x72\x05", (5, 0, 0, False)),
        (b"", None),
        (bytes(96), None),
        (fixed(0x74, 3, 1, 1), None),
        (fixed(0x7F, 3, 1, 1), None),
    ],
)
def test_cause(data: bytes, wanted: tuple[int, int, int, bool] | None) -> None:
    assert parse(data) == wanted


@given(st.binary(max_size=96))
def test_rubbish_is_read_within_its_bounds(data: bytes) -> None:
    sense = parse(data)
    code = data[0] & 0x7F if data else 0
    assert (sense is not None) == (0x70 <= code <= 0x73)
    if sense is not None:
        assert sense[0] < 16
