# SPDX-License-Identifier: GPL-2.0
"""Options that several commands have: their values, and options that exclude others."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from spekctl.commands import options
from spekctl.errors import UsageError
from spekctl.workload.options import OPTIONS, Options

Command = Callable[..., None]


def given(decorator: Callable[[Command], Command], *line: str) -> dict[str, Any]:
    """What a command with these options gets from a command line."""
    received: dict[str, Any] = {}

    @click.command()
    @decorator
    def command(**values: Any) -> None:
        received.update(values, flags=options.flags_of_command())

    CliRunner().invoke(command, line, catch_exceptions=False, standalone_mode=False)
    return received


def test_options_of_the_load_are_those_of_a_run() -> None:
    values = given(options.load_options("time_ns", "depth", "seed"), "--time", "2s", "--depth", "8")
    load = options.take_load(values)
    assert load == Options(time_ns=2_000_000_000, depth=8, seed=1)
    assert list(values) == ["flags"]


def test_a_range_of_options_has_all_that_are_declared_in_it() -> None:
    names = list(OPTIONS)
    first, before = names.index("backend"), names.index("hrrw")
    values = given(options.load_range("backend", "hrrw"))
    assert set(names[first:before]) == set(values) - {"flags"}
    assert set(names[first:]) == set(given(options.load_range("backend"))) - {"flags"}


def test_parameters_are_called_by_their_longest_name() -> None:
    flags = given(options.together(options.devices, options.stripe), "-d", "/dev/fake0")["flags"]
    assert (flags["devices"], flags["stripe_bytes"]) == ("--device", "--stripe")


def test_a_folder_is_the_parameter_out() -> None:
    assert given(options.folder("A folder."), "--folder", "t")["out"] == Path("t")


@pytest.mark.parametrize("text", ["nan", "inf"])
def test_a_number_in_a_range_is_finite(text: str) -> None:
    decorator = click.option("--share", type=options.FiniteRange(0))
    with pytest.raises(click.UsageError, match=f"'{text}' is not a number"):
        given(decorator, "--share", text)


def test_an_empty_path_is_not_the_current_folder() -> None:
    with pytest.raises(click.UsageError, match="the name is empty"):
        given(options.output("A file."), "-o", "")


def test_others_than_the_allowed_options_are_refused() -> None:
    def refuse(context: click.Context, parameter: click.Parameter, value: Any) -> Any:
        if value is not None:
            options.refuse_others("--from", ("source", "as_json"), "measured, or computed")
        return value

    decorator = options.together(
        options.seed, click.option("--from", "source", callback=refuse), options.destroy
    )
    assert given(decorator, "--from", "x")["source"] == "x"
    with pytest.raises(UsageError, match="--from and --seed exclude each other: measured, or"):
        given(decorator, "--seed", "5", "--from", "x")


def test_steady_state_completes_part_by_part() -> None:
    context, parameter = click.Context(click.Command("x")), click.Option(["--until"])

    def completed(text: str) -> list[str]:
        return [item.value for item in options.complete_until(context, parameter, text)]

    assert completed("st") == ["steady", "steady:"]
    assert completed("steady:iops,w") == ["steady:iops,window="]
    assert "steady:p99" in completed("steady:") and "steady:max" not in completed("steady:")
