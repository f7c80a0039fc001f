# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl vm: any spekctl command in a throw-away virtual machine."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import click

from spekctl.cli import COMMANDS
from spekctl.commands.options import FilePath, renamed
from spekctl.errors import ExitCode, GuestError, SpekError, UsageError
from spekctl.suggest import did_you_mean
from spekctl.units import parse_duration_ns
from spekctl.vm.disks import HELP as DISK_HELP

EPILOG = """\b
Examples:
  spekctl vm --disk null_blk -- run spc1 --bsu 50 --device {disk1} --time 20s --write
  spekctl vm --kernel 6.12 --disk nvme,size=4G --disk scsi_debug -- devices
  spekctl vm --exec -- sh -c 'uname -r; lsmod'
"""


@click.command(
    epilog=EPILOG,
    context_settings={"ignore_unknown_options": False, "allow_interspersed_args": False},
)
@click.option(
    "--kernel",
    metavar="K",
    help="Kernel of the guest: a release or the start of one (6.12, 7), or a built kernel tree. "
    "A kernel that is not installed is downloaded with apt, if need be from Debian's backports or "
    "sid, and unpacked in the cache, with the compiler its modules need; it is never installed.  "
    "[the running kernel if its image and headers are installed, else the newest installed one]",
)
@click.option("--disk", "disks", multiple=True, metavar="TYPE[,OPTION=VALUE]...", help=DISK_HELP)
@renamed("--cpus", "--vcpus", "elsewhere --cpus lists the CPUs of the workers")
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
    "--memory", metavar="SIZE", default="1G", show_default=True, help="Memory of the guest."
)
@click.option(
    "--icount",
    is_flag=True,
    help="Deterministic guest: one CPU, whose clock counts instructions (1 ns each), so that times "
    "in the guest are instruction counts and equal on every host.",
)
@click.option(
    "--timeout",
    metavar="TIME",
    help="Kill the guest after this time (90s, 10m). Its console then ends with the backtraces of "
    "its CPUs, as it does after SIGQUIT.  [none]",
)
@click.option(
    "--share",
    multiple=True,
    metavar="DIR",
    type=FilePath(exists=True, file_okay=False, resolve_path=True),
    help="Directory that the guest may write to, beside the current one (unless that is /); "
    "repeatable. The guest sees all other files of the host read-only, and does not see changes to "
    "programs, libraries and spekctl made while it runs.",
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
    "case.  [--load]",
)
@click.option("--exec", "plain", is_flag=True, help="COMMAND is a program, not a spekctl command.")
@click.argument("command", nargs=-1, required=True, type=click.UNPROCESSED)
def command(
    kernel: str | None,
    disks: tuple[str, ...],
    cpus: int,
    memory: str,
    icount: bool,
    timeout: str | None,
    share: tuple[str, ...],
    console: Path | None,
    load: bool,
    plain: bool,
    command: tuple[str, ...],
) -> int:
    """Run COMMAND, any spekctl command, in a throw-away virtual machine.

    The guest has its own kernel with spek loaded, its own disks, and sees the files of the host.
    Output and exit code are those of COMMAND.
    """
    from spekctl import files
    from spekctl.drive import file as drive_file
    from spekctl.vm.accel import choose_accel
    from spekctl.vm.bytecode import compile_ahead
    from spekctl.vm.disks import parse_disks
    from spekctl.vm.kernels import find_kernel
    from spekctl.vm.modules import DRIVE, build_modules
    from spekctl.vm.runner import Guest, check_tools, run_guest

    if not plain and not command[0].startswith("-") and command[0] not in COMMANDS:
        hint = did_you_mean(command[0], COMMANDS)
        raise UsageError(f"there is no command '{command[0]}' to run in the guest{hint}")
    if not plain and command[0] == "vm":
        raise UsageError("a guest cannot start guests: leave out the second 'vm'")
    parsed = parse_disks(list(disks))
    drives = [disk for disk in parsed if disk.kind == "drive"]
    for disk in drives:
        drive_file.load(disk.options["model"], disk.settings())
    check_placeholders(command, len(parsed))
    if not re.fullmatch(r"[1-9][0-9]*[MG]", memory):
        raise UsageError(f"memory '{memory}' is not a size; write for example 512M or 2G")
    limit_s = parse_duration_ns(timeout, bare_seconds=True) / 1e9 if timeout is not None else 0.0
    if timeout is not None and not limit_s:
        raise UsageError("a time limit of 0 leaves no time to boot")
    files.check_writable(console)
    check_tools()
    chosen = find_kernel(kernel)
    folders = [Path(folder) for folder in share]
    if Path.cwd() != Path("/"):
        folders.append(Path.cwd())
    modules = build_modules(chosen)
    if drives and not (modules[0].parent / DRIVE).exists():
        raise GuestError(
            f"{DRIVE} was not built for {chosen.release}, so it has no modelled drives"
        )
    compile_ahead()
    guest = Guest(
        kernel=chosen,
        command=list(command) if plain else [sys.executable, "-m", "spekctl", *command],
        accel="tcg" if icount else choose_accel(chosen),
        disks=parsed,
        modules=modules if load else [],
        share=folders,
        environment={**environment(), "SPEK_MODULES": str(modules[0].parent)},
        cwd=Path.cwd(),
        cpus=cpus,
        memory=memory,
        icount=icount,
        limit_s=limit_s,
    )
    click.echo(f"spekctl: booting {chosen.release} ({guest.accel})", err=True)
    outcome = run_guest(guest)
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


def _keep_console(text: str, path: Path) -> None:
    """The guest's console in a file. Without it the command has still done what it did."""
    from spekctl import files

    try:
        files.put(path, text.encode(errors="replace"))
    except SpekError as error:
        click.echo(f"spekctl: {error.message}", err=True)


def check_placeholders(words: tuple[str, ...], disks: int) -> None:
    """Refuse {disk2} with one disk before a guest is booted for it."""
    for word in words:
        for number in re.findall(r"\{disk(\d+)\}", word):
            if not 1 <= int(number) <= disks:
                raise UsageError(
                    f"'{{disk{number}}}' names a disk that does not exist: "
                    f"{disks or 'no'} --disk option{'s were' if disks != 1 else ' was'} given"
                )


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
