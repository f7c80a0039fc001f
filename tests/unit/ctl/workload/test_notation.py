# SPDX-License-Identifier: GPL-2.0
"""--pattern: its values become keys, and the keys settings of a file."""

from __future__ import annotations

import shlex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.errors import UsageError
from spekctl.workload import file, notation
from spekctl.workload.values import OPEN_ZONES_MAX


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("uniform", {}),
        ("uniform:30%", {"sequential": "30%"}),
        ("strided:64KiB:8KiB", {"stride": "64KiB", "jitter": "8KiB"}),
        ("runs:1%", {"run_length": "1%"}),
        ("zipf:1.1:25%", {"theta": 1.1, "center": "25%"}),
        ("pareto:2e-1", {"h": 0.2}),
        ("zoned:60%/10%:40%/1MiB", {"zones": [{"share": "60%", "size": "10%"},
                                              {"share": "40%", "size": "1MiB"}]}),
    ],
)  # fmt: skip
def test_values_are_keys_in_their_order(text: str, fields: dict[str, object]) -> None:
    parsed = notation.pattern_fields(text)
    assert parsed == {"pattern": text.split(":")[0], **fields}


def test_the_pattern_of_the_command_line_has_its_open_zones() -> None:
    fields = {"pattern": "write-pointer", "open_zones": 4}
    assert notation.pattern_fields("write-pointer:4") == fields
    with pytest.raises(UsageError, match="'four' is not a whole number"):
        notation.pattern_fields("write-pointer:four")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("unifrom", "there is no pattern 'unifrom'; did you mean 'uniform'?"),
        ("trace", "there is no pattern 'trace'; it is one of uniform, sequential, strided"),
        ("", "there is no pattern ''; it is one of"),
        ("backward:1", "write backward, without values"),
        ("strided:1:2:3", "write strided:STRIDE:JITTER"),
        ("strided::8KiB", "write strided:STRIDE:JITTER"),
        ("zipf:much", "'much' is not a number"),
        ("zipf:nan", "'nan' is not a number"),
        ("pareto:1e999", "'1e999' is not a number"),
        ("zoned:60%", "write a zone as SHARE/SIZE, for example 60%/10%"),
        ("zoned:/10%", "write a zone as SHARE/SIZE"),
        ("zoned:", "write a zone as SHARE/SIZE"),
        ("write-pointer:-1", f"'-1' is not a whole number up to {OPEN_ZONES_MAX}"),
        ("write-pointer:" + "9" * 5000, "is not a whole number up to"),
    ],
)
def test_wrong_notations_get_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        notation.pattern_fields(text)
    assert sentence in refusal.value.message
    assert refusal.value.message.startswith(f"--pattern {text[:40]}")
    assert len(refusal.value.message) < 300


@pytest.mark.parametrize(
    "text",
    ["uniform:30%", "strided:64KiB:8KiB", "runs:1%:2%", "walk:fixed", "zipf:0.9:25%", "pareto:0.2",
     "normal:10%:30%", "zoned:60%/10%:40%/1MiB", "hotband"],
)  # fmt: skip
def test_settings_say_the_same_as_a_file(text: str) -> None:
    """As --pattern tells a user to change a workload that has a file, for a shell."""
    fields = notation.pattern_fields(text)
    lines = shlex.split(" ".join(notation.settings_of(fields, "main")))
    stream = file.load("random-read-4k", lines).stream[0]
    assert stream == file.one_stream({**fields, "size": "4KiB", "read": "100%"}, []).stream[0]


@given(st.text(st.sampled_from("zipfoned:/%0123456789.-x"), max_size=20))
def test_whatever_is_written_is_a_pattern_or_a_sentence(text: str) -> None:
    try:
        fields = notation.pattern_fields("zoned:" + text)
    except UsageError:
        return
    assert fields["pattern"] == "zoned"
