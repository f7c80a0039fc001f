"""No pattern touches a byte outside its range, whatever its parameters."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st
from lib.core.spekcore import (
    BLOCK,
    PATTERNS,
    Arrival,
    Asu,
    Generator,
    Stream,
    Workload,
    WorkloadError,
)

KIB, MIB = 1 << 10, 1 << 20
OPS = 400
ALIGNS = st.sampled_from([512, 1024, 3 * 512, BLOCK, 2 * BLOCK])
# Starts right behind a multiple of what addresses could be rounded to, near 0 and far from it.
STARTS = st.one_of(st.integers(0, 40), st.integers(2**20, 2**20 + 40))


@st.composite
def sizes(draw: st.DrawFn, unit: int) -> dict[int, int]:
    weights = st.dictionaries(st.integers(1, 20), st.integers(1, 9), min_size=1, max_size=4)
    return {n * unit: weight for n, weight in draw(weights).items()}


@st.composite
def patterns(draw: st.DrawFn, align: int) -> dict[str, Any]:
    """Pattern, sizes and a range that is just large enough or a little larger."""
    pattern = draw(st.sampled_from(["mixed", *PATTERNS]))
    if pattern == "walk":
        style = draw(st.sampled_from(["classic", "fixed"]))
        leaves = draw(st.sampled_from([64, 65, 100, 127, 128, 129, 255, 256, 257]))
        blocks = 8 * leaves + draw(st.integers(0, 7))
        return {
            "pattern": "walk",
            "sizes": align,
            "walk_style": style,
            "range_bytes": blocks * align + 512 * draw(st.integers(0, 1)),
        }
    order = draw(st.sampled_from([None, 0, 1, 2])) if pattern == "strided" else None
    in_blocks = pattern in ("mixed", "sequential", "runs", "backward", "once") or order in (0, 2)
    mix = draw(sizes(align if in_blocks else 512))
    if pattern == "once" or order == 2:
        mix = dict([min(mix.items())])
    largest = max(mix)
    keys: dict[str, Any] = {"pattern": pattern, "sizes": mix}
    spare = 512 * draw(st.integers(0, 200))
    if pattern == "runs":
        run_align = align << draw(st.integers(0, 8))
        run = largest + run_align + 512 * draw(st.integers(0, 100))
        restart = align + 512 * draw(st.integers(0, 600))
        keys |= {"run_bytes": run, "restart_bytes": restart, "run_align_bytes": run_align}
        return keys | {"range_bytes": run + restart + 512 * draw(st.integers(0, 1))}
    if pattern == "strided":
        stride = align * draw(st.integers(1, 30))
        parts = draw(st.integers(1, 8))
        if order is not None:
            zone = 512 * draw(st.integers(1, 400))
            length = largest + 512 * draw(st.integers(0, 400))
            keys |= {"stride_bytes": stride, "zone_size_bytes": zone, "zone_order": order}
            keys |= {"zone_range_bytes": length}
            return keys | {"range_bytes": parts * (stride + largest) + length + spare}
        jitter = align * draw(st.integers(0, 40))
        keys |= {"stride_bytes": stride, "jitter_bytes": jitter}
        return keys | {"range_bytes": parts * (stride + largest) + jitter + spare}
    if pattern == "mixed":
        keys |= {"pattern": "uniform", "seq_ppm": draw(st.sampled_from([1, 500_000, 1_000_000]))}
    if pattern == "table":
        ends = sorted(draw(st.sets(st.integers(1, 300), min_size=1, max_size=20)))
        slots = [end - start for start, end in zip([0, *ends], ends, strict=False)]
        given = sorted(draw(st.integers(0, 2**40)) for _ in ends[1:])
        weights = [end - start for start, end in zip([0, *given], [*given, 2**40], strict=True)]
        keys |= {"parts": list(zip(slots, weights, strict=True))}
        keys |= {"spread": draw(st.integers(0, 1))}
        return keys | {"range_bytes": largest + (ends[-1] - 1) * align}
    if pattern == "hotband":
        spare += 1954 * 512
    return keys | {"range_bytes": largest * draw(st.integers(1, 8)) + spare}


@st.composite
def streams(draw: st.DrawFn) -> Stream:
    align = draw(ALIGNS)
    return Stream(
        align_bytes=align,
        range_start=align * draw(STARTS),
        replicas=draw(st.integers(1, 6)),
        read_ppm=draw(st.sampled_from([0, 300_000, 1_000_000])),
        **draw(patterns(align)),
    )


RUNS_BEFORE = Stream(
    "runs",
    range_start=512 * KIB,
    range_bytes=4 * MIB,
    run_bytes=2 * MIB,
    restart_bytes=MIB,
    run_align_bytes=MIB,
    read_ppm=0,
)
WALK_BEFORE = Stream("walk", range_start=BLOCK, range_bytes=4 * MIB, read_ppm=0)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(streams(), st.integers(1, 5), st.integers(0, 2**64 - 1))
@example(RUNS_BEFORE, 1, 1)
@example(WALK_BEFORE, 2, 1)
def test_no_byte_outside_the_range(stream: Stream, nr_workers: int, seed: int) -> None:
    end = stream.range_start + stream.range_bytes
    # Nothing beyond the range keeps addresses in it; before it there is room as well.
    workload = Workload([Asu(end + MIB)], [Arrival(depth=nr_workers)], [stream])
    try:
        workload.check(nr_workers)
    except WorkloadError as refusal:
        # Too small for the workers' and replicas' parts or for the smallest step of a walk.
        assert "too small" in refusal.text, refusal
        assume(False)
    for worker in range(nr_workers):
        ops = Generator(workload, seed, worker, nr_workers).ops(OPS)
        if len(ops):
            assert int(ops["addr"].min()) >= stream.range_start
            assert int((ops["addr"] + ops["bytes"]).max()) <= end
            assert not (ops["addr"] % stream.align_bytes).any()
