# SPDX-License-Identifier: GPL-2.0
"""An option has one declaration, and everything that knows it follows from that."""

from __future__ import annotations

import dataclasses
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator

import click
import msgspec
import pytest
from lib.ctl.command_line import Spekctl, options_are_known
from lib.fakes.kernel import FakeKernel

from spekctl.cli import cli
from spekctl.commands import plot, run, show, spc1, sweep
from spekctl.gate import formats
from spekctl.kernel.gen import spek
from spekctl.workload import options
from spekctl.workload.config import RunConfig
from spekctl.workload.model import RunDefaults
from spekctl.workload.options import OPTIONS, Kind, Options


def parameters(command: click.Command) -> dict[str, click.Option]:
    return {
        parameter.name or "": parameter
        for parameter in command.params
        if isinstance(parameter, click.Option)
    }


def test_the_keys_of_a_file_are_those_declared() -> None:
    declared = {option.key for option in OPTIONS.values() if option.key}
    assert declared == {field.name for field in msgspec.structs.fields(RunDefaults)}


def test_the_attributes_are_those_of_the_contract_and_of_the_resolved_run() -> None:
    contract = {name for _, name, *_ in spek.RunMsg.nla_map}
    resolved = {field.name for field in msgspec.structs.fields(RunConfig)}
    declared = {name: option.attribute for name, option in OPTIONS.items() if option.attribute}
    assert {f"SPEK_A_RUN_{attribute.upper()}" for attribute in declared.values()} <= contract
    assert set(declared) <= resolved


def test_run_has_all_of_them() -> None:
    options_of_run = parameters(run.command)
    for name, option in OPTIONS.items():
        assert options.flag_of(name) in options_of_run[name].opts
        assert option.help in (options_of_run[name].help or "")


LISTS = {(sweep.command, name) for name in ("bsu", "rate", "depth")}


@pytest.mark.parametrize("command", [sweep.command, show.command, spc1.command])
def test_an_option_is_the_same_in_every_command(command: click.Command) -> None:
    of_run, own = parameters(run.command), parameters(command)
    shared = [name for name in OPTIONS if name in own and (command, name) not in LISTS]
    assert len(shared) >= 4
    for name in shared:
        if name != "ramp_ns" or command is not spc1.command:
            assert (own[name].opts, own[name].help) == (of_run[name].opts, of_run[name].help)


def every_command(
    command: click.Command = cli, path: str = ""
) -> Iterator[tuple[str, click.Command]]:
    """All commands by the words that call them."""
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            assert inner is not None
            yield from every_command(inner, f"{path} {name}".strip())


def takes(option: click.Option, command: click.Command) -> str:
    """What stands behind an option: "TIME", "N"; empty for a flag."""
    if option.is_flag:
        return ""
    return option.make_metavar(click.Context(command))


# A campaign tries each of several values of an option of `run`.
SEVERAL = {
    ("sweep", "--bsu"): "LIST",
    ("sweep", "--rate"): "LIST",
    ("sweep", "--depth"): "LIST",
    ("energy emerald", "--workers"): "LIST",
}
# What these say is said of the source of a calibration, or of one direction more.
OTHERWISE = {
    ("power calibrate", "--set"): "KEY=VALUE",
    ("plot cdf", "--only"): "[read|write|all]",
    # Which of the study's traces it is.
    ("drive study", "--trace"): "NAME=FILE",
    # Which of those in the samples count, not disks to make or rails of a file.
    ("energy dcse", "--disk"): "NAME",
    ("energy dcse", "--rail"): "FEED/RAIL",
    # Their standard output is for the result; that of other commands is for CSV.
    ("run", "--csv"): "FILE",
    ("watch", "--csv"): "FILE",
    ("fleet run", "--csv"): "FILE",
    ("fleet merge", "--csv"): "FILE",
    ("show", "--csv"): "[FILE]",
    # These place asus, which only loads have.
    **{
        (name, "--device"): "[ASU=]DEV"
        for name in ("run", "sweep", "spc1", "energy spc1e", "show", "fio")
    },
    # The format of a verdict, not that of a trace.
    **{(name, "--format"): f"[{'|'.join(formats.NAMES)}]" for name in ("compare", "gate")},
    # Several files: a picture is PNG and SVG unless the name says which.
    **{(f"plot {name}", "--output"): "NAME" for name in plot.command.commands},
}


def visible_options() -> Iterator[tuple[str, click.Option, click.Command]]:
    for path, command in every_command():
        for parameter in command.params:
            if isinstance(parameter, click.Option) and not parameter.hidden:
                yield f"{path} {max(parameter.opts, key=len)}", parameter, command


def test_help_shows_defaults_and_values_in_one_style() -> None:
    for name, option, command in visible_options():
        assert not re.search(r"  \[(?!default: )", option.help or ""), name
        assert not re.search("INTEGER|FLOAT|TEXT RANGE", takes(option, command)), name


def test_the_line_of_a_command_in_the_help_of_its_group_is_whole() -> None:
    for path, command in every_command():
        # Those of spekctl itself are in COMMANDS.
        if " " in path:
            assert not command.get_short_help_str(80).endswith("..."), path


def test_help_fits_a_terminal_of_80_columns() -> None:
    for path, command in every_command():
        context = click.Context(command, info_name=f"spekctl {path}".strip(), terminal_width=80)
        for line in command.get_help(context).splitlines():
            assert len(line) <= 80, f"{path}: {line}"


def test_examples_in_the_help_have_the_options_that_they_are_given() -> None:
    lines = [
        line.strip().removeprefix("sudo ").partition("  ")[0].partition(" #")[0]
        for _, command in every_command()
        for line in (command.epilog or "").replace("\\\n", " ").splitlines()
    ]
    examples = [line for line in lines if re.match(r"(\.venv/bin/)?spekctl ", line)]
    assert len(examples) > 50
    for line in examples:
        words = shlex.split(re.sub(" [|>].*", "", line.replace("*.json", ".json")))
        options_are_known(cli, words[1:])


def test_the_lines_of_examples_stay_as_they_are_written() -> None:
    for path, command in every_command():
        for paragraph in (command.epilog or "").split("\n\n"):
            if re.search(r"^ +(\.venv/bin/|sudo )?spekctl ", paragraph, re.M):
                assert paragraph.startswith("\b\n"), f"{path}: {paragraph}"


def test_an_option_takes_the_same_in_every_command() -> None:
    values: dict[str, dict[str, set[str]]] = {}
    for path, command in every_command():
        for parameter in command.params:
            name = max(parameter.opts, key=len)
            if isinstance(parameter, click.Option) and not parameter.hidden:
                taken = takes(parameter, command)
                if {**SEVERAL, **OTHERWISE}.get((path, name)) != taken:
                    values.setdefault(name, {}).setdefault(taken, set()).add(path)
    assert {name: kinds for name, kinds in values.items() if len(kinds) > 1} == {}


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("time_ns", "60s"),
        ("interval_ns", "1s"),
        ("spin_ns", "0ns"),
        ("stripe_bytes", "64KiB"),
        ("seed", "1"),
        ("data", "zero"),
        ("batch", "chosen by the module"),
        ("write", ""),
        ("depth", ""),
    ],
)
def test_the_default_that_the_help_shows_is_the_one_that_counts(name: str, text: str) -> None:
    assert options.OPTIONS[name].default_text == text


def test_the_command_line_wins_over_the_file_and_the_file_over_the_default() -> None:
    file = RunDefaults(interval="2s", batch=4)
    assert options.setting("interval_ns", Options(interval_ns=5), file) == 5
    assert options.setting("interval_ns", Options(), file) == 2 * 10**9
    assert options.setting("interval_ns", Options(), RunDefaults()) == 10**9
    assert options.setting("batch", Options(), file) == 4
    assert options.setting("batch", Options(), RunDefaults()) is None


def test_what_is_given_arrives_in_the_kernel(spekctl: Spekctl, kernel: FakeKernel) -> None:
    """One value for each kind of option."""
    line = "run random-read-4k -d /dev/fake0 --batch 7 --spin 3us --interval 2s --seed 9 --polled"
    assert spekctl(*line.split(), "--progress", "none").code == 0
    config = kernel.config
    assert config is not None
    assert (config.batch, config.spin_ns, config.interval_ns) == (7, 3000, 2 * 10**9)
    assert (config.seed, config.polled) == (9, True)


def test_what_is_written_reads_as_it_was() -> None:
    texts = {
        "bsu": "5",
        "rate": "333.3333333333333",
        "time": "1500ms",
        "passes": "0.1",
        "cpus": "0-2,7",
        "seed": "9",
        "write": True,
        "backend": "mq",
        "until": "steady:iops,read.p99,window=10,range=15%",
        "stop-when": ["p99 > 10ms and errors > 0", "read.bandwidth < 200MiB/s"],
        "data": "zero",
        "hrrw": "fixed",
        "stripe": "128KiB",
    }
    given, _ = options.read(texts)
    written = options.written(given)
    assert options.read(written)[0] == given
    assert set(written) == set(texts) and written["rate"] == texts["rate"]
    assert options.written(options.Options()) == {}
    near, _ = options.read({"cpus": "auto"})
    assert near.cpus == options.AUTO and options.written(near) == {"cpus": "auto"}


@pytest.mark.parametrize(
    "until", ["steady", "steady:iops", "steady:window=7,range=0.1234567890123%"]
)
def test_an_end_is_written_without_metrics_that_nobody_named(until: str) -> None:
    """Hosts of a fleet choose latency for a load that fixes its IOPS, as one machine does."""
    given, _ = options.read({"until": until})
    assert options.read(options.written(given))[0] == given


def test_fields_that_are_no_options_are_named() -> None:
    others = {field.name for field in dataclasses.fields(Options)} - set(OPTIONS)
    assert others == {"detached", "available_cpus"}
    assert all(option.choices for option in OPTIONS.values() if option.kind is Kind.CHOICE)


def test_options_need_no_pictures() -> None:
    code = (
        "import sys; from spekctl.commands import options, run;"
        "sys.exit(any(name.startswith('spekctl.plots') for name in sys.modules))"
    )
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    source = options.__file__.replace("workload", "commands")
    with open(source, encoding="utf-8") as file:
        assert "plots" not in file.read()


def test_a_folder_and_a_file_have_names_that_do_not_look_alike(spekctl: Spekctl) -> None:
    for command in (("spc1",), ("sweep",), ("energy", "emerald")):
        text = spekctl(*command, "--help").out
        assert "--folder DIR" in text and "--out " not in text
