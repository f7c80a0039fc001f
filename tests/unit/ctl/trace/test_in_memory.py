# SPDX-License-Identifier: GPL-2.0
"""Records in memory are read like those of a file."""

from __future__ import annotations

from spekctl.trace.columns import Op, batch_of
from spekctl.trace.in_memory import trace_of


def test_its_records_are_read_as_often_as_wanted() -> None:
    trace = trace_of("purge", batch_of([5, 7], [0, 1], [0, 512], 512, int(Op.DISCARD)))
    for _ in range(2):
        (batch,) = trace.batches()
        # Times count from the first record.
        assert batch.at_ns.tolist() == [0, 2] and batch.device.tolist() == [0, 1]
        assert batch.offset_bytes.tolist() == [0, 512] and set(batch.op) == {Op.DISCARD}
    assert trace.name == "purge" and trace.parts[0].format.name == "memory"
    assert not trace.faults.bad
