# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl vm: any spekctl command in a throw-away virtual machine."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from spekctl.cli import COMMANDS, cli
from spekctl.commands.aside import replaces_older_in_guest
from spekctl.commands.options import FilePath, folder
from spekctl.errors import ExitCode, GuestError, SpekError, UsageError, at
from spekctl.suggest import did_you_mean
from spekctl.units import parse_duration_ns
from spekctl.vm.architecture import NAMES, named, native
from spekctl.vm.disks import HELP as DISK_HELP
from spekctl.vm.network import HELP as NET_HELP

if TYPE_CHECKING:
    from spekctl.vm.disks import Disk
    from spekctl.vm.kernels import Kernel
    from spekctl.vm.runner import Outcome
    from spekctl.workload.layout import Target

F = TypeVar("F", bound=Callable[..., Any])

# Options of disks that change their size, or divide them into zones.
_PROPERTIES = frozenset({"virtual_gb", "zoned", "zbc"})

EPILOG = """\b
Examples:
  spekctl vm --disk null_blk -- \\
      run spc1 --bsu 50 --device {disk1} --time 20s --write
  spekctl vm --kernel 6.12 --disk nvme,size=4G --disk scsi_debug -- devices
  spekctl vm --exec -- sh -c 'uname -r; lsmod'
  spekctl vm --arch arm64 --disk null_blk -- \\
      run random-read-4k --device {disk1} --time 5s
  spekctl vm --net /tmp/rig --exec -- sh -c 'sleep 600'
  spekctl vm --net /tmp/rig,number=2 --exec -- ip address
  spekctl vm --icount --function-profile p.json --disk null_blk -- \\
      run random-read-4k -d {disk1}
  spekctl vm --ab 6.1 6.12 --disk null_blk -- \\
      run random-read-4k --count 200000 --device {disk1}

\b
Exit codes of --ab:
  0  same, or better    7  worse    8  undecided
  1  a run failed       125  a guest failed
"""


def _directories(name: str, help: str) -> Callable[[F], F]:
    """A repeatable option for directories that exist."""
    return click.option(
        name,
        multiple=True,
        metavar="DIR",
        type=FilePath(exists=True, file_okay=False, resolve_path=True),
        help=help,
    )


@click.command(
    epilog=EPILOG,
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
)
@click.option(
    "--kernel",
    metavar="K",
    help="Kernel of the guest: a release or the start of one (6.12, 7; 6.12-rt: "
    "one with PREEMPT_RT), or a built kernel tree. "
    "A kernel that is not installed is downloaded with apt, if need be from Debian's backports or "
    "sid, and unpacked in the cache, with the compiler its modules need; it is never installed.  "
    "[default: the running kernel if its image and headers are installed, else the newest "
    "installed one]",
)
@click.option(
    "--arch",
    metavar="ARCH",
    type=click.Choice(NAMES),
    help="Architecture of the guest: amd64 or arm64. One that is not this machine's is emulated, "
    "on Debian: a kernel, programs and Python packages of it are unpacked in the cache, and the "
    "guest sees these and the directories that it may write to, not the host's root.  "
    "[default: this machine's]",
)
@click.option("--disk", "disks", multiple=True, metavar="TYPE[,OPTION=VALUE]...", help=DISK_HELP)
@click.option("--net", metavar="DIR[,OPTION=VALUE]...", help=NET_HELP)
@click.option(
    "--vcpus",
    "cpus",
    metavar="N",
    type=click.IntRange(1, 64),
    default=2,
    show_default=True,
    help="CPUs of the guest. Without KVM, CPUs in excess of the host's take turns.",
)
@click.option(
    "--memory",
    metavar="SIZE",
    default="1G",
    show_default=True,
    help="Memory of the guest, as 512M or 2G. The least depends on its kernel, and is about 110M.",
)
@click.option(
    "--icount",
    is_flag=True,
    help="Deterministic guest: one CPU, whose clock counts instructions (1 ns each), so that times "
    "in the guest are instruction counts and equal on every host.",
)
@click.option(
    "--function-profile",
    "profile",
    metavar="FILE",
    type=FilePath(dir_okay=False, path_type=Path),
    help="With --icount: write what each function of the guest's kernel executes for an I/O of "
    "COMMAND, a run, to FILE, as JSON. Needs a C compiler and a QEMU built with TCG plugins.",
)
@click.option(
    "--timeout",
    metavar="TIME",
    help="Kill the guest after this time (90s, 10m). Its console then ends with the backtraces of "
    "its CPUs, as it does after SIGQUIT.  [default: none]",
)
@_directories(
    "--share",
    "Directory that the guest may write to, beside the current one (unless that is /); "
    "repeatable. The guest sees all other files of the host read-only, except /tmp, which is its "
    "own unless it may write to the host's, and does not see changes made to them, or to programs, "
    "libraries and spekctl in any directory, while it runs.",
)
@_directories(
    "--cached",
    "Directory, in one that the guest may write to, whose files it only reads, keeps in "
    "memory and does not see changed, as a program's; repeatable.",
)
@click.option(
    "--python-package",
    "python_packages",
    multiple=True,
    metavar="NAME",
    help="With --arch: Python package that COMMAND needs beside those of spekctl, in the version "
    "that is installed here; repeatable.",
)
@click.option(
    "--console",
    metavar="FILE",
    type=FilePath(dir_okay=False, path_type=Path),
    help="Write the guest's kernel messages to FILE.",
)
@click.option(
    "--load/--no-load",
    default=True,
    help="Load spek and spek_prober in the guest; SPEK_MODULES names their directory in either "
    "case.  [default: --load]",
)
@click.option(
    "--ab",
    nargs=2,
    metavar="A B",
    help="Compare two kernels, named as for --kernel: play COMMAND, a run, in guests of both with "
    "--icount, in the order A B B A, one boot for each run, and print the verdict of `spekctl "
    "compare --vary kernel`.",
)
@click.option(
    "--repetitions",
    metavar="N",
    type=click.IntRange(1, 1000),
    help="--ab: number of times to play A B B A; each adds two runs per side. A resumption may "
    "have more.  [default: 1]",
)
@folder("--ab: folder of the results a1.json, b1.json and so on.  [default: ab-A-B]")
@click.option(
    "--functions",
    is_flag=True,
    help="--ab: play COMMAND once more in each kernel, with a profile, and name the functions that "
    "execute more or fewer instructions per I/O.",
)
@click.option("--resume", is_flag=True, help="--ab: play the runs that the folder lacks.")
@click.option("--exec", "plain", is_flag=True, help="COMMAND is a program, not a spekctl command.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
@replaces_older_in_guest
def command(
    kernel: str | None,
    arch: str | None,
    disks: tuple[str, ...],
    net: str | None,
    cpus: int,
    memory: str,
    icount: bool,
    profile: Path | None,
    timeout: str | None,
    share: tuple[str, ...],
    cached: tuple[str, ...],
    python_packages: tuple[str, ...],
    console: Path | None,
    load: bool,
    ab: tuple[str, str] | None,
    repetitions: int | None,
    out: Path | None,
    functions: bool,
    resume: bool,
    plain: bool,
    command: tuple[str, ...],
) -> int:
    """Run COMMAND, any spekctl command, in a throw-away virtual machine.

    The guest has its own kernel with spek loaded, its own disks, and sees the files of the host.
    Output and exit code are those of COMMAND.
    """
    from spekctl import files
    from spekctl.drive import file as drive_file
    from spekctl.vm import cache, marks, profiler
    from spekctl.vm import memory as sizes
    from spekctl.vm.bytecode import compile_ahead
    from spekctl.vm.disks import parse_disks
    from spekctl.vm.kernels import find_kernel
    from spekctl.vm.modules import DRIVE, build_modules
    from spekctl.vm.network import parse_net
    from spekctl.vm.root import foreign_root
    from spekctl.vm.runner import Guest, check_tools, python_of, run_guest
    from spekctl.workload.file import shipped_directory

    folders = [Path(folder) for folder in share]
    if Path.cwd() != Path("/"):
        folders.append(Path.cwd())
    kept = [Path(folder) for folder in cached]
    for path in kept:
        for inner in folders:
            if inner.is_relative_to(path):
                raise UsageError(f"--cached {path}: the guest may write to {inner} in it")
    if not plain:
        check_words(command, folders)
    if ab is not None:
        _check_ab(kernel, plain, load, console, profile, command)
    elif repetitions is not None or out is not None or functions or resume:
        raise UsageError("--repetitions, --folder, --functions and --resume are for --ab")
    if profile is not None:
        _check_profile(icount, plain, command)
    cache.require()
    parsed = parse_disks(list(disks))
    drives = [disk for disk in parsed if disk.kind == "drive"]
    for disk in drives:
        drive_file.load(disk.options["model"], disk.settings())
    check_placeholders(command, len(parsed))
    if ab is not None:
        from spekctl.commands import run

        # An instruction-counting guest has one CPU.
        run.check(command[1:], targets_of(parsed), cpus=[0])
    elif not plain and command[0] == "run":
        from spekctl.commands import run

        # Before a boot that may take a minute.
        run.foresee(command[1:], targets_of(parsed), cpus=range(1 if icount else cpus))
    network = parse_net(net) if net is not None else None
    if network and (icount or ab is not None):
        other = "--icount" if icount else "--ab"
        raise UsageError(f"--net and {other} exclude each other: the peers of a guest do not count")
    sizes.parse(memory)
    limit_s = 0.0
    if timeout is not None:
        with at("--timeout"):
            limit_s = parse_duration_ns(timeout, bare_seconds=True) / 1e9
            if not limit_s:
                raise UsageError("a time limit of 0 leaves no time to boot")
    files.check_writable(console)
    files.check_writable(profile)
    made_for = named(arch) if arch is not None else None
    check_tools(made_for)
    if profile is not None or functions:
        profiler.plugin()
    compile_ahead()

    def prepared(name: str | None) -> tuple[Kernel, list[Path]]:
        chosen = find_kernel(name, made_for=made_for)
        sizes.check(memory, chosen)
        is_foreign = chosen.architecture != native()
        if is_foreign and (profile is not None or functions):
            raise UsageError(f"profiles of functions are for {native().name} guests")
        if python_packages and not is_foreign:
            raise UsageError(
                "--python-package is for guests of another architecture: others have this machine's"
                " Python"
            )
        modules = build_modules(chosen)
        if drives and not (modules[0].parent / DRIVE).exists():
            raise GuestError(
                f"{DRIVE} was not built for {chosen.release}, so it has no modelled drives"
            )
        return chosen, modules

    def guest_of(
        chosen: Kernel, modules: list[Path], words: Sequence[str], parts: Path | None
    ) -> Guest:
        from spekctl.vm.accel import choose_accel

        counts = icount or ab is not None
        is_foreign = chosen.architecture != native()
        root = foreign_root(chosen.architecture, python_packages) if is_foreign else None
        told = {"SPEK_MODULES": str(modules[0].parent)}
        told |= {} if parts is None else {marks.VARIABLE: str(parts)}
        return Guest(
            kernel=chosen,
            command=list(words) if plain else [python_of(root), "-m", "spekctl", *words],
            accel="tcg" if counts or is_foreign else choose_accel(chosen),
            disks=parsed,
            modules=modules if load else [],
            share=folders if parts is None else [*folders, parts],
            keep=[*kept, shipped_directory()] if is_foreign else kept,
            environment={**environment(), **told},
            cwd=Path.cwd(),
            cpus=cpus,
            memory=memory,
            net=network,
            icount=counts,
            qemu=[] if parts is None else profiler.qemu_arguments(parts),
            limit_s=limit_s,
            root=root,
        )

    if ab is not None:
        from spekctl.campaigns import ab as campaign
        from spekctl.commands import compare, verdict

        place = (out or Path(files.folder_name("ab", ab))).absolute()
        sides = {side: prepared(name) for side, name in zip("ab", ab, strict=True)}
        parameters = campaign.Parameters(
            kernel_a=campaign.identity(sides["a"][0], sides["a"][1][0].parent),
            kernel_b=campaign.identity(sides["b"][0], sides["b"][1][0].parent),
            disks=list(disks),
            memory=memory,
            run=list(command),
        )
        campaign.begin(place, parameters, resume)
        folders.append(place)

        def play(side: str, result: Path, parts: Path | None) -> Outcome:
            # Standard output is for the verdict.
            words = campaign.command_of(command, result)
            return run_guest(guest_of(*sides[side], words, parts), out_fd=2)

        def tell(text: str) -> None:
            click.echo(f"spekctl: {text}", err=True)

        count = repetitions or 1
        campaign.play_all(place, count, play, tell)
        if functions:
            campaign.play_profiles(place, play, tell)
        output = verdict.Output("text", None, None)
        return compare.judge(
            *campaign.results(place, count),
            output,
            vary=("kernel",),
            profiles=campaign.profiles(place) if functions else (),
        )
    chosen, modules = prepared(kernel)
    with tempfile.TemporaryDirectory(prefix="profile-", dir=cache.cache_dir("vm")) as scratch:
        parts = Path(scratch) if profile is not None else None
        guest = guest_of(chosen, modules, command, parts)
        slow = ": without KVM this takes up to a minute" if guest.accel == "tcg" else ""
        click.echo(f"spekctl: booting {chosen.release} ({guest.accel}{slow})", err=True)
        outcome = run_guest(guest)
        if profile is not None and outcome.exit_status == ExitCode.OK:
            _keep_profile(Path(scratch), profile)
    if console is not None:
        _keep_console(outcome.console, console)
    if outcome.exit_status is not None:
        return outcome.exit_status
    if outcome.console:
        click.echo(f"spekctl: the last lines of its console:\n{outcome.console_tail()}", err=True)
    click.echo(f"spekctl: {outcome.failure}", err=True)
    if outcome.timed_out:
        return ExitCode.GUEST_TIMEOUT
    return ExitCode.INTERRUPTED if outcome.interrupted else ExitCode.GUEST_FAILED


def _check_ab(
    kernel: str | None,
    plain: bool,
    load: bool,
    console: Path | None,
    profile: Path | None,
    command: tuple[str, ...],
) -> None:
    """Refuse options that have no meaning with two kernels and many boots."""
    from spekctl.campaigns import ab

    for given, name in (
        (kernel is not None, "--kernel"),
        (plain, "--exec"),
        (not load, "--no-load"),
        (console is not None, "--console"),
        (profile is not None, "--function-profile"),
    ):
        if given:
            hint = "; --functions makes profiles" if name == "--function-profile" else ""
            raise UsageError(f"--ab and {name} exclude each other{hint}")
    ab.check_command(command)


def _check_profile(icount: bool, plain: bool, command: tuple[str, ...]) -> None:
    """A profile is of a run whose instructions are counted."""
    if not icount:
        raise UsageError("--function-profile needs --icount as well: it counts instructions")
    if plain or command[0] != "run":
        raise UsageError(f"--function-profile is of a 'run', not of '{command[0]}'")


def _keep_profile(parts: Path, path: Path) -> None:
    """The profile in a file, and as text on standard error: standard output is the command's."""
    from spekctl import files
    from spekctl.campaigns.profile import profile_of
    from spekctl.render import console
    from spekctl.render.profile import profile_parts

    profile = profile_of(parts)
    files.deliver(files.encode(profile), path)
    console.print_parts(profile_parts(profile), 100, console.errors())
    click.echo(f"spekctl: profile written to {path}", err=True)


def _keep_console(text: str, path: Path) -> None:
    """The guest's console in a file. Without it the command has still done what it did."""
    from spekctl import files

    try:
        files.put(path, text.encode(errors="replace"))
    except SpekError as error:
        click.echo(f"spekctl: {error.message}", err=True)


def check_words(words: Sequence[str], share: list[Path]) -> None:
    """Refuse options and arguments that a command does not take before a guest is booted for it,
    and files that only the host has, or only the guest would have: it may write to @share."""
    if not words[0].startswith("-") and words[0] not in COMMANDS:
        hint = did_you_mean(words[0], COMMANDS)
        raise UsageError(f"there is no command '{words[0]}' to run in the guest{hint}")
    if words[0] == "vm":
        raise UsageError("a guest cannot start guests: leave out the second 'vm'")
    from spekctl.vm.runner import in_own_tmp

    command: click.Command = cli
    context = None
    name: str | None = "spekctl"
    rest = list(words)
    while isinstance(command, click.Group):
        context = click.Context(command, context, name)
        _options, rest, _order = command.make_parser(context).parse_args(rest)
        if not rest:
            return
        name, inner, rest = command.resolve_command(context, rest)
        assert inner is not None
        command = inner
    with command.make_context(name, rest, parent=context) as context:
        for path in _files(context.params.values()):
            if in_own_tmp(path, share):
                raise UsageError(
                    f"{path} would be in the guest's own /tmp, which is empty at first and lost at "
                    f"the end: add --share {os.path.dirname(os.path.abspath(path))}, or name a "
                    "file elsewhere"
                )


def _files(values: Iterable[object]) -> Iterator[Path]:
    """Files among the values of parameters. Where a text may also name something else, those that
    exist."""
    for value in values:
        if isinstance(value, Path):
            yield value
        elif isinstance(value, str) and os.path.isfile(value):
            yield Path(value)
        elif isinstance(value, (tuple, list)):
            yield from _files(value)


def check_placeholders(words: tuple[str, ...], disks: int) -> None:
    """Refuse {disk}, or {disk2} with one disk, before a guest is booted for it."""
    for word in words:
        for number in re.findall(r"\{disk(\d*)\}", word):
            if not number:
                raise UsageError("'{disk}' has no number; write {disk1} for the first --disk")
            if not 1 <= int(number) <= disks:
                raise UsageError(
                    f"'{{disk{number}}}' names a disk that does not exist: "
                    f"{disks or 'no'} --disk option{'s were' if disks != 1 else ' was'} given"
                )


def targets_of(disks: Sequence[Disk]) -> dict[str, Target]:
    """The disks whose properties are known before the guest starts, by their placeholders. Their
    numbers only tell them apart: the guest will have others."""
    from spekctl.workload.layout import Target

    return {
        f"{{disk{number}}}": Target(f"{{disk{number}}}", 0, number, disk.bytes, disk.block_size)
        for number, disk in enumerate(disks, start=1)
        if disk.kind != "drive" and not disk.options.keys() & _PROPERTIES
    }


def environment() -> dict[str, str]:
    """What the command in the guest needs of our environment."""
    kept = ("TERM", "COLORTERM", "NO_COLOR", "LANG", "LC_ALL", "LC_NUMERIC", "COLUMNS")
    package_root = str(Path(__file__).resolve().parents[2])
    return {
        **{name: os.environ[name] for name in kept if name in os.environ},
        "PYTHONPATH": package_root,
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": "/tmp",
        "SPEK_GUEST": "1",
    }
