"""The integer logarithm and the ziggurat's tables, against decimal arithmetic."""

import itertools
from decimal import Decimal, getcontext

import numpy as np
import pytest
from lib.core.build import SHARED
from lib.core.spekcore import library

FFI, LIB = library()
getcontext().prec = 50


def neg_log(*fractions: int) -> list[int]:
    out = FFI.new("u64[]", len(fractions))
    LIB.shim_neg_log(FFI.new("u64[]", fractions), out, len(fractions))
    return list(out)


def exact(u: int) -> Decimal:
    return -(Decimal(u) / 2**64).ln() * 2**32


@pytest.mark.parametrize(
    ("u", "golden"),
    [
        (2**63, 2977044472),
        (2**62, 5954088944),
        (2**64 // 10, 9889527671),
        (2**64 // 100, 19779055341),
        (round(Decimal(2**64) / 10**8), 79116221365),
        (2**32, 95265423098),
        (2**64 - 1, 0),
        (1, 190530846196),
        (0, 190530846196),
    ],
)
def test_goldens(u: int, golden: int) -> None:
    assert neg_log(u) == [golden]


def test_error_is_below_0_53_units_everywhere() -> None:
    rng = np.random.default_rng(1)
    picks = [int(x) for x in rng.integers(1, 2**64, 4000, dtype=np.uint64)]
    # every table interval from end to end, and every power of two with its neighbours
    for i in range(128):
        low, high = 2**63 + (i << 56), 2**63 + ((i + 1) << 56) - 1
        picks += [low, low + 1, (low + high) // 2, high]
    picks += [2**k + d for k in range(1, 64) for d in (-1, 0, 1)]
    for u, value in zip(picks, neg_log(*picks), strict=True):
        assert abs(value - exact(u)) <= Decimal("0.53"), u


def test_logarithm_never_rises() -> None:
    picks = sorted({int(x) for x in np.geomspace(1, 2.0**63.999, 20_000)})
    values = neg_log(*picks)
    assert all(a >= b for a, b in itertools.pairwise(values))


def layers() -> tuple[list[int], list[int], list[int]]:
    table = LIB.spek_expo_layer
    text = (SHARED / "expo.c").read_text()
    heights = text[text.index("height_q63[") :]
    heights = heights[heights.index("{") + 1 : heights.index("}")]
    return (
        [int(table[i].inside) for i in range(128)],
        [int(table[i].width_q32) for i in range(128)],
        [int(x.strip().removesuffix("ull"), 0) for x in heights.split(",") if x.strip()],
    )


def test_ziggurat_layers_have_equal_areas() -> None:
    inside, _, heights = layers()
    r = Decimal("6.8983151166156426057546858859043423587750703309705650829411")
    area = (r + 1) * (-r).exp()
    widths = [area / (-r).exp(), r]
    while len(widths) < 128:
        widths.append(-((-widths[-1]).exp() + area / widths[-1]).ln())
    widths.append(Decimal(0))
    # the top layer closes the figure: its upper edge is at 1
    assert abs((-widths[127]).exp() + area / widths[127] - 1) < Decimal("1e-30")
    for i in range(128):
        assert inside[i] == int(widths[i + 1] / widths[i] * 2**64)
    assert heights[1:] == [round((-w).exp() * 2**63) for w in widths[1:]]
    assert layers()[1] == [round(w * 2**32) for w in widths[:128]]
