# SPDX-License-Identifier: GPL-2.0-or-later
"""Delivers a document: to a file, to standard output, or as text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
import msgspec

from spekctl import files

if TYPE_CHECKING:
    from spekctl.documents.result import Result

T = TypeVar("T", bound=msgspec.Struct)


def deliver(
    document: T,
    show: Callable[[T], None],
    as_json: bool,
    output: Path | None,
    what: str = "report",
) -> None:
    """As a file, and on standard output as JSON or as @show prints it."""
    data = files.encode(document)
    if output is not None:
        files.deliver(data, output)
    if as_json:
        click.echo(data.decode(), nl=False)
    else:
        show(document)
        if output is not None:
            click.echo(f"spekctl: {what} written to {output}", err=True)


def deliver_result(result: Result, output: Path | None, as_json: bool) -> None:
    """The result of a run, to a file and standard output."""

    def show(one: Result) -> None:
        from spekctl.render.result import print_result

        print_result(one)

    deliver(result, show, as_json, output, "result")
