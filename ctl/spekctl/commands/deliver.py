# SPDX-License-Identifier: GPL-2.0-or-later
"""Delivers a document: to a file, to standard output, or as text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from spekctl import files

if TYPE_CHECKING:
    from spekctl.documents.result import Result
    from spekctl.workload.imported import Imported

T = TypeVar("T")


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


def deliver_imported(steps: Sequence[Imported], output: Path | None) -> None:
    """Workloads of another program's file, which run one after the other, to a file each or to
    standard output; the report on standard error."""
    from spekctl.render.imported import report_lines
    from spekctl.workload import override

    paths: list[Path | None] = [output] * len(steps)
    if output is not None and len(steps) > 1:
        numbers = range(1, len(steps) + 1)
        paths = [output.with_suffix(f".{number}{output.suffix}") for number in numbers]
    for path in paths:
        files.check_writable(path)
    for number, (step, path) in enumerate(zip(steps, paths, strict=True), start=1):
        title = f"step {number} of {len(steps)}: {step.workload.workload.name}"
        text = override.to_toml(step.workload)
        if path is not None:
            files.put(path, text.encode())
        else:
            click.echo((f"# {title}\n" if len(steps) > 1 else "") + text, nl=False)
        if len(steps) > 1:
            click.echo(title if path is None else f"{title}: {path}", err=True)
        for line in report_lines(step):
            click.echo(line, err=True)
    if output is None and len(steps) > 1:
        click.echo("each step is a workload of its own; -o FILE writes them as files", err=True)


@dataclass(frozen=True, slots=True)
class Exports:
    """Files of a result in the formats of other programs; None: not asked for."""

    fio_json: Path | None = None
    fio_logs: Path | None = None  # what their names begin with
    hdr_log: Path | None = None

    def files(self) -> list[tuple[str, Path]]:
        """The options, each with the files that it names."""
        from spekctl.exports import fio_logs

        found = []
        if self.fio_json is not None:
            found.append(("--fio-json", self.fio_json))
        if self.fio_logs is not None:
            found += [("--fio-logs", one) for one in fio_logs.paths(self.fio_logs).values()]
        if self.hdr_log is not None:
            found.append(("--hdr-log", self.hdr_log))
        return found

    def check(self) -> None:
        """UsageError if a file cannot be written."""
        for _, path in self.files():
            files.check_writable(path)

    def deliver(self, result: Result) -> None:
        """Write all files."""
        from spekctl.exports import fio_json, fio_logs, hdr

        if self.fio_json is not None:
            files.deliver(fio_json.encode(result), self.fio_json)
        if self.fio_logs is not None:
            contents = fio_logs.encode(result)
            for kind, path in fio_logs.paths(self.fio_logs).items():
                files.deliver(contents[kind], path)
        if self.hdr_log is not None:
            files.deliver(hdr.encode(result), self.hdr_log)


def deliver_result(result: Result, output: Path | None, as_json: bool, exports: Exports) -> None:
    """The result of a run, to files and standard output."""
    exports.deliver(result)

    def show(one: Result) -> None:
        from spekctl.render.result import print_result

        print_result(one)

    deliver(result, show, as_json, output, "result")
