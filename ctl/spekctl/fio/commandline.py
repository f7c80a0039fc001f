# SPDX-License-Identifier: GPL-2.0-or-later
"""Jobs of a command line of fio: HOWTO.rst, section "Command line options".

Options before the first --name, and after --name=global, are defaults of the jobs that follow, as
in a [global] section; each --name begins a job. Words that are no options are job files, whose jobs
come after those of the command line. --client=HOST runs the words after it on another host.
Unlike in a file, variables stay as they are: the shell has replaced its own.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePath

from spekctl import files
from spekctl.errors import UsageError
from spekctl.fio import jobfile
from spekctl.fio.jobfile import Job
from spekctl.fio.options import ALIASES, MAPPED, NOT_NEEDED, REFUSED

# Options of a job that take a value only behind a =.
FLAGS = frozenset(
    (
        *("bs_unaligned", "norandommap", "time_based", "verify_only", "exitall", "stonewall"),
        *("exitall_on_error", "new_group", "thread", "group_reporting", "zero_buffers"),
        *("refill_buffers", "userspace_reap", "hipri", "fixedbufs", "registerfiles"),
        "sqthread_poll",
    )
)
_REPORTS = "`spekctl run` has options of its own for its report"
_EVERY = "`spekctl run --progress` and --interval say how often it reports"
_OWN = "spek has no processes, memory and files of fio's kind"
# Options of fio itself: whether a value follows, and why it is not needed.
PROGRAM: dict[str, tuple[bool, str]] = {
    **dict.fromkeys(("output", "output-format", "terse-version"), (True, _REPORTS)),
    **dict.fromkeys(("minimal", "append-terse", "bandwidth-log"), (False, _REPORTS)),
    **dict.fromkeys(("eta", "eta-newline", "eta-interval", "status-interval"), (True, _EVERY)),
    **dict.fromkeys(("alloc-size", "max-jobs", "aux-path", "debug", "idle-prof"), (True, _OWN)),
    "warnings-fatal": (False, "a value that cannot be read is always refused"),
    "readonly": (False, "its jobs only read"),
}
# Those that ask fio for something else than to run its jobs.
OTHERWISE = frozenset(
    (
        *("parse-only", "merge-blktrace-only", "version", "help", "cpuclock-test", "crctest"),
        *("cmdhelp", "enghelp", "showcmd", "server", "daemonize", "remote-config"),
        *("inflate-log", "trigger-file", "trigger-timeout", "trigger", "trigger-remote"),
        "profile",
    )
)


_CLIENT = "--client"


@dataclass(slots=True)
class CommandLine:
    """The jobs of a command line."""

    jobs: list[Job] = field(default_factory=list)
    sections: list[str] = field(default_factory=list)
    not_needed: dict[str, str] = field(default_factory=dict)


def read(words: Sequence[str]) -> CommandLine:
    """The jobs of fio's arguments; the name of the program may stand before them, also behind sudo.
    UsageError names the argument."""
    rest = list(words)
    for prefix in (["sudo", "fio"], ["fio"]):
        if [PurePath(word).name for word in rest[: len(prefix)]] == prefix:
            del rest[: len(prefix)]
            break
    line = CommandLine()
    defaults: dict[str, str | None] = {}
    current = defaults
    paths: list[str] = []
    while rest:
        word = rest.pop(0)
        if word == "--":
            paths += rest
            break
        if not word.startswith("-") or word == "-":
            paths.append(word)
            continue
        name, equals, text = word.lstrip("-").partition("=")
        name = _long(name)
        value: str | None = text if equals else None
        if value is None and _takes_value(name):
            if not rest:
                raise UsageError(f"--{name} has no value")
            value = rest.pop(0)
        if name in OTHERWISE:
            raise UsageError(f"--{name} does not run a job; spek takes the jobs of a command line")
        if name == "section":
            line.sections.append(value or "")
        elif name in PROGRAM:
            line.not_needed[f"--{name}"] = PROGRAM[name][1]
        elif name == "name":
            if (value or "").startswith("global"):
                current = defaults
                continue
            if not value:
                raise UsageError("--name has no value")
            line.jobs.append(Job(value, dict(defaults)))
            current = line.jobs[-1].options
        else:
            jobfile.put(current, ALIASES.get(name, name), value)
    if not line.jobs and not paths:
        raise UsageError("there is no job: no --name=NAME and no job file")
    for number, path in enumerate(paths):
        # fio forgets the defaults of the command line, and of a file, with the next file.
        line.jobs += jobfile.read(Path(path), {} if number else defaults)
    if "--readonly" in line.not_needed:
        _check_reads(line.jobs)
    return line


def for_clients(words: Sequence[str]) -> tuple[list[str], list[str]]:
    """The hosts of --client=HOST or --client=FILE, a host in each line, and the words without
    these. Job files and jobs after a client are its own, and must be the same for all clients."""
    hosts: list[str] = []
    common: list[str] = []
    groups: list[list[str]] = []
    rest = list(words)
    while rest:
        word = rest.pop(0)
        flag, equals, value = word.partition("=")
        if flag not in (_CLIENT, "-client"):
            (groups[-1] if groups else common).append(word)
            continue
        if not equals:
            if not rest:
                raise UsageError("--client has no value")
            value = rest.pop(0)
        listed = _hosts_of(value)
        hosts += listed
        # Hosts of one file share what follows.
        groups += [[]] * len(listed)
    for host, group in zip(hosts, groups, strict=True):
        if group != groups[-1]:
            raise UsageError(
                f"--client={host} and --client={hosts[-1]} have different jobs, the words after"
                " each; a fleet runs one workload on all its hosts: name the hosts in a"
                " file, --client=FILE"
            )
    for host in hosts:
        if hosts.count(host) > 1:
            raise UsageError(f"--client={host} is given twice")
    return hosts, common + (groups[-1] if groups else [])


def _hosts_of(text: str) -> list[str]:
    """The hosts of a --client: one, or those of a file."""
    # Not Path.is_file(), which raises an error for a name that is too long for a file.
    if not os.path.isfile(text):
        return [_host_of(text)]
    listed = files.read_text(Path(text)).split()
    if not listed:
        raise UsageError(f"--client={text}: the file has no hosts")
    return [_host_of(each) for each in listed]


def _host_of(text: str) -> str:
    """A host without the prefix and the port of fio's own server."""
    kind, colon, address = text.partition(":")
    if colon and kind == "sock":
        raise UsageError(f"--client={text} is a socket of this machine; name a host")
    if colon and kind in ("ip", "ip4", "ip6"):
        text = address
    host = text.partition(",")[0]
    if not host:
        raise UsageError(f"--client={text} names no host")
    return host


def _check_reads(jobs: Sequence[Job]) -> None:
    """With --readonly, refuse jobs that change a device, as fio does."""
    for job in jobs:
        if (job.options.get("rw") or "read").partition(":")[0] not in ("read", "randread"):
            raise UsageError(
                f"--readonly: [{job.name}] writes or discards, which fio refuses in read-only mode;"
                " leave one of the two out"
            )


def _long(name: str) -> str:
    """An option's name; as in fio, its first letters do if no other begins so."""
    known = {*MAPPED, *NOT_NEEDED, *REFUSED, *ALIASES, *PROGRAM, *OTHERWISE, "section", "name"}
    if name in known:
        return name
    begins = [option for option in known if option.startswith(name)]
    return begins[0] if name and len(begins) == 1 else name


def _takes_value(name: str) -> bool:
    """True if the next word is the value of an option without a =."""
    if name in PROGRAM:
        return PROGRAM[name][0]
    if name in OTHERWISE or ALIASES.get(name, name) in FLAGS:
        return False
    return name in (*MAPPED, *NOT_NEEDED, *REFUSED, *ALIASES, "section", "name")
