# SPDX-License-Identifier: GPL-2.0-or-later
"""What `spekctl gate` and `spekctl compare` share: the formats of their verdicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from spekctl.commands.options import result, together
from spekctl.errors import UsageError
from spekctl.gate import formats

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem
    from rich.console import RenderableType

    from spekctl.documents.verdict import Comparison, GateReport

F = TypeVar("F", bound=Callable[..., Any])

output_options = together(
    click.option(
        "--format",
        "form",
        type=click.Choice(formats.NAMES),
        default="text",
        show_default=True,
        help="Format of the verdict: text for people, JSON with everything, or that of a consumer: "
        "KTAP, JUnit XML, LAVA signals, KCIDB 5.3, `key: value` lines (lkp-tests, mmtests).",
    ),
    result("Write the verdict in that format to FILE, and as text to standard output."),
    click.option(
        "--kcidb-build",
        "build",
        metavar="ORIGIN:ID",
        help="--format kcidb: id of the build that was tested.",
    ),
)


@dataclass(frozen=True, slots=True)
class Output:
    """Where a verdict goes, and how. UsageError before any work if that cannot be."""

    form: str
    path: Path | None
    build: str | None

    def __post_init__(self) -> None:
        from spekctl import files

        if (self.form == "kcidb") != (self.build is not None):
            raise UsageError(
                "--format kcidb needs --kcidb-build, the id of the build that was tested"
                if self.build is None
                else "--kcidb-build is for --format kcidb"
            )
        if self.build is not None:
            from spekctl.gate.formats import kcidb

            kcidb.origin_of(self.build)
        if self.path is not None and self.form == "text":
            raise UsageError("-o needs a --format other than text, which goes to standard output")
        files.check_writable(self.path)

    def deliver(self, document: GateReport | Comparison, parts: Iterable[RenderableType]) -> None:
        """Print and write the verdict."""
        from spekctl import files
        from spekctl.render import console, tables

        data = "" if self.form == "text" else formats.render(document, self.form, self.build)
        if self.path is not None:
            files.deliver(data.encode(), self.path)
        if self.path is not None or self.form == "text":
            console.print_parts(parts, tables.WIDTH)
        else:
            click.echo(data, nl=False)


def complete_metric(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names of metrics."""
    from click.shell_completion import CompletionItem

    from spekctl.gate.metrics import METRICS

    return [
        CompletionItem(name, help=metric.help)
        for name, metric in METRICS.items()
        if name.startswith(incomplete)
    ]
