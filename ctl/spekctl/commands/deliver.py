# SPDX-License-Identifier: GPL-2.0-or-later
"""Delivers a document: to a file, to standard output, or as text."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from spekctl import files
from spekctl.errors import ExitCode, SpekError, UsageError

if TYPE_CHECKING:
    from spekctl.documents.result import Result
    from spekctl.workload.imported import Imported

T = TypeVar("T")


@contextlib.contextmanager
def measured(code: ExitCode) -> Iterator[None]:
    """Deliver what was measured, with this exit code: a file that cannot be written does not hide
    wrong data, and its failure has the worse code of both."""
    from spekctl.run import ending

    try:
        yield
    except SpekError as error:
        error.exit_code = ending.worst([code, error.exit_code])
        raise


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


N = TypeVar("N", Path, Path | None)


def numbered(path: N, number: int, count: int) -> N:
    """The file of step @number: suite.json as it is, or suite.2.json where there are several."""
    return path if path is None or count == 1 else path.with_suffix(f".{number}{path.suffix}")


def deliver_imported(
    sources: Sequence[Path], steps: Sequence[Imported], output: Path | None
) -> None:
    """Workloads of @sources, files of another program, which run one after the other or beside the
    one before, to a file each or to standard output; the report on standard error. A workload of
    several hosts is followed by its plan, in a file beside its own."""
    from spekctl.render.imported import report_lines
    from spekctl.workload import override

    paths = [numbered(output, number, len(steps)) for number in range(1, len(steps) + 1)]
    plans = [
        None if path is None or not step.clients else path.with_suffix(f".plan{path.suffix}")
        for step, path in zip(steps, paths, strict=True)
    ]
    for path in (*paths, *plans):
        files.check_writable(path)
        files.check_apart(path, sources)
    for number, (step, path, plan) in enumerate(zip(steps, paths, plans, strict=True), start=1):
        title = f"step {number} of {len(steps)}: {step.workload.workload.name}"
        if step.beside:
            title += f", which starts together with step {number - 1}"
        _put(override.to_toml(step.workload), path, title if len(steps) > 1 else "")
        if step.clients:
            name = f"{step.workload.workload.name}.toml" if path is None else path.name
            _put(_plan_text(step, name), plan, f"plan of {name}")
        if len(steps) > 1:
            click.echo(title if path is None else f"{title}: {path}", err=True)
        for line in report_lines(step):
            click.echo(line, err=True)
        if plan is not None:
            click.echo(f"its plan, for `spekctl fleet run`: {plan}", err=True)
    if output is None and (len(steps) > 1 or steps[0].clients):
        what = "each step is a workload of its own" if len(steps) > 1 else "a plan names its file"
        click.echo(f"{what}; -o FILE writes them as files", err=True)


def _put(text: str, path: Path | None, title: str) -> None:
    """Text to a file, or to standard output under a title if it has one."""
    if path is not None:
        files.put(path, text.encode())
    else:
        click.echo((f"# {title}\n" if title else "") + text, nl=False)


def _plan_text(step: Imported, workload: str) -> str:
    from spekctl.fleet import imported

    return imported.to_toml(imported.plan_of(step, workload))


@dataclass(frozen=True, slots=True)
class Exports:
    """Files of a result in the formats of other programs; None: not asked for."""

    fio_json: Path | None = None
    fio_logs: Path | None = None  # what their names begin with
    hdr_log: Path | None = None
    csv: Path | None = None

    def files(self, step: int = 1, steps: int = 1) -> list[tuple[str, Path]]:
        """The options, each with the files that it names for this step."""
        from spekctl.exports import fio_logs

        paths = []
        if self.fio_json is not None:
            paths.append(("--fio-json", self.fio_json))
        if self.fio_logs is not None:
            paths += [("--fio-logs", path) for path in fio_logs.paths(self.fio_logs, step).values()]
        if self.hdr_log is not None:
            paths.append(("--hdr-log", numbered(self.hdr_log, step, steps)))
        if self.csv is not None:
            paths.append(("--csv", numbered(self.csv, step, steps)))
        return paths

    def check(self, step: int = 1, steps: int = 1) -> None:
        """UsageError if a file cannot be written."""
        for _, path in self.files(step, steps):
            files.check_writable(path)

    def check_with(self, output: Path | None, inputs: Iterable[Path]) -> None:
        """UsageError if a file or @output, that of the result, cannot be written, or two of them
        are the same file. OverwriteError if one is among @inputs."""
        inputs = list(inputs)
        outputs = [("--output", output), *self.files()]
        for option, path in outputs:
            files.check_apart(path, inputs, option)
        files.check_distinct(outputs)
        files.check_writable(output)
        self.check()

    def check_contents(self, result: Result) -> None:
        """UsageError if @result has nothing to write to a file that was asked for."""
        for option, why in self._empty(result).items():
            raise UsageError(f"{option} has nothing to write: {why}")

    def _empty(self, result: Result) -> dict[str, str]:
        """The options whose files would have nothing in them, each with the reason."""
        from spekctl.exports import intervals, measured

        lacks = {
            "--csv": intervals.lacks,
            "--hdr-log": measured.lacks,
            "--fio-logs": measured.lacks,
        }
        asked = dict.fromkeys(option for option, _ in self.files())
        reasons = {option: lacks[option](result) for option in asked if option in lacks}
        return {option: why for option, why in reasons.items() if why}

    def deliver(self, results: Sequence[Result], steps: int = 1) -> None:
        """Write all files of the last of @results; fio's JSON has those before it as well. One that
        would have nothing in it is not written, which standard error says; an older one of that
        name becomes FILE~."""
        from spekctl.exports import fio_json, fio_logs, hdr, intervals

        result, step = results[-1], len(results)
        empty = self._empty(result)
        self._leave_out(empty, step, steps)
        if self.fio_json is not None:
            files.deliver(fio_json.encode(*results), self.fio_json)
        if self.fio_logs is not None and "--fio-logs" not in empty:
            contents = fio_logs.encode(result)
            for kind, path in fio_logs.paths(self.fio_logs, step).items():
                files.deliver(contents[kind], path)
        if self.hdr_log is not None and "--hdr-log" not in empty:
            files.deliver(hdr.encode(result), numbered(self.hdr_log, step, steps))
        if self.csv is not None and "--csv" not in empty:
            files.deliver(intervals.encode(result), numbered(self.csv, step, steps))

    def _leave_out(self, empty: Mapping[str, str], step: int, steps: int) -> None:
        """Say which files are not written. What was measured counts more than an older file that
        cannot be renamed."""
        for option, why in empty.items():
            paths = [path for flag, path in self.files(step, steps) if flag == option]
            named = self.fio_logs if option == "--fio-logs" else paths[0]
            click.echo(f"spekctl: {option} {named}: nothing to write: {why}", err=True)
            for path in paths:
                try:
                    files.set_aside(path)
                except SpekError as error:
                    click.echo(f"spekctl: {error.message}", err=True)


def deliver_result(result: Result, output: Path | None, as_json: bool, exports: Exports) -> None:
    """The result of a run, to files and standard output; exports last, as they may fail."""
    deliver_alone(result, output, as_json)
    exports.deliver([result])


def deliver_alone(result: Result, output: Path | None, as_json: bool) -> None:
    """The result of a run, to its own file and standard output; standard error says so if nothing
    was measured."""
    from spekctl.documents.result import NOTHING

    def show(result: Result) -> None:
        from spekctl.render.result import print_result

        print_result(result)

    deliver(result, show, as_json, output, "result")
    if not result.totals.all.ios:
        click.echo(f"spekctl: {NOTHING}", err=True)
