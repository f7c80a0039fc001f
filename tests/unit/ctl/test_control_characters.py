# SPDX-License-Identifier: GPL-2.0
"""Names of devices and file systems come from outside: a terminal must not obey them."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Callable

import click
import pytest
from lib.ctl.command_line import Outcome
from lib.fakes.machine import disk
from rich.console import Console
from rich.text import Text

from spekctl import cli
from spekctl.block import device as block_device
from spekctl.block import safety
from spekctl.errors import RefusedError
from spekctl.render.console import print_parts
from spekctl.render.output import escaped
from spekctl.render.tables import table
from spekctl.run import conditions

# Sets the title, erases the screen, goes back; one of eight bits; reorders.
HOSTILE = "M\x1b]0;owned\x07\x1b[2J\rX\x9b31m\u202eY"
SHOWN = r"M\x1b]0;owned\x07\x1b[2J\rX\x9b31m\u202eY"
Main = Callable[..., Outcome]


@pytest.fixture
def main(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Main:
    """spekctl as a process has it, on a terminal that shows colours."""
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    # click itself drops some sequences where there is no terminal.
    monkeypatch.setattr(click.utils, "should_strip_ansi", lambda *_: False)

    def call(*arguments: str) -> Outcome:
        capfd.readouterr()
        with monkeypatch.context() as streams:
            streams.setattr(sys, "stdout", sys.stdout)
            streams.setattr(sys, "stderr", sys.stderr)
            with pytest.raises(SystemExit) as end:
                cli.main(list(arguments))
            sys.stderr.flush()
        out, err = capfd.readouterr()
        return Outcome(int(end.value.code or 0), out, err)

    return call


def is_tame(text: str) -> bool:
    """Nothing but colours is left for the terminal."""
    rest = re.sub(r"\x1b\[[0-9;]*m", "", text)
    return escaped(rest) == rest


def test_a_model_in_the_list_of_devices(main: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    device = disk(model=HOSTILE, serial="S\x1b[5m")
    monkeypatch.setattr(block_device, "every", lambda everything: [device])
    monkeypatch.setattr(
        safety, "verdict", lambda device, runs=(), claims=(): f"no: {HOSTILE} holds it"
    )
    monkeypatch.setattr(safety, "opened_devices", lambda: [])
    monkeypatch.setattr(safety, "data_on", lambda device: [])
    outcome = main("devices")
    assert outcome.code == 0 and is_tame(outcome.out)
    # In its column, whole, and as a holder.
    assert SHOWN in outcome.out and rf"{SHOWN} holds it" in outcome.out
    assert r"S\x1b[5m" in outcome.out


def test_a_finding_of_doctor(main: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    finding = conditions.Finding(HOSTILE, "use", "stops", f"{HOSTILE} is mounted", HOSTILE)
    monkeypatch.setattr(conditions, "examine", lambda *_: [finding])
    outcome = main("doctor")
    assert is_tame(outcome.out) and outcome.out.count(SHOWN) == 3


def test_a_refusal(main: Main, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise RefusedError(f"/dev/sda is in use: {HOSTILE} holds it")

    monkeypatch.setattr(conditions, "examine", refuse)
    outcome = main("doctor")
    assert outcome.err == f"spekctl: /dev/sda is in use: {SHOWN} holds it\n"
    assert outcome.code == 4


def test_what_the_user_typed_is_no_better(main: Main) -> None:
    outcome = main("doctor", "--device", f"/dev/{HOSTILE}")
    assert is_tame(outcome.err) and SHOWN in outcome.err


def test_other_texts_are_left_as_they_are() -> None:
    for text in ("a\tb\nc", "µs · 40 °C — ✓", "e\u0301 \u200d \U0001f5b4"):
        assert escaped(text) == text


def test_texts_and_tables_are_measured_with_their_escapes() -> None:
    listing = table("name", "more")
    listing.add_row(HOSTILE, Text(HOSTILE))
    out = io.StringIO()
    print_parts([HOSTILE, Text(HOSTILE), listing], 100, Console(file=out, width=20))
    first, second, _, row = out.getvalue().splitlines()
    assert first == SHOWN and row.startswith(f"{SHOWN} ")
    assert all(map(is_tame, (first, second, row)))
