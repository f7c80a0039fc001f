# SPDX-License-Identifier: GPL-2.0-or-later
"""Options that several commands have, and the types of their values.

Those that shape the load are declared in workload/options.py and made into options of the command
line here: options.batch is the decorator of the field ``batch``, options.time that of ``time_ns``.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click
from click.core import ParameterSource

from spekctl import files, units
from spekctl.errors import UsageError
from spekctl.workload import endings
from spekctl.workload.options import (
    MEASURING,
    OPTIONS,
    PARSERS,
    Kind,
    Measuring,
    Option,
    Options,
    flag_of,
)
from spekctl.workload.values import FILE_PATTERNS

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

    from spekctl.commands.deliver import Exports
    from spekctl.fio.plan import Asked
    from spekctl.run.start import StartAt
    from spekctl.workload.imported import Imported, RateOf
    from spekctl.workload.model import WorkloadFile


F = TypeVar("F", bound=Callable[..., Any])


class Parsed(click.ParamType):  # type: ignore[type-arg]
    """A value that is read from text. A default may be the value itself."""

    def parse(self, text: str) -> Any:
        """The value of @text; UsageError if it has none."""
        raise NotImplementedError

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if not isinstance(value, str):
            return value
        try:
            return self.parse(value)
        except UsageError as error:
            self.fail(error.message, param, ctx)


class OfKind(Parsed):
    """A value in the notation that a kind of options has."""

    def __init__(self, kind: Kind, name: str) -> None:
        self.name = name
        self.kind = kind

    def parse(self, text: str) -> Any:
        return PARSERS[self.kind](text)


class StartTime(Parsed):
    """``+5s``, ``mono:NS`` or ISO 8601 as a start.StartAt."""

    name = "WHEN"

    def parse(self, text: str) -> StartAt:
        from spekctl.run import start

        return start.parse(text)


class Numbers(Parsed):
    """``1,2,5`` or ``10-100:10`` as numbers."""

    name = "LIST"

    def __init__(self, whole: bool = True) -> None:
        self.whole = whole

    def parse(self, text: str) -> list[int | float]:
        return units.parse_numbers(text, whole=self.whole)


class FiniteRange(click.FloatRange):
    """A number in a range; for click NaN is in all of them."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"'{value}' is not a number", param, ctx)
        return number


class PercentRange(FiniteRange):
    """A number of per cent, or with ``percent=False`` a share; either may be written as ``5%``."""

    def __init__(
        self, least: float, most: float, whole: bool = False, percent: bool = True
    ) -> None:
        super().__init__(least, most)
        self.whole = whole
        self.percent = percent

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        if isinstance(value, str):
            text = value.removesuffix("%")
            try:
                number = float(text)
            except ValueError:
                example = "5%" if self.percent else "0.05 or 5%"
                self.fail(f"'{value}' is not a percentage; write for example {example}", param, ctx)
            value = number / 100 if text != value and not self.percent else number
        number = super().convert(value, param, ctx)
        if not self.whole:
            return number
        if number != int(number):
            self.fail(f"'{value}' is not a whole number of per cent", param, ctx)
        return int(number)


class FilePath(click.Path):
    """A path. An empty one, such as an unset variable of a script, is not the current directory."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if value == "":
            self.fail("the name is empty", param, ctx)
        return super().convert(value, param, ctx)


DURATION = OfKind(Kind.DURATION, "TIME")
DURATION_WITH_UNIT = OfKind(Kind.DURATION_WITH_UNIT, "TIME")
SIZE = OfKind(Kind.SIZE, "SIZE")
CPU_LIST = OfKind(Kind.CPUS, "LIST")
WHOLE_NUMBERS = Numbers()
NUMBERS = Numbers(whole=False)
UNTIL = OfKind(Kind.UNTIL, "END")
CONDITION = OfKind(Kind.THRESHOLDS, "CONDITION")


def flags_of_command() -> dict[str, str]:
    """The options of the command that runs, by the parameters that they set."""
    params = click.get_current_context().command.params
    return {parameter.name or "": max(parameter.opts, key=len) for parameter in params}


def check_labels(labels: Sequence[str], files: Sequence[Path]) -> None:
    """Refuse other than a label for each file, or none."""
    if labels and len(labels) != len(files):
        raise UsageError(
            f"--label is given {_times(len(labels))} for {len(files)} file"
            f"{'s' * (len(files) != 1)}; give one for each"
        )


def _times(number: int) -> str:
    return "once" if number == 1 else f"{number} times"


def refuse_others(option: str, allowed: Collection[str], why: str) -> None:
    """Refuse other options than @allowed (names of parameters) beside @option."""
    context = click.get_current_context()
    for parameter in context.command.params:
        given = context.get_parameter_source(parameter.name or "") is ParameterSource.COMMANDLINE
        if given and parameter.name not in allowed:
            raise UsageError(
                f"{option} and {max(parameter.opts, key=len)} exclude each other: {why}"
            )


data_sheet = click.option(
    "--data-sheet",
    metavar="FILE|MODEL",
    help="Show the figures beside those of a data sheet (TOML), or of a model of `spekctl drive`.",
)


def output(help: str, **attributes: Any) -> Callable[[F], F]:
    """The file that a command writes, parameter ``output``."""
    return click.option(
        *("-o", "--output"),
        type=FilePath(dir_okay=False, path_type=Path),
        metavar="FILE",
        help=help,
        **attributes,
    )


OLDER = "A result that is there becomes FILE~ first."
OLDER_EXPORT = "A file that is there becomes FILE~ first."


def result(help: str) -> Callable[[F], F]:
    """output() of what a command has measured or judged. An older one does not stay: aside.py."""

    def decorate(function: F) -> F:
        from spekctl.commands.aside import replaces_older

        return output(f"{help} {OLDER}")(replaces_older(function, ("output", *EXPORTS_TO_FILES)))

    return decorate


def as_json(what: str = "") -> Callable[[F], F]:
    """--json of a command that prints @what."""
    words = f"{what} as JSON" if what else "As JSON"
    return click.option("--json", "as_json", is_flag=True, help=f"{words} on standard output.")


reports = click.argument(
    "reports",
    nargs=-1,
    required=True,
    metavar="REPORT...",
    type=FilePath(dir_okay=False, path_type=Path),
)

title = click.option(
    "--title", default="", metavar="TEXT", help="Title to use instead of the default."
)


def workload_files(parts: str) -> Callable[[F], F]:
    """The workloads that an import writes, of several @parts each to a file of its own."""
    return output(
        f"Write the workload to FILE.toml; of several {parts} each to a file of its own,"
        " FILE.1.toml and so on.  [default: standard output]"
    )


# Parameters of exports().
EXPORTS = ("fio_json", "fio_logs", "hdr_log", "csv")

# Those that name a file.
EXPORTS_TO_FILES = ("fio_json", "hdr_log", "csv")

STANDARD_OUTPUT = Path("/dev/stdout")


def exports(function: F) -> F:
    """Files of a run in the formats of other programs, as commands.deliver.Exports has them."""
    return _exports(
        ("--csv", _INTERVALS, {}),
        ("--hdr-log", _TIMES, {}),
        (
            "--fio-logs",
            f"{_FIO_LOGS} For _clat_hist, a run polls the kernel's histograms, at the same CPU cost"
            " as --heat-map.",
            {"metavar": "PREFIX"},
        ),
        ("--fio-json", _FIO_JSON, {}),
    )(function)


def exports_of_saved(function: F) -> F:
    """exports() of results that were saved before; --csv writes to standard output by itself. The
    command has an older file renamed by aside.carry_out(), once it has read what it is to write."""
    to_output = {"is_flag": False, "flag_value": str(STANDARD_OUTPUT), "metavar": "[FILE]"}
    return _exports(
        ("--csv", f"{_INTERVALS} Without FILE, to standard output.", to_output),
        ("--hdr-log", _TIMES, {}),
        ("--fio-logs", _FIO_LOGS, {"metavar": "PREFIX"}),
        (
            "--fio-json",
            f"{_FIO_JSON} Several results, of as many hosts, become the client_stats of fio"
            " --client.",
            {},
        ),
    )(function)


_INTERVALS = "Write the report intervals to FILE as CSV, with rates and percentiles by direction."
_TIMES = "Write the distributions of all times to FILE, an HdrHistogram log."
_FIO_LOGS = (
    "Write fio's logs: PREFIX_bw.1.log, _iops, _lat, _clat and _slat with a line for each report"
    " interval, and _clat_hist."
)
_FIO_JSON = "Write the result to FILE as fio does with --output-format=json+."


def _exports(*declared: tuple[str, str, dict[str, Any]]) -> Callable[[F], F]:
    def decorate(function: F) -> F:
        for name, text, attributes in declared:
            path = FilePath(dir_okay=False, path_type=Path)
            parameters: dict[str, Any] = {
                "metavar": "FILE",
                "type": path,
                "help": text,
            } | attributes
            function = click.option(name, **parameters)(function)
        return function

    return decorate


def take_exports(given: dict[str, Any]) -> Exports:
    """Take what exports() has parsed."""
    from spekctl.commands.deliver import Exports

    return Exports(**{name: given.pop(name) for name in EXPORTS})


def folder(help: str) -> Callable[[F], F]:
    """The folder of a campaign, parameter ``out``; a single file is -o, --output."""
    return click.option(
        *("--folder", "out"),
        type=FilePath(file_okay=False, path_type=Path),
        metavar="DIR",
        help=help,
    )


# --- options that shape the load -----------------------------------------------------------------

_TYPES: dict[Kind, click.ParamType] = {  # type: ignore[type-arg]
    Kind.WHOLE: click.INT,
    Kind.NUMBER: click.FLOAT,
    Kind.DURATION: DURATION,
    Kind.DURATION_WITH_UNIT: DURATION_WITH_UNIT,
    Kind.SIZE: SIZE,
    Kind.CPUS: CPU_LIST,
    Kind.UNTIL: UNTIL,
    Kind.THRESHOLDS: CONDITION,
    Kind.TEXT: click.STRING,
}


def option(name: str, default: Any = None) -> Callable[[F], F]:
    """A field of Options as an option of the command line; @default replaces its own."""
    declared = OPTIONS[name]
    return _option(declared if default is None else dataclasses.replace(declared, default=default))


def _option(declared: Option) -> Callable[[F], F]:
    shown = declared.default_text
    if declared.key and declared.fallback is not None and declared.default is None:
        shown = f"the workload's, else {shown}"
    words = [declared.help, declared.more]
    attributes: dict[str, Any] = {"default": declared.default, "metavar": declared.metavar}
    match declared.kind:
        case Kind.FLAG:
            attributes["is_flag"] = True
        case Kind.CHOICE:
            attributes["type"] = click.Choice(declared.choices)
        case Kind.FILE:
            attributes["type"] = FilePath(dir_okay=False, path_type=Path)
        case Kind.NAMES:
            attributes["multiple"] = True
        case kind:
            attributes["type"] = _TYPES[kind]
    if declared.kind is Kind.UNTIL:
        attributes["shell_complete"] = complete_until
    if declared.kind is Kind.THRESHOLDS:
        # None of them is None, as with other options that were not given.
        attributes |= {"multiple": True, "callback": lambda _context, _one, value: value or None}
    text = " ".join(word for word in words if word)
    attributes["help"] = f"{text}  [default: {shown}]" if shown else text
    return click.option(declared.flag_text, declared.name, **attributes)


def together(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator, in this order."""

    def decorate(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return decorate


def load_options(*names: str) -> Callable[[F], F]:
    """Several of them, in this order."""
    return together(*(option(name) for name in names))


def load_range(first: str, before: str | None = None) -> Callable[[F], F]:
    """The options declared from @first on, up to the last one or to the one before @before.
    Consecutive ranges leave no option out, so each new option appears in one of them."""
    names = list(OPTIONS)
    end = len(names) if before is None else names.index(before)
    return load_options(*names[names.index(first) : end])


_BY_FLAG = {flag_of(name).removeprefix("--").replace("-", "_"): name for name in OPTIONS}


def __getattr__(name: str) -> Callable[[F], F]:
    if name not in _BY_FLAG:
        raise AttributeError(f"module {__name__} has no attribute {name}")
    return option(_BY_FLAG[name])


def take_load(given: dict[str, Any]) -> Options:
    """Take the fields of Options out of what click has parsed."""
    return Options(**{name: given.pop(name) for name in OPTIONS if name in given})


def take_measuring(given: dict[str, Any]) -> Measuring:
    """Take the fields of Measuring out of what click has parsed."""
    return Measuring(**{name: given.pop(name) for name in MEASURING if name in given})


# --- for the shell's completion ------------------------------------------------------------------


def complete_workload(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names of workloads, and files."""
    from click.shell_completion import CompletionItem

    from spekctl.errors import SpekError
    from spekctl.workload import file

    names: list[str] = []
    with contextlib.suppress(SpekError):
        names = [name for name in file.shipped_names() if name.startswith(incomplete)]
    return [CompletionItem(name) for name in names] or [CompletionItem(incomplete, type="file")]


def complete_device(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Nodes of block devices, also after ASU=, and files: links to them."""
    from click.shell_completion import CompletionItem

    from spekctl.block import device
    from spekctl.workload import own_devices

    asu, start = own_devices.named(incomplete)
    before = f"{asu}=" if asu else ""
    nodes = [
        before + candidate.node for candidate in device.every() if candidate.node.startswith(start)
    ]
    return [CompletionItem(node) for node in nodes] or [CompletionItem(incomplete, type="file")]


def complete_pattern(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """Names of address patterns."""
    from click.shell_completion import CompletionItem

    return [CompletionItem(pattern) for pattern in FILE_PATTERNS if pattern.startswith(incomplete)]


def complete_until(
    context: click.Context, parameter: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """steady, then its metrics and parameters, one after the other."""
    from click.shell_completion import CompletionItem

    if not incomplete.startswith("steady:"):
        return [
            CompletionItem(word) for word in ("steady", "steady:") if word.startswith(incomplete)
        ]
    before, _, last = incomplete.removeprefix("steady:").rpartition(",")
    head = f"steady:{before}," if before else "steady:"
    metrics = [name for name, kind in endings.METRICS.items() if kind.steady]
    parts = [*metrics, "window=", "range=", "slope="]
    return [CompletionItem(head + part) for part in parts if part.startswith(last)]


# --- the workload itself -------------------------------------------------------------------------


def workload(function: F) -> F:
    """WORKLOAD, or options that describe one, and changes of its fields."""
    for decorator in reversed(
        (
            click.argument("workload", required=False, shell_complete=complete_workload),
            click.option(
                "--read",
                metavar="P",
                help="Without WORKLOAD: share of reads, e.g. 70%.  [default: 100%]",
            ),
            click.option(
                "--size",
                metavar="SIZE",
                help="Without WORKLOAD: block size, e.g. 8KiB.  [default: 4KiB]",
            ),
            click.option(
                "--pattern",
                metavar="PATTERN[:VALUE]",
                shell_complete=complete_pattern,
                help="Without WORKLOAD: address pattern: " + ", ".join(FILE_PATTERNS) + "."
                " Values after colons set its keys: zipf:1.1 (theta), pareto:0.2 (h), normal:10%"
                " (deviation), each with a center if wanted: zipf:1.1:25%;"
                " zoned:60%/10%:40%/90% (share of the I/Os/size of a zone); strided:1MiB:64KiB"
                " (stride, jitter); uniform:30% (share of sequential I/Os); write-pointer:4 (open"
                " zones). --set sets other keys, such as stream.main.zone_size=256KiB for several"
                " I/Os in each stride."
                "  [default: uniform]",
            ),
            settings,
        )
    ):
        function = decorator(function)
    return function


settings = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="FIELD=VALUE",
    help="Override a field of the workload: stream.NAME.size=16KiB, stream.*.read=50%,"
    " run.time=10s; an empty VALUE removes the field. Repeatable.",
)


# What stands before the path of another program's file where a workload is named.
IMPORTED = ("fio:", "vdbench:")


def load_workload(
    name: str, changes: Sequence[str] = (), given: Mapping[str, Any] = MappingProxyType({})
) -> WorkloadFile:
    """The workload of this name or in this file, with its fields changed; of fio:FILE, or of one
    part of it, fio:FILE#PART, standard error says what became of its options.

    @given: the command's own options, which may set the load
    """
    (step,) = _load(name, changes, given, several=False)
    return step.workload


@dataclasses.dataclass(frozen=True, slots=True)
class Step:
    """A workload to run. @command_line: options of `spekctl run` that its file sets, with their
    values, a text each."""

    workload: WorkloadFile
    command_line: Sequence[str] = ()
    beside: bool = False  # it starts together with the one before it
    rate_of: RateOf | None = None  # its rate, of that of a step before it


class _Beside(Protocol):
    @property
    def beside(self) -> bool: ...


B = TypeVar("B", bound=_Beside)


def side_by_side(steps: Sequence[B]) -> list[list[B]]:
    """The steps that start together in one list each."""
    groups: list[list[B]] = []
    for step in steps:
        if step.beside:
            groups[-1].append(step)
        else:
            groups.append([step])
    return groups


def _load(
    name: str,
    changes: Sequence[str],
    given: Mapping[str, Any],
    several: bool,
    words: Sequence[str] = (),
) -> list[Step]:
    """As load_workload(). With @several, jobs or runs of a file, one after the other, are as many
    workloads, and their options are left to the caller.

    @words: fio's arguments, of fio: without a file
    """
    from spekctl.workload import file

    if not name.startswith(IMPORTED):
        return [Step(file.load(name, changes))]
    from spekctl.fio import convert as fio
    from spekctl.vdbench import convert as vdbench

    program, _, place = name.partition(":")
    asked = _asked(given)
    if words:
        return _imported(fio.command_line_steps(words, asked=asked), changes, several)
    if not place:
        words_too = ", or fio: -- and the arguments of fio" if program == "fio" else ""
        raise UsageError(f"'{name}' names no file; write {name}FILE{words_too}")
    before, mark, part = place.rpartition("#")
    if not mark or Path(place).exists():
        before, part = place, ""
    if program == "fio":
        path, sections = Path(before), [part] if part else []
        if several:
            imports = fio.load_steps(path, sections, asked=asked)
        else:
            imports = [fio.load(path, sections, asked=asked)]
    elif several and not part:
        imports = vdbench.load_steps(Path(before))
    else:
        imports = [vdbench.load(Path(before), part or None)]
    return _imported(imports, changes, several)


def _asked(given: Mapping[str, Any]) -> Asked:
    """The load that the options of a command set for the jobs of fio."""
    from spekctl.fio.plan import Asked
    from spekctl.workload.options import AUTO

    workers, cpus = given.get("workers"), given.get("cpus")
    if workers is None:
        workers = len(cpus) if cpus and cpus != AUTO else 1
    return Asked(workers, load=bool(given.get("depth") or given.get("rate")))


def _imported(imports: Sequence[Imported], changes: Sequence[str], taken: bool) -> list[Step]:
    """The workloads, with their fields changed; their reports go to standard error. @taken: the
    options that a run needs are taken, not to be given by hand."""
    import msgspec

    from spekctl.render.imported import report_lines
    from spekctl.workload import file

    for step in imports:
        if step.clients:
            raise UsageError(
                f"{step.workload.workload.name} is a run on several hosts: import it"
                f" (spekctl {step.program} ... -o FILE) and carry out its plan (spekctl fleet run)"
            )
    if imports[0].between:
        raise UsageError(imports[0].between)
    for step in imports:
        for line in report_lines(step, taken):
            click.echo(f"spekctl: {line}", err=True)
    return [
        Step(
            file.with_settings(msgspec.to_builtins(step.workload), changes),
            tuple(step.command_line),
            step.beside,
            step.rate_of,
        )
        for step in imports
    ]


def files_of_workload(name: str) -> list[Path]:
    """The files that the name of a workload may mean: itself, or FILE of fio:FILE#JOB and the like.
    Those that do not exist are among them."""
    place = name.partition(":")[2] if name.startswith(IMPORTED) else name
    return [Path(text) for text in (place, place.rpartition("#")[0]) if text]


def take_workload(given: dict[str, Any], workers: int | None = None) -> WorkloadFile:
    """Take what workload() has parsed: a file with its changes, or one stream without a file.

    @workers: most workers of any run, if not those in @given
    """
    (step,) = _take_workloads(given, several=False, workers=workers)
    return step.workload


def take_steps(given: dict[str, Any]) -> list[Step]:
    """As take_workload(), and all steps of another program's file, to be run in this order, with
    the options that it sets."""
    return _take_workloads(given, several=True)


def _take_workloads(given: dict[str, Any], several: bool, workers: int | None = None) -> list[Step]:
    from spekctl.workload import file
    from spekctl.workload.notation import pattern_fields, settings_of

    name: str | None = given.pop("workload")
    words: Sequence[str] = given.pop("words", ())
    if words and name != "fio:":
        raise UsageError(
            f"unexpected extra argument ({words[0]}); arguments of fio are for `fio:`:"
            " spekctl run fio: -- --name=a --rw=randread"
        )
    fields: dict[str, object] = {key: given.pop(key) for key in ("read", "size", "pattern")}
    pattern = fields["pattern"]
    if isinstance(pattern, str):
        fields |= pattern_fields(pattern)
    changes = given.pop("settings")
    described = [key for key, value in fields.items() if value is not None]
    if name is not None and described:
        key = described[0]
        keys = described[described.index(key) :] if key == "pattern" else [key]
        changes = settings_of({key: fields[key] for key in keys}, "NAME")
        raise UsageError(
            f"--{key} describes a workload without a file; to change {name}, give"
            + "".join(f" --set {change}" for change in changes)
        )
    if name is not None:
        files.check_apart(given.get("output"), files_of_workload(name))
        load = given if workers is None else {**given, "workers": workers}
        return _load(name, changes, load, several, words)
    if not described:
        raise UsageError(
            "name a workload (`spekctl workloads` lists them), or describe one:"
            " --read 70% --size 8KiB --pattern uniform"
        )
    return [Step(file.one_stream(fields, changes))]


# --- options of run that other commands have, too -----------------------------------------------

_DEVICE_HELP = "Block device to test; repeat the option to stripe the workload over several."
_PLACED_HELP = (
    f"{_DEVICE_HELP} ASU=DEV places that [[asu]] on DEV instead, which is then not striped over."
)
devices = click.option(
    *("--device", "-d", "devices"),
    multiple=True,
    required=True,
    metavar="DEV",
    help=_DEVICE_HELP,
    shell_complete=complete_device,
)
optional_devices = click.option(
    *("--device", "-d", "devices"),
    multiple=True,
    metavar="DEV",
    help=_DEVICE_HELP,
    shell_complete=complete_device,
)
placed_devices = click.option(
    *("--device", "-d", "devices"),
    multiple=True,
    metavar="[ASU=]DEV",
    help=_PLACED_HELP,
    shell_complete=complete_device,
)
# Of a command that takes the devices that a file names.
own_devices = click.option(
    *("--device", "-d", "devices"),
    multiple=True,
    metavar="[ASU=]DEV",
    help=f"{_PLACED_HELP}  [default: those that a file of fio or vdbench names]",
    shell_complete=complete_device,
)
start_at = click.option(
    "--start-at",
    type=StartTime(),
    help="Open the devices first, then start at WHEN: +5s after they are open, mono:NANOSECONDS"
    " of CLOCK_MONOTONIC, or an ISO 8601 time (local time unless it has an offset; converted to"
    " CLOCK_MONOTONIC when the devices are open). A time in the past is refused.",
)
destroy = click.option(
    "--destroy",
    multiple=True,
    metavar="SERIAL",
    help="With --write: overwrite the device with this serial number or WWN although it holds data."
    " `spekctl devices` lists them (MAJ:MIN/DISKSEQ for devices without a unique one). Repeatable.",
)
*_metering, heat_map, log, log_buffer = map(_option, MEASURING.values())
# What is measured beside the I/Os.
metering = together(*_metering)


progress = click.option(
    "--progress",
    type=click.Choice(["auto", "live", "lines", "none"]),
    default="auto",
    show_default=True,
    help="Progress display on standard error; auto is live on a terminal, else lines.",
)
