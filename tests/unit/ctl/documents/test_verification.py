# SPDX-License-Identifier: GPL-2.0
"""What results say of verified data."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from spekctl.documents.verification import VerifyCounts, VerifyResult, WrongBlock
from spekctl.kernel.records import Mismatch

BLOCK = WrongBlock(Mismatch.TORN, "final", "/dev/x", 4096, 512, 3, "It is torn.", found_offset=8192)
COUNTS = VerifyCounts(10, 2, 1, 1, {"torn": 1})
RESULT = VerifyResult(1, True, "Something is wrong.", 7, 512, 64, COUNTS, 0, COUNTS, [BLOCK])


def test_it_is_read_as_it_was_written() -> None:
    assert msgspec.json.decode(msgspec.json.encode(RESULT), type=VerifyResult) == RESULT


@pytest.mark.parametrize(
    ("key", "value"), [("kind", "rotten"), ("when", "later"), ("offset", "4096"), ("device", None)]
)
def test_a_wrong_block_of_another_form_is_refused(key: str, value: Any) -> None:
    fields = msgspec.to_builtins(BLOCK) | {key: value}
    with pytest.raises(msgspec.ValidationError, match=key):
        msgspec.convert(fields, WrongBlock)


def test_a_result_without_a_final_pass_says_so() -> None:
    fields = msgspec.to_builtins(RESULT)
    del fields["final"], fields["first"]
    read = msgspec.convert(fields, VerifyResult)
    assert (read.final, read.first, read.state_file) == (None, [], "")
