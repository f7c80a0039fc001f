"""Where a piece of an asu lies, against arithmetic with divisions."""

from collections.abc import Callable

from hypothesis import given
from hypothesis import strategies as st
from lib.core.spekcore import Arrival, Asu, Stream, Workload, library

FFI, LIB = library()


def mapper(asu: Asu) -> Callable[[int, int], tuple[int, int, int]]:
    """where(address, bytes): how much of it is in one piece, on which target and where there."""
    wl = Workload([asu], [Arrival(depth=1)], [Stream()])
    c_map = FFI.new("struct spek_asu_map *")
    LIB.spek_asu_map_init(c_map, FFI.addressof(wl.c.asu, 0))
    target, offset = FFI.new("u32 *"), FFI.new("u64 *")

    # The map points into the workload, which lives as long as the function does.
    def where(addr: int, size: int, _alive: Workload = wl) -> tuple[int, int, int]:
        length = LIB.shim_asu_map(c_map, addr, size, target, offset)
        return length, target[0], offset[0]

    return where


@st.composite
def striped(draw: st.DrawFn) -> Asu:
    n = draw(st.integers(2, 16))
    stripe = 2 ** draw(st.integers(9, 24))
    rows = draw(st.integers(1, 2**61 // (n * stripe)))
    extents = [(i, 512 * draw(st.integers(0, 2**40))) for i in range(n)]
    return Asu(n * stripe * rows, stripe, extents)


@given(striped(), st.data())
def test_striped_address(asu: Asu, data: st.DataObject) -> None:
    addr = data.draw(st.integers(0, asu.bytes - 1))
    size = data.draw(st.integers(1, 2**24))
    unit, within = divmod(addr, asu.stripe_bytes)
    row, column = divmod(unit, len(asu.extents))
    target, start = asu.extents[column]
    assert mapper(asu)(addr, size) == (
        min(size, asu.stripe_bytes - within),
        target,
        start + row * asu.stripe_bytes + within,
    )


@given(st.integers(0, 2**61), st.integers(1, 2**24), st.integers(0, 2**50))
def test_single_extent(addr: int, size: int, start: int) -> None:
    assert mapper(Asu(2**62, 0, [(3, start)]))(addr, size) == (size, 3, start + addr)


def test_every_byte_of_every_target_is_used_once() -> None:
    asu = Asu(3 * 512 * 5, 512, [(0, 1024), (1, 0), (2, 512)])
    where = mapper(asu)
    seen = {where(addr, 1)[1:] for addr in range(asu.bytes)}
    assert seen == {(t, start + i) for t, start in asu.extents for i in range(5 * 512)}


def test_pieces_of_a_long_io_join_up() -> None:
    asu = Asu(4 * 4096 * 100, 4096, [(i, 0) for i in range(4)])
    where = mapper(asu)
    addr, left, pieces = 1000, 50_000, []
    while left:
        length, target, _ = where(addr, left)
        pieces.append(target)
        addr, left = addr + length, left - length
    assert pieces == [i % 4 for i in range(len(pieces))]
