# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl plot: plots of logs, results, load curves and reports."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from spekctl.commands.options import DURATION, FilePath, check_labels
from spekctl.commands.options import title as title_option
from spekctl.errors import UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from spekctl.documents.document import Kind

F = TypeVar("F", bound=Callable[..., Any])
FILE = FilePath(path_type=Path)
GUESS = "any"


class Pictures(click.Group):
    """A group that accepts files in place of a command; their kind then selects the plot."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ctx.help_option_names:
            args = [GUESS, *args]
        return super().parse_args(ctx, args)


def _common(function: F) -> F:
    """Options of every picture."""
    for option in (
        click.option(
            "--dpi",
            type=click.IntRange(40, 1200),
            default=150,
            show_default=True,
            metavar="N",
            help="Resolution of PNG files, and of rasterized points in SVG files.",
        ),
        title_option,
        click.option(
            "-o",
            "--output",
            "outputs",
            multiple=True,
            type=FILE,
            metavar="NAME",
            help="Output file, .png or .svg; both without a suffix. Repeatable."
            "  [default: INPUT-PLOT in the current directory]",
        ),
    ):
        function = option(function)
    return function


_one_file = click.argument("file", type=FILE)
_files = click.argument("inputs", type=FILE, nargs=-1, required=True, metavar="FILE...")
_labels = click.option(
    *("--label", "labels"),
    multiple=True,
    metavar="TEXT",
    help="Label of a file in the legend; give one per file, in their order.",
)
_scale = click.option(
    *("--scale", "log_scale"),
    type=click.Choice(["log", "linear"]),
    callback=lambda context, parameter, value: None if value is None else value == "log",
    help="Scale of response times."
    "  [default: logarithmic if they differ by more than a factor of 20]",
)


class _Source:
    """The files that a plot is drawn from, of the kinds @allowed; UsageError for a file of another
    kind. Without @allowed the plot checks the kinds itself.
    """

    def __init__(
        self, files: Sequence[Path], plot: str, allowed: Sequence[Kind] = (), words: str = ""
    ) -> None:
        from spekctl.documents.document import identify

        self.files = files
        self.plot = plot
        self.kinds = [identify(path, allowed, words) for path in files] if allowed else []

    def deliver(
        self, draw: Callable[[Sequence[Kind]], Figure], outputs: Sequence[Path], dpi: int
    ) -> int:
        """Draw and write a plot, and print its files; refuse unwritable files before drawing.

        @draw gets the kind of each file. It has to import the modules that it draws with itself:
        only here is it known that the extra with matplotlib is installed.
        """
        from spekctl.plots import style

        style.require()
        paths = style.outputs(outputs, f"{self.files[0].stem}-{self.plot}")
        with style.ready():
            style.save(draw(self.kinds), paths, dpi)
        for path in paths:
            click.echo(path)
        return 0

    def deliver_documents(
        self,
        title: str,
        outputs: Sequence[Path],
        dpi: int,
        labels: Sequence[str] = (),
        log_scale: bool | None = None,
    ) -> int:
        """As deliver(), for a plot of documents.CHOICES."""

        def draw(kinds: Sequence[Kind]) -> Figure:
            from spekctl.plots import documents

            choice = documents.CHOICES[self.plot]
            return documents.draw(choice, self.files, title, labels, log_scale)

        return self.deliver(draw, outputs, dpi)


@click.group(cls=Pictures)
def command() -> None:
    """Plot logs, results, load curves and reports as PNG and SVG.

    `spekctl plot FILE...` chooses the plot by the kind of the first file: addresses of a log,
    timeline of a result, curve of a load curve or a report of SPC-1, streams of a report of SPC-2,
    rounds of a report of PTS, trace of a stored trace, machine of samples of the prober.
    The names of the files written go to standard output.
    """


@command.command(GUESS, hidden=True)
@_files
@_common
@click.pass_context
def guess(
    context: click.Context,
    inputs: tuple[Path, ...],
    outputs: tuple[Path, ...],
    title: str,
    dpi: int,
) -> int:
    """Draw the usual plot of the first file's kind."""
    from spekctl import files
    from spekctl.documents.document import Kind, identify
    from spekctl.suggest import did_you_mean

    first = inputs[0]
    if not files.exists(first):
        names = [name for name in command.commands if name != GUESS]
        hint = did_you_mean(str(first), names) or f"; the plots are {', '.join(names)}"
        raise UsageError(f"there is no file {first}{hint}")
    usual: dict[Kind, click.Command] = {
        Kind.LOG: addresses,
        Kind.TRACE: trace,
        Kind.RESULT: timeline,
        Kind.CURVE: curve,
        Kind.SPC1: curve,
        Kind.SPC2: streams,
        Kind.PTS: rounds,
        Kind.PROBER: machine,
    }
    kind = identify(first, list(usual), "plots are drawn from")
    picture = usual[kind]
    several = any(parameter.name == "inputs" for parameter in picture.params)
    if len(inputs) > 1 and not several:
        raise UsageError("several results or logs are compared by `spekctl plot cdf`")
    drawn = {"inputs": inputs} if several else {"file": first}
    code: int = context.invoke(picture, **drawn, outputs=outputs, title=title, dpi=dpi)
    return code


@command.command("addresses")
@_one_file
@click.option(
    "--by",
    type=click.Choice(["asu", "device"]),
    default="asu",
    show_default=True,
    help="One panel per address range, or per device.",
)
@click.option(
    "--start",
    "start_ns",
    type=DURATION,
    default=0,
    help="Start of the plotted time.  [default: 0s]",
)
@click.option(
    "--end", "end_ns", type=DURATION, help="End of the plotted time.  [default: end of the log]"
)
@click.option("--only", type=click.Choice(["read", "write"]), help="Plot one direction only.")
@_common
def addresses(
    file: Path,
    outputs: tuple[Path, ...],
    title: str,
    dpi: int,
    by: str,
    start_ns: int,
    end_ns: int | None,
    only: str | None,
) -> int:
    """Address against time: one point per I/O in the measure phase of a LOG.

    Streams differ in colour, reads and writes in their marker.
    """
    from spekctl.documents.document import Kind

    def draw(kinds: Sequence[Kind]) -> Figure:
        from spekctl.plots import addresses as picture

        end_s = end_ns / 1e9 if end_ns is not None else None
        direction = {"read": False, "write": True}.get(only or "")
        window = picture.Window(start_ns / 1e9, end_s, direction)
        return picture.draw(picture.read(file, by == "device", window), title)

    source = _Source([file], "addresses", [Kind.LOG], "addresses are drawn from")
    if end_ns is not None and end_ns <= start_ns:
        raise UsageError("--end must be after --start")
    return source.deliver(draw, outputs, dpi)


@command.command("timeline")
@_one_file
@click.option(
    "--interval",
    "interval_ns",
    type=DURATION,
    default=0,
    help="Interval length for a log; a result has its own."
    "  [default: chosen by the length of the log]",
)
@_scale
@_common
def timeline(
    file: Path,
    outputs: tuple[Path, ...],
    title: str,
    dpi: int,
    interval_ns: int,
    log_scale: bool | None,
) -> int:
    """Throughput, response time and queue depth over time, of a RESULT or a LOG."""
    from spekctl.documents.document import Kind

    def draw(kinds: Sequence[Kind]) -> Figure:
        from spekctl.plots import timeline as picture

        is_log = kinds[0] is Kind.LOG
        series = picture.of_log(file, interval_ns) if is_log else picture.of_result(file)
        return picture.draw(series, title, log_scale)

    source = _Source([file], "timeline", [Kind.RESULT, Kind.LOG], "a timeline is drawn from")
    if source.kinds[0] is Kind.RESULT and interval_ns:
        raise UsageError("--interval is for logs: the intervals of a result are fixed")
    return source.deliver(draw, outputs, dpi)


@command.command("curve")
@_files
@_labels
@_scale
@_common
def curve(
    inputs: tuple[Path, ...],
    outputs: tuple[Path, ...],
    title: str,
    dpi: int,
    labels: tuple[str, ...],
    log_scale: bool | None,
) -> int:
    """Response time against throughput, of one or more load CURVEs and REPORTs.

    Panels below show the achieved share of the offered load, and power if it was measured. Further
    RESULTs, such as those of conventional mixes, are lines across all loads, at their rate and
    their mean response time.
    """
    from spekctl.documents.document import Kind

    check_labels(labels, inputs)
    source = _Source(inputs, "curve", [Kind.CURVE, Kind.SPC1, Kind.RESULT], "a curve is drawn from")
    return source.deliver_documents(title, outputs, dpi, labels, log_scale)


@command.command("dcse")
@_files
@_labels
@_common
def dcse(
    inputs: tuple[Path, ...],
    outputs: tuple[Path, ...],
    title: str,
    dpi: int,
    labels: tuple[str, ...],
) -> int:
    """DCsE over time, of SAMPLES of the prober or REPORTs of `energy dcse`.

    For samples it is the DCsE of the only disk that had I/O, with the power of all rails; for
    other disks or rails, plot a report of `spekctl energy dcse --samples`.
    """
    from spekctl.documents.document import Kind

    check_labels(labels, inputs)
    source = _Source(inputs, "dcse", [Kind.PROBER, Kind.DCSE], "DCsE is drawn from")
    return source.deliver_documents(title, outputs, dpi, labels)


@command.command("streams")
@_one_file
@_scale
@_common
def streams(
    file: Path, outputs: tuple[Path, ...], title: str, dpi: int, log_scale: bool | None
) -> int:
    """MB/s, response time and power over the streams, of a REPORT of `spekctl spc2`."""
    from spekctl.documents.document import Kind

    source = _Source([file], "streams", [Kind.SPC2], "streams are drawn from")
    return source.deliver_documents(title, outputs, dpi, log_scale=log_scale)


@command.command("rounds")
@_one_file
@_common
def rounds(file: Path, outputs: tuple[Path, ...], title: str, dpi: int) -> int:
    """Rounds up to steady state, and the figures of a REPORT of `spekctl pts`."""
    from spekctl.documents.document import Kind

    source = _Source([file], "rounds", [Kind.PTS], "rounds are drawn from")
    return source.deliver_documents(title, outputs, dpi)


@command.command("power")
@_files
@_labels
@_common
def power(
    inputs: tuple[Path, ...],
    outputs: tuple[Path, ...],
    title: str,
    dpi: int,
    labels: tuple[str, ...],
) -> int:
    """Power over the load, of CURVEs and REPORTs; or over time, of a RESULT.

    The load is the offered rate; of a closed loop it is the depth. A panel below curves
    shows mW/IOPS, with the power baseline of their runs subtracted.
    """
    from spekctl.documents.document import Kind

    def draw(kinds: Sequence[Kind]) -> Figure:
        from spekctl.plots import documents
        from spekctl.plots import power as picture

        if kinds[0] is Kind.RESULT:
            return picture.draw(picture.of_result(inputs[0]), title)
        return documents.draw(documents.POWER, inputs, title, labels)

    check_labels(labels, inputs)
    allowed = [Kind.CURVE, Kind.SPC1]
    if len(inputs) == 1:
        allowed.append(Kind.RESULT)
    source = _Source(inputs, "power", allowed, "power is drawn from")
    return source.deliver(draw, outputs, dpi)


@command.command("machine")
@_one_file
@_common
def machine(file: Path, outputs: tuple[Path, ...], title: str, dpi: int) -> int:
    """CPUs, memory, network, disks and power over time, of a RESULT or SAMPLES."""

    def draw(kinds: Sequence[Kind]) -> Figure:
        from spekctl.plots import machine as picture

        return picture.draw(file, title)

    return _Source([file], "machine").deliver(draw, outputs, dpi)


@command.command("cdf")
@_files
@click.option(
    "--metric",
    type=click.Choice(["response", "service", "slip"]),
    default="response",
    show_default=True,
    help="Time to plot.",
)
@click.option(
    "--only",
    "directions",
    type=click.Choice(["read", "write", "all"]),
    multiple=True,
    help="Plot this direction; repeatable."
    "  [default: each direction of a single file, all I/Os of several files]",
)
@_labels
@_common
def cdf(
    inputs: tuple[Path, ...],
    outputs: tuple[Path, ...],
    title: str,
    dpi: int,
    metric: str,
    directions: tuple[str, ...],
    labels: tuple[str, ...],
) -> int:
    """Distribution of response times, of one or more RESULTs and LOGs.

    The vertical axis is scaled by nines: 90 %, 99 %, 99.9 % are equally spaced.
    """
    from spekctl.documents.document import Kind

    def draw(kinds: Sequence[Kind]) -> Figure:
        from spekctl.plots import cdf as picture

        curves = [
            picture.of_log(path, metric) if kind is Kind.LOG else picture.of_result(path, metric)
            for path, kind in zip(inputs, kinds, strict=True)
        ]
        return picture.draw(curves, title, labels, directions or None)

    check_labels(labels, inputs)
    source = _Source(inputs, "cdf", [Kind.RESULT, Kind.LOG], "a CDF is drawn from")
    return source.deliver(draw, outputs, dpi)


@command.command("trace")
@_one_file
@_common
def trace(file: Path, outputs: tuple[Path, ...], title: str, dpi: int) -> int:
    """Rate, addresses, sizes and gaps of a TRACE that `spekctl trace` reads."""

    def draw(kinds: Sequence[Kind]) -> Figure:
        from spekctl.plots import trace as picture
        from spekctl.trace.trace import open_trace

        return picture.draw(picture.read(open_trace([file])), title)

    return _Source([file], "trace").deliver(draw, outputs, dpi)


@command.command("study")
@_one_file
@click.option(
    "--figure",
    type=click.IntRange(2, 9),
    required=True,
    metavar="N",
    help="Figure of paper 003, 2 to 9.",
)
@_common
def study(file: Path, outputs: tuple[Path, ...], title: str, dpi: int, figure: int) -> int:
    """A figure of paper 003 from a STUDY, as `spekctl drive study` writes it.

    Saturated systems, whose queue grew to the end, are left out of figure 8 and marked elsewhere.
    """
    from spekctl.documents import document
    from spekctl.documents.drive import DriveStudy

    outcome = document.read(file, DriveStudy)

    def draw(kinds: Sequence[Kind]) -> Figure:
        from spekctl.plots import documents

        return documents.draw_figure(outcome, figure, str(file), title)

    return _Source([file], f"fig{figure}").deliver(draw, outputs, dpi)
