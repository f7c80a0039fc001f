# SPDX-License-Identifier: GPL-2.0
"""Records that feed a run have the layout and the numbers of the contract."""

from __future__ import annotations

from typing import Any

import numpy as np
from lib.fakes.link import FakeLink

from spekctl.kernel import traces
from spekctl.kernel.gen import spek, spek_records


def linked(*answers: dict[str, Any]) -> tuple[traces.TraceLink, FakeLink]:
    link = traces.TraceLink.__new__(traces.TraceLink)
    fake: Any = FakeLink(*answers)
    link._link = fake
    return link, fake


def test_columns_are_the_struct_of_the_contract() -> None:
    rows = np.zeros(2, np.dtype(list(traces.RECORD)))
    rows[1] = (2**64 - 1, 2**63, 2**32 - 1, 2**16 - 1, 3, 3)
    fields = [name for name, _ in traces.RECORD]
    packed = spek_records.TraceRecord.pack(
        spek_records.TraceRecord(**dict(zip(fields, row.tolist(), strict=True))) for row in rows
    )
    assert rows.tobytes() == packed


def test_the_kernel_says_how_many_it_took() -> None:
    link, fake = linked({"accepted": 3})
    assert link.feed(7, 1, memoryview(b"x" * 24 * 5)) == 3
    link.end(7, 3)
    assert fake.asked == [
        ("TRACE_FEED", {"run": 7, "worker": 1, "records": b"x" * 120}),
        ("TRACE_END", {"run": 7, "count": 3}),
    ]
    assert traces.BATCH * 24 == 48_000 == spek.TRACE_BATCH * 24
