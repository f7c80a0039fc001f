# SPDX-License-Identifier: GPL-2.0
"""Parts of a result refuse what does not belong together."""

from __future__ import annotations

import msgspec
import pytest
from lib.ctl.results import build

from spekctl.documents import result_parts


def test_streams_of_cells_and_config_are_there() -> None:
    whole = build()
    result_parts.check_streams(whole.config, whole.cells)
    beyond = msgspec.structs.replace(whole.cells[1], stream=7)
    with pytest.raises(ValueError, match=r"cells\[1\].stream is 7; config has"):
        result_parts.check_streams(whole.config, [whole.cells[0], beyond])
    for name in ("asu", "arrival"):
        stream = msgspec.structs.replace(whole.config.streams[0], **{name: 9})
        config = msgspec.structs.replace(whole.config, streams=[stream])
        with pytest.raises(ValueError, match=rf"config.streams\[0\].{name} is 9; config has"):
            result_parts.check_indices(config)


def test_samples_have_a_row_in_each_table() -> None:
    table = result_parts.ProberTable("cpu", ["user"], [[1], [2]])
    result_parts.check_samples([0, 5], [5, 9], [table])
    with pytest.raises(ValueError, match="start_ns has 2 entries and end_ns 1"):
        result_parts.check_samples([0, 5], [5], [table])
    with pytest.raises(ValueError, match="table cpu has 2 rows for 1 samples"):
        result_parts.check_samples([0], [5], [table])
