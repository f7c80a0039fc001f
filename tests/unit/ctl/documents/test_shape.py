# SPDX-License-Identifier: GPL-2.0
"""Options of every run of a benchmark."""

from __future__ import annotations

import dataclasses

from spekctl.documents import spc1
from spekctl.documents.shape import Shape
from spekctl.workload.options import Options

SHAPE = Shape(
    seed=7, stripe_bytes=1 << 20, backend="auto", polled=False, batch=None, spin_ns=0, data="zero"
)


def test_its_fields_are_options_of_a_run() -> None:
    options = {field.name for field in dataclasses.fields(Options)}
    assert set(Shape.__struct_fields__) <= options
    assert set(spc1.Shape.__struct_fields__) <= options


def test_each_run_has_a_seed_of_its_own() -> None:
    runs = [Options(**SHAPE.of_run(number)) for number in range(3)]
    assert [run.seed for run in runs] == [7, 8, 9]
    assert {(run.stripe_bytes, run.backend, run.data) for run in runs} == {
        (1 << 20, "auto", "zero")
    }
