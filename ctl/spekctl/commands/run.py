# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl run: a workload on devices, from the command line to the result."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import shlex
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spekctl.commands import on_hosts, options, steps
from spekctl.commands.steps import Part, Planned, RunOptions
from spekctl.errors import UsageError
from spekctl.workload.options import AUTO, OPTIONS

if TYPE_CHECKING:
    from spekctl.commands.deliver import Exports
    from spekctl.documents.result import Result
    from spekctl.kernel.client import Kernel
    from spekctl.power.meter import PowerOptions
    from spekctl.run.holding import Holding
    from spekctl.run.job import Interrupts, Request
    from spekctl.workload.layout import Target
    from spekctl.workload.model import TraceSource, WorkloadFile
    from spekctl.workload.options import Measuring

EPILOG = """\b
Examples:
  spekctl run random-read-4k --device /dev/nvme0n1 --time 30s
  spekctl run --read 70% --size 8KiB --pattern uniform --depth 16 \\
      --device /dev/sdb --write
  spekctl run random-read-4k --set stream.main.size=16KiB --device /dev/sdb
  spekctl run spc1 --bsu 50 --device /dev/sdb --ramp 10s --time 60s --write \\
      -o out.json
  spekctl run mixed-70-30-8k --rate 5000 --device /dev/sdb --device /dev/sdc \\
      --write
  spekctl run mixed-70-30-8k --device /dev/sdb --write --verify \\
      --verify-state sdb.state
  spekctl run sync.toml --device /dev/sdb --write --verify \\
      --state-on /dev/sdc --time 1h
  spekctl run random-read-4k --device /dev/sdb --start-at 2027-01-31T12:00:00Z
  spekctl run fio: --device /dev/sdb -- --name=a --direct=1 --rw=randread \\
      --bs=8k --runtime=30
  spekctl run --trace hm_0.csv.gz --map wrap --device /dev/sdb --write
  spekctl run random-read-4k --rate 20000 --fleet plan.toml \\
      --keys keys/controller
"""


@click.command(epilog=EPILOG, no_args_is_help=True)
@options.workload
@click.argument("words", metavar="[-- ARGUMENTS]", nargs=-1)
@options.own_devices
@on_hosts.hosts_options
@options.load_range("bsu", "ramp_ns")
@options.start_at
@options.load_range("ramp_ns", "backend")
@options.destroy
@options.load_range("backend", "hrrw")
@click.option(
    "--verify-state",
    type=options.FilePath(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="With --verify: save the state of all written blocks to FILE, for `spekctl verify`.",
)
@click.option(
    "--state-on",
    metavar="DEV",
    help="With --verify: log acknowledged and flushed writes on DEV, another disk. After a power"
    " cut, `spekctl verify --from DEV` reports those that are lost.",
)
@click.option(
    "--state-apart",
    is_flag=True,
    help="With --state-on: DEV is on another drive than the devices under test, although it has the"
    " serial number or the NVMe subsystem of one.",
)
@options.load_range("hrrw")
@click.option(
    "--trace",
    "traces",
    multiple=True,
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Replay a trace instead of a workload; repeat the option for a trace in several files."
    " Each device of the trace goes to a --device, in turn. To run other streams alongside a"
    " trace, use a workload file.",
)
@click.option(
    "--speed",
    metavar="F",
    help="With --trace: replay F times as fast as recorded, with its bursts.  [default: 1]",
)
@click.option(
    "--bursts",
    is_flag=True,
    help="With --trace and --rate: R requests per second on average, with the bursts of the trace"
    " instead of equal gaps.",
)
@click.option(
    "--closed",
    type=int,
    metavar="N",
    help="With --trace: closed loop of N I/Os outstanding; the times of the trace are ignored.",
)
@click.option(
    "--think",
    is_flag=True,
    help="With --closed: think times. Each I/O waits, after the completion that makes room for it,"
    " as long as it came after the I/O before it in the trace.",
)
@click.option(
    "--max-idle",
    metavar="TIME",
    help="With --trace: cut times between successive requests, as recorded and over all its"
    " devices, that are longer than TIME (1s) to it, before --speed. Not with --rate, nor with"
    " --closed without --think.",
)
@click.option(
    "--map",
    "map_",
    type=click.Choice(["as-is", "wrap", "scale", "concatenate", "pack"]),
    help="With --trace: how its addresses are mapped onto the devices. as-is refuses addresses"
    " beyond them, wrap takes addresses modulo the size, scale stretches or shrinks them,"
    " concatenate lays the devices of the trace one after the other, pack leaves out ranges that"
    " are never accessed.  [default: as-is]",
)
@click.option(
    "--share-by",
    "share",
    type=click.Choice(["address", "time"]),
    help="With --trace and --workers: each worker has an equal part of the addresses, or they take"
    " requests in turn. Requests that overlap always have the same worker.  [default: address]",
)
@click.option(
    "--detach",
    is_flag=True,
    help="Start the run in the background and print its number; `spekctl watch` shows its result.",
)
@options.metering
@options.result("Write the result as JSON to FILE.")
@options.exports
@options.heat_map
@options.log
@options.log_buffer
@options.as_json("Result")
@options.progress
@click.option(
    "--dry-run",
    is_flag=True,
    help="Check all input without sending any I/O, and print the workload as TOML and in numbers.",
)
def command(**given: Any) -> int:
    """Run WORKLOAD, a name from `spekctl workloads` or the path of a .toml file.

    fio:JOB.fio takes the jobs of a file of fio, fio: those of ARGUMENTS, fio's command line, and
    vdbench:FILE the runs of a file of vdbench, one after the other. Their devices, --verify, --cpus
    and all else that the file sets are taken from it unless given here; --write and --destroy are
    not.

    Without WORKLOAD, --read, --size and --pattern describe a single stream, named main. --set
    overrides any field, and --dry-run prints the resulting workload as TOML.

    The devices are claimed exclusively: a device that is mounted or otherwise in use is refused.
    A workload that only reads opens them read-only. A workload that writes needs --write, and
    either devices that hold no data or --destroy.

    With --fleet, the hosts of a plan run WORKLOAD together. --rate, --depth, --bsu, --count,
    --ramp-count and --max-outstanding are totals, of which each client has an equal part whatever
    the weights of shared devices; all other options, as --max-errors, apply to each client.

    The result goes to standard output: a table, or JSON with --json. Ctrl-C stops the run
    cleanly; the result so far is still written.
    """
    if given["fleet_file"] is not None:
        from spekctl.commands import run_fleet

        return run_fleet.run(given)
    on_hosts.check_without_fleet()
    return _run(_taken(given))


def _trace_of(given: dict[str, Any]) -> TraceSource | None:
    """Take the options of a replay, but for --rate, out of what click has parsed."""
    from spekctl.workload.model import TraceSource

    files, speed = given.pop("traces"), given.pop("speed")
    closed, think, map_ = given.pop("closed"), given.pop("think"), given.pop("map_")
    share, bursts, max_idle = given.pop("share"), given.pop("bursts"), given.pop("max_idle")
    if files:
        paces = [pace for pace in (speed, given["rate"], closed) if pace is not None]
        if len(paces) > 1:
            raise UsageError("--speed, --rate and --closed exclude each other")
        if bursts and given["rate"] is None:
            raise UsageError("--bursts needs --rate as well")
        if think and closed is None:
            raise UsageError("--think needs --closed as well")
        paths = [str(file) for file in files]
        return TraceSource(
            paths,
            speed=speed,
            rate=given["rate"],
            bursts=bursts,
            closed=closed,
            think=think,
            max_idle=max_idle,
            map=map_ or "as-is",
            share=share or "address",
        )
    for option, value in (
        ("--speed", speed),
        ("--bursts", bursts or None),
        ("--closed", closed),
        ("--map", map_),
        ("--think", think or None),
        ("--max-idle", max_idle),
        ("--share-by", share),
    ):
        if value is not None:
            raise UsageError(f"{option} needs --trace as well")
    return None


# Parameters that describe a workload, or need one.
_OF_WORKLOADS = frozenset(
    {
        *("workload", "read", "size", "pattern", "settings", "bsu", "iops_per_bsu", "depth"),
        *("count", "passes", "ramp_count", "polled", "verify", "verify_state", "state_on"),
        "state_apart",
        *("hrrw", "stripe_bytes"),
        "detach",
    }
)


def _refuse_beside_trace() -> None:
    names = {parameter.name or "" for parameter in click.get_current_context().command.params}
    options.refuse_others("--trace", names - _OF_WORKLOADS, "a trace has its own requests")


def _taken(given: dict[str, Any]) -> list[Part]:
    """What click has parsed: what to run, one step after the other, and how."""
    for key in ("keys_folder", "wait_ns"):
        del given[key]
    if given.pop("fleet_file") is not None:
        raise UsageError("--fleet is not for a run whose machine is given")
    given["exports"] = options.take_exports(given)
    given["measuring"] = options.take_measuring(given)
    source = _trace_of(given)
    name = given.get("workload")
    sources = tuple(options.files_of_workload(name)) if name is not None else ()
    if source is None:
        taken_steps = options.take_steps(given)
    else:
        from spekctl.run import replay_request

        _refuse_beside_trace()
        for key in ("workload", "words", "read", "size", "pattern", "settings"):
            given.pop(key)
        taken_steps = [options.Step(replay_request.workload_of(source))]
    asked = RunOptions(load=options.take_load(given), sources=sources, **given)
    renamed = _renamed(taken_steps, asked.devices)
    parts: list[Part] = []
    for group in options.side_by_side(taken_steps):
        # The command line says when the first ones start.
        own = dataclasses.replace(asked, start_at=None) if parts else asked
        parts += [_part(step, own, len(group) > 1, bool(parts), renamed) for step in group]
    return parts


def _renamed(wanted: Sequence[options.Step], given: Sequence[str]) -> Mapping[str, str]:
    """Where jobs run side by side, the devices that are @given for those that the file names."""
    from spekctl.workload.imported import devices_of

    if not given or not any(step.beside for step in wanted):
        return {}
    named = dict.fromkeys(name for step in wanted for name in devices_of(step.command_line))
    if len(given) != len(named):
        raise UsageError(
            f"its jobs run side by side on {len(named)} devices ({', '.join(named)}): give as many"
            " with --device, in this order, or none"
        )
    return dict(zip(named, given, strict=True))


def _part(
    step: options.Step,
    asked: RunOptions,
    together: bool,
    later: bool,
    renamed: Mapping[str, str],
) -> Part:
    """A step with the options that its file sets and the command line does not.

    @together: others start with it
    @later: it is not among the first to start
    """
    from spekctl.commands import taken
    from spekctl.workload import own_devices
    from spekctl.workload.imported import devices_of

    of_file = taken.of(step.command_line, {"start_at"} if together or later else ())
    if of_file.words:
        shown = shlex.join(of_file.words)
        click.echo(f"spekctl: taken from the job: {shown}", err=True)
    load = {name: value for name, value in of_file.values.items() if name in OPTIONS}
    others = {name: value for name, value in of_file.values.items() if name not in OPTIONS}
    if renamed and (names := devices_of(step.command_line)):
        others["devices"] = tuple(renamed[name] for name in names)
    delay_ns = 0
    if together and "start_at" in others:
        delay_ns = others.pop("start_at").ns
    asked = dataclasses.replace(
        asked,
        load=dataclasses.replace(asked.load, **load),
        taken=tuple(of_file.words),
        **others,
    )
    if not asked.devices and not own_devices.are_all(step.workload):
        context = click.get_current_context()
        (device,) = (each for each in context.command.params if each.name == "devices")
        raise click.MissingParameter(ctx=context, param=device)
    return Part(step.workload, asked, step.beside, delay_ns, step.rate_of)


def check(words: Sequence[str], devices: Mapping[str, Target], cpus: Sequence[int]) -> None:
    """Refuse the arguments of a run on another machine, by the checks that need none of its files.

    @devices: those of that machine whose properties are known, by the names that --device has
    @cpus: of that machine
    """
    from spekctl.trace.trace import open_trace
    from spekctl.workload import meaning

    with command.make_context("spekctl run", list(words)) as context:
        parts = _taken(context.params)
        if len(parts) > 1:
            raise UsageError(f"a run of {len(parts)} steps leaves {len(parts)} results, not one")
        ((workload, asked),) = ((part.workload, part.asked) for part in parts)
        for option, given in (("--detach", asked.detach), ("--dry-run", asked.dry_run)):
            if given:
                raise UsageError(f"a run with {option} leaves no result")
        _power_of(asked.measuring)
        _check_files(workload, asked)
    if meaning.replays(workload):
        for stream in workload.stream:
            if stream.trace is not None:
                open_trace([Path(file) for file in stream.trace.files])
        return
    _check_load(workload, asked, devices, cpus)


def foresee(words: Sequence[str], devices: Mapping[str, Target], cpus: Sequence[int]) -> None:
    """As check(), but of a run that may leave any number of results, and without opening traces."""
    from spekctl.workload import meaning

    with command.make_context("spekctl run", list(words)) as context:
        parts = _taken(context.params)
    for part in parts:
        if not meaning.replays(part.workload):
            _check_load(part.workload, part.asked, devices, cpus)


def _check_load(
    workload: WorkloadFile,
    asked: RunOptions,
    devices: Mapping[str, Target],
    cpus: Sequence[int],
) -> None:
    """Refuse a load that does not fit the devices, if all of them are known."""
    from spekctl.block.safety import without_write
    from spekctl.run import request as run_request
    from spekctl.workload import own_devices

    workload, paths = own_devices.taken(workload, asked.devices)
    targets = [devices[path] for path in paths if path in devices]
    if len(targets) < len(paths):
        return
    load = dataclasses.replace(asked.load, available_cpus=list(cpus))
    config, _remarks = run_request.configured(workload, load, targets)
    if config.writes and not asked.load.write:
        raise without_write(paths)


def _run(parts: Sequence[Part]) -> int:
    """Check all steps, and then run them in order, up to the first that does not come to its end
    without errors."""
    asked = parts[0].asked
    if asked.detach:
        _check_detached(asked)
    if len(parts) > 1:
        steps.check(len(parts), asked)
    planned: list[list[Planned]] = []
    number = 0
    for group in options.side_by_side(parts):
        planned.append([])
        for part in _on_cpus_of_their_own(group):
            number += 1
            own = steps.of_step(part.asked, number, len(parts))
            _check_files(part.workload, own, number, len(parts))
            ready = dataclasses.replace(part, asked=own)
            planned[-1].append(Planned(ready, _prepared(part.workload, own)))
    requests = [each.request for group in planned for each in group]
    _check_destroy(requests)
    if asked.dry_run:
        for wanted in requests:
            _print_plan(wanted, asked.as_json)
        return 0
    if len(parts) > 1:
        steps.set_aside([each.part.asked for group in planned for each in group])
    power = _power_of(asked.measuring)

    from spekctl.kernel import client
    from spekctl.run import request as run_request

    for wanted in requests:
        run_request.check_write(wanted)
    kernel = client.connect()
    try:
        if asked.detach:
            return _detach(kernel, requests[0], asked)
        return _run_all(kernel, planned, asked.exports, power)
    finally:
        kernel.close()


def _on_cpus_of_their_own(group: Sequence[Part]) -> Sequence[Part]:
    """Runs that go side by side, each with workers on other CPUs as far as there are any, unless
    it has --cpus."""
    if len(group) == 1:
        return group
    if any(part.asked.load.cpus == AUTO for part in group):
        raise UsageError(
            f"--cpus auto is for a run that starts alone; {len(group)} start together: list CPUs"
        )
    available = sorted(os.sched_getaffinity(0))
    spread, used = [], 0
    for part in group:
        load = part.asked.load
        workers = load.workers or 1
        if load.cpus is None and workers <= len(available):
            cpus = [available[(used + index) % len(available)] for index in range(workers)]
            used += workers
            asked = dataclasses.replace(part.asked, load=dataclasses.replace(load, cpus=cpus))
            part = dataclasses.replace(part, asked=asked)
        spread.append(part)
    return spread


def _check_destroy(requests: Sequence[Request]) -> None:
    """--destroy names devices of any of the runs."""
    from spekctl.run import request as run_request

    devices = {
        device.path: device
        for wanted in requests
        for device in (*wanted.devices, *filter(None, [wanted.state_on]))
    }
    run_request.check_destroy(dataclasses.replace(requests[0], devices=list(devices.values())))


def _prepared(workload: WorkloadFile, asked: RunOptions) -> Request:
    """The request of a step, with all checks that need no module."""
    from spekctl import files
    from spekctl.run import measuring
    from spekctl.run import request as run_request

    subject = run_request.on(workload, asked.devices)
    wanted = run_request.build(subject, asked.load, asked.destroy, asked.detach)
    files.check_writable(asked.output)
    wanted = _with_log(_with_state(wanted, asked), asked.measuring)
    wanted = _with_state_on(wanted, asked)
    if asked.exports.csv is not None and wanted.config.interval_ns == 0:
        raise UsageError("--csv writes report intervals; --interval 0 has none")
    histograms = asked.exports.fio_logs is not None
    wanted = measuring.with_slices(wanted, asked.measuring.heat_map, histograms)
    wanted = measuring.with_power_states(wanted, asked.measuring.power_states)
    command = _with_words(wanted.command, asked.taken)
    return dataclasses.replace(wanted, start_at=asked.start_at, command=command)


def _with_words(command: Sequence[str], words: Sequence[str]) -> list[str]:
    """A command line with more options, which stand before the arguments behind --."""
    end = command.index("--") if "--" in command else len(command)
    return [*command[:end], *words, *command[end:]]


def _print_plan(wanted: Request, as_json: bool) -> None:
    from spekctl.commands.show import print_numbers, print_toml

    if not as_json:
        print_toml(wanted.workload)
    print_numbers(wanted.config, as_json)


def _run_all(
    kernel: Kernel,
    planned: Sequence[Sequence[Planned]],
    exports: Exports,
    power: PowerOptions,
) -> int:
    """Run the steps; the worst of their exit codes."""
    from spekctl.commands.deliver import deliver_alone, measured
    from spekctl.errors import ExitCode, SpekError
    from spekctl.render import together
    from spekctl.run import ending, holding, job

    results: list[Result] = []
    count = sum(len(group) for group in planned)
    codes: list[ExitCode] = []
    with job.Interrupts() as interrupts, contextlib.ExitStack() as stack:
        # Steps share claims: between two of them nobody else can claim the devices.
        held: list[Holding] = []
        if len(planned) > 1:
            requests = [each.request for group in planned for each in group]
            held = holding.of_steps(kernel, requests, interrupts)
            for claimed in dict.fromkeys(held):
                stack.enter_context(claimed)
        for number, group in enumerate(planned, start=1):
            if len(planned) > 1:
                titles = ", beside ".join(each.title for each in group)
                click.echo(f"spekctl: step {number} of {len(planned)}: {titles}", err=True)
            goes_on = True
            with measured(ending.worst(codes)):
                group = steps.at_measured_rates(group, results)
            failures: list[SpekError] = []
            own = held[len(results) : len(results) + len(group)]
            running = _measured(kernel, group, interrupts, power, own)
            # A result that cannot be delivered leaves no run behind, and those of the runs beside
            # it are delivered all the same.
            with contextlib.closing(running):
                for each, result in zip(group, running, strict=True):
                    results.append(result)
                    codes.append(ending.exit_code_of(result, interrupts))
                    # A step without I/O has failed, and says nothing about those after it.
                    alone = ending.exit_code_of(result, interrupts, is_part=True)
                    goes_on = goes_on and alone == ExitCode.OK
                    try:
                        deliver_alone(result, each.part.asked.output, each.part.asked.as_json)
                        exports.deliver(results, count)
                    except SpekError as error:
                        failures.append(error)
            if failures:
                for failure in failures[1:]:
                    click.echo(f"spekctl: {failure.message}", err=True)
                with measured(ending.worst(codes)):
                    raise failures[0]
            if len(group) > 1:
                click.echo(together.sum_line(results[-len(group) :]))
            if not goes_on:
                break
    left = count - len(results)
    if left:
        click.echo(f"spekctl: {left} step{'s were' if left > 1 else ' was'} not run", err=True)
    return int(ending.worst(codes))


def _measured(
    kernel: Kernel,
    group: Sequence[Planned],
    interrupts: Interrupts,
    power: PowerOptions,
    held: Sequence[Holding],
) -> Generator[Result]:
    """The results of runs that go side by side, or of one. @held: what holds the devices of each;
    empty: nothing does."""
    from spekctl.render import progress as render_progress
    from spekctl.run import together
    from spekctl.run.measure import measure

    asked = group[0].part.asked
    sampling_ns = asked.measuring.sampling_ns
    with contextlib.ExitStack() as stack:
        if len(group) == 1:
            view = render_progress.choose(asked.progress, group[0].title)
            stack.callback(view.close)
            claimed = held[0] if held else None
            yield measure(kernel, group[0].request, view, interrupts, sampling_ns, power, claimed)
            return
        # The command line says when the first of them starts.
        earliest = min(each.part.delay_ns for each in group) if asked.start_at else 0
        members = [
            together.Member(
                each.request,
                render_progress.labelled(asked.progress, " ".join(each.part.asked.devices)),
                each.part.delay_ns - earliest,
                held[place] if held else None,
            )
            for place, each in enumerate(group)
        ]
        yield from together.measure(kernel, members, interrupts, sampling_ns, power, asked.start_at)


def _check_detached(asked: RunOptions) -> None:
    """Refuse options that need a program attached to the run."""
    source = click.get_current_context().get_parameter_source("prober_ns")
    for option, given in (
        ("--heat-map", asked.measuring.heat_map),
        ("--power-states", asked.measuring.power_states not in (None, "off")),
        ("--log", asked.measuring.log is not None),
        ("--output", asked.output is not None),
        *asked.exports.files(),
        ("--prober-interval", source is not click.core.ParameterSource.DEFAULT),
        ("--power-feed", asked.measuring.power_feeds),
        ("--power-baseline", asked.measuring.power_baseline is not None),
    ):
        if given:
            delivers = option in ("--output", "--fio-json", "--fio-logs", "--hdr-log", "--csv")
            instead = "; give it to spekctl watch" if delivers else ""
            raise UsageError(
                f"{option} cannot be combined with --detach: nothing stays attached to the run"
                f"{instead}"
            )


def _check_files(workload: WorkloadFile, asked: RunOptions, step: int = 1, steps: int = 1) -> None:
    """No file may be written over another of the same run, and those of exports can be written."""
    from spekctl import files
    from spekctl.workload import meaning

    asked.exports.check(step, steps)
    inputs = [*asked.sources, *map(Path, meaning.traces_of(workload))]
    if asked.measuring.power_baseline is not None:
        inputs.append(Path(asked.measuring.power_baseline))
    named = (
        ("--log", asked.measuring.log),
        ("--output", asked.output),
        ("--verify-state", asked.verify_state),
        *asked.exports.files(step, steps),
    )
    for option, output in named:
        files.check_apart(output, inputs, option)
    files.check_distinct(named)


def _with_state(request: Request, asked: RunOptions) -> Request:
    """The request with its state file, if --verify-state is given and possible."""
    if asked.verify_state is None:
        return request
    if request.config.data != "stamped":
        raise UsageError("--verify-state needs --verify as well")

    from spekctl import files
    from spekctl.run import verify

    files.check_writable(asked.verify_state, streams=False)
    return verify.with_state(request, asked.verify_state)


def _with_state_on(request: Request, asked: RunOptions) -> Request:
    """The request with a log of acknowledged writes, if --state-on is given and possible."""
    if asked.state_on is None:
        if asked.state_apart:
            raise UsageError("--state-apart needs --state-on as well")
        return request

    from spekctl.block import device
    from spekctl.run import state_on

    return state_on.with_state_on(request, device.find(asked.state_on), asked.state_apart)


def _power_of(wish: Measuring) -> PowerOptions:
    from spekctl.run import measuring

    return measuring.power_of(wish.power_feeds, wish.power_baseline, wish.no_prober)


def _with_log(request: Request, wish: Measuring) -> Request:
    """The request with its log, if --log is given and possible."""
    from spekctl import files
    from spekctl.log.place import FilePlace
    from spekctl.run import measuring

    if wish.log is not None:
        files.check_writable(wish.log, streams=False)
    place = FilePlace(wish.log) if wish.log is not None else None
    return measuring.with_log(request, place, wish.log_buffer)


def _detach(kernel: Kernel, request: Request, asked: RunOptions) -> int:
    import json

    from spekctl.render.progress import LineProgress
    from spekctl.run.measure import launch

    plan = launch(kernel, request, LineProgress())
    if asked.as_json:
        click.echo(json.dumps({"run": plan.run}))
    else:
        click.echo(plan.run)
        click.echo(
            f"spekctl: run {plan.run} continues in the background;"
            f" result: spekctl watch {plan.run}, end: spekctl stop {plan.run}",
            err=True,
        )
    return 0
