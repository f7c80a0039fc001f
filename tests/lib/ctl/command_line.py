# SPDX-License-Identifier: GPL-2.0
"""spekctl called in this process: each start of Python costs seconds in an emulated guest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from spekctl import cli


@dataclass
class Outcome:
    """What a command left behind."""

    code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """The one sentence that a failure consists of."""
        (line,) = self.err.splitlines()
        assert line.startswith("spekctl: ")
        return line.removeprefix("spekctl: ")


Spekctl = Callable[..., Outcome]


def caller(capfd: pytest.CaptureFixture[str]) -> Spekctl:
    """caller(capfd)("run", ...) calls spekctl."""

    def call(*arguments: object) -> Outcome:
        capfd.readouterr()
        code = cli.run([str(word) for word in arguments])
        captured = capfd.readouterr()
        return Outcome(code, captured.out, captured.err)

    return call


def caller_in_tmp_path(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Spekctl:
    """As caller(); files without a directory are in @tmp_path."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    return caller(capfd)


def run_ok(spekctl: Spekctl, *more: str) -> Outcome:
    """A run of three seconds on the device that a fake kernel has."""
    return spekctl("run", "random-read-4k", "--device", "/dev/fake0", "--time", "3s", *more)


def options_are_known(group: click.Group, words: list[str]) -> None:
    """Parse a command line as far as its options go. Raises click.UsageError."""
    name, *rest = words
    command = group.get_command(click.Context(group), name)
    assert command is not None, name
    if isinstance(command, click.Group):
        options_are_known(command, rest)
        return
    inner = rest[rest.index("--") + 1 :] if name == "vm" and "--" in rest else []
    own = rest[: len(rest) - len(inner)]
    command.make_parser(click.Context(command)).parse_args(list(own))
    if inner and "--exec" not in own:
        options_are_known(cli.cli, inner)
