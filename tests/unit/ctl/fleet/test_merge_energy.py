# SPDX-License-Identifier: GPL-2.0
"""The energy of hosts as a sum: exact, whatever rails belong to which host."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from lib.ctl.fleets import Spec, facts_of, result_of
from msgspec.structs import replace

from spekctl.documents.power import Amount, interval_power
from spekctl.documents.result import Result
from spekctl.documents.result_parts import PowerResult
from spekctl.fleet.merge import merge, of_host, split
from spekctl.kernel.records import Use

FJ = 10**15
# Small next to large: what a sum of floats loses.
energies = st.one_of(st.integers(0, 10**6), st.integers(0, 10**21))


@st.composite
def rails(draw: st.DrawFn) -> list[Amount]:
    return [
        Amount(f"rail{number}", "board", 0, Use(draw(energies), 4 * 10**9, 0, 0, 0, 9, 1, 2))
        for number in range(draw(st.integers(2, 8)))
    ]


def host_of(name: str, amounts: Sequence[Amount]) -> Result:
    spec = Spec(name)
    measure = interval_power(amounts)
    # Floats that no order of addition gets right by chance.
    power = PowerResult([], 0.1, measure, 1000, 0.1, 0.7)
    own = result_of(spec, power=power, power_text="")
    rows = [replace(row, power=measure) for row in own.intervals]
    return of_host(replace(own, intervals=rows), facts_of(spec))


def grouped(amounts: Sequence[Amount], cuts: Sequence[int], names: Sequence[str]) -> list[Result]:
    """Hosts that have these rails among them."""
    edges = [0, *sorted(cuts), len(amounts)]
    spans = [(low, high) for low, high in itertools.pairwise(edges) if low < high]
    return [
        host_of(name, amounts[low:high]) for name, (low, high) in zip(names, spans, strict=False)
    ]


@settings(max_examples=40, deadline=None)
@given(rails(), st.lists(st.integers(1, 7), max_size=4), st.randoms(use_true_random=False))
def test_energy_is_that_of_all_rails_whatever_hosts_have_them(
    amounts: list[Amount], cuts: list[int], random: Any
) -> None:
    names = [f"host{number}" for number in range(8)]
    kept = [min(cut, len(amounts)) for cut in cuts]
    alone = merge([host_of("alone", amounts)]).power
    random.shuffle(names)
    hosts = grouped(amounts, kept, names)
    whole = merge(hosts)
    assert alone is not None and whole.power is not None
    total = whole.power.measure.total
    energy_fj = sum(amount.use.energy_fj for amount in amounts)
    assert total.energy_fj == energy_fj and total.joules == energy_fj / FJ
    assert total == alone.measure.total
    assert [row.power.total for row in whole.intervals if row.power] == [total] * 4
    # The other sums do not depend on the order of the hosts' names either.
    random.shuffle(names)
    renamed = merge(grouped(amounts, kept, names)).power
    assert renamed is not None
    assert (renamed.measure.total, renamed.baseline_w) == (total, whole.power.baseline_w)
    assert (renamed.shift_j, renamed.uncertainty_j) == (
        whole.power.shift_j,
        whole.power.uncertainty_j,
    )
    parts = split(whole)
    random.shuffle(parts)
    while len(parts) > 1:
        at = random.randrange(len(parts) - 1)
        parts[at : at + 2] = [merge(parts[at : at + 2])]
    assert merge(parts) == whole
