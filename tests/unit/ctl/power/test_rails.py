# SPDX-License-Identifier: GPL-2.0
"""The rails file: what it says, and that a change touches nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.rails import RAILS

from spekctl.errors import UsageError
from spekctl.power.rails import SENS_UV_PER_A, ZERO_UV, Rail, RailsFile


def rails_of(folder: Path, text: str) -> RailsFile:
    path = folder / "rails.toml"
    path.write_text(text)
    return RailsFile(path)


def test_what_is_not_given_is_a_transducer_of_one_turn(tmp_path: Path) -> None:
    rails_file = rails_of(tmp_path, '[[rail]]\nname = "5V"\n')
    assert rails_file.source == ""
    assert rails_file.rails == [Rail("5V", "5V", None, None, ZERO_UV, SENS_UV_PER_A, 1)]
    assert rails_of(tmp_path, "").rails == []


def test_a_voltage_may_be_measured(tmp_path: Path) -> None:
    text = 'source = "u6"\n[[rail]]\nname = "a"\nchannel = "AIN0"\nvoltage_channel = "AIN1"\n'
    rails_file = rails_of(tmp_path, text + "turns = 3\n")
    assert rails_file.source == "u6"
    (rail,) = rails_file.rails
    assert (rail.voltage_mv, rail.voltage_channel, rail.turns) == (None, "AIN1", 3)


NUMBERS = st.dictionaries(
    st.sampled_from(["zero_uv", "sens_uv_per_a", "turns", "voltage_mv"]),
    st.integers(-(2**31), 2**31),
    min_size=1,
)


@given(values=NUMBERS, name=st.sampled_from(["12V", "5V"]))
def test_a_change_is_read_back_and_touches_nothing_else(
    values: dict[str, int], name: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("rails")
    rails_file = rails_of(folder, RAILS)
    others = [rail for rail in rails_file.rails if rail.name != name]
    rails_file.change(name, **values)
    rails_file.write()
    again = RailsFile(rails_file.path)
    rail = again.rail(name)
    assert {key: getattr(rail, key) for key in values} == values
    assert [rail for rail in again.rails if rail.name != name] == others
    before, after = RAILS.splitlines(), rails_file.path.read_text().splitlines()
    kept = [line for line in before if line.split(" = ")[0] not in values]
    assert [line for line in after if line in kept] == kept
    comments = [line.partition("#")[2] for line in before if "#" in line]
    assert [line.partition("#")[2] for line in after if "#" in line] == comments


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('[[rail]]\nchannel = "x"\n', "a rail has no name"),
        ('[[rail]]\nname = "a"\nzero_uv = 1.5\n', "'zero_uv' has to be a whole number, not 1.5"),
        ('[[rail]]\nname = "a"\nturns = true\n', "'turns' has to be a whole number"),
        ("rail = 5\n", "'rail' has to be a list of tables, each [[rail]]"),
        ("rail = [1]\n", "'rail' has to be a list of tables"),
        ('[rail]\nname = "a"\n', "'rail' has to be a list of tables"),
        ("[[rail\n", "rails.toml: "),
    ],
)
def test_what_is_wrong_is_said_of_the_file(text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as refusal:
        assert rails_of(tmp_path, text).rails
    assert sentence in refusal.value.message
    assert str(tmp_path / "rails.toml") in refusal.value.message


def test_a_rail_that_is_not_there_gets_those_that_are(tmp_path: Path) -> None:
    rails_file = rails_of(tmp_path, RAILS)
    with pytest.raises(UsageError, match=r"no rail '12v' in .* \(there are: 12V, 5V\)"):
        rails_file.rail("12v")
    with pytest.raises(UsageError, match=r"\(there are: none\)"):
        rails_of(tmp_path, "").rail("12V")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda path: None, "there is no rails file"),
        (lambda path: path.mkdir(), "cannot read .*rails.toml: Is a directory$"),
        (
            lambda path: path.write_bytes(b'name = "\xff"'),
            "cannot read .*rails.toml: it is not UTF-8 text$",
        ),
    ],
)
def test_what_cannot_be_read_is_said(make: object, sentence: str, tmp_path: Path) -> None:
    path = tmp_path / "rails.toml"
    assert callable(make)
    make(path)
    with pytest.raises(UsageError, match=sentence):
        RailsFile(path)
