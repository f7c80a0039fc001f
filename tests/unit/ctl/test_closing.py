# SPDX-License-Identifier: GPL-2.0
"""What is closed at the end of its with block is, whatever ends that."""

from __future__ import annotations

import pytest

from spekctl.closing import Closing


class Door(Closing):
    def __init__(self) -> None:
        self.closings = 0

    def close(self) -> None:
        self.closings += 1


def test_it_is_closed_once_and_hides_no_error() -> None:
    with Door() as door:
        assert door.closings == 0
    assert door.closings == 1
    with pytest.raises(KeyError), door:
        raise KeyError
    assert door.closings == 2
