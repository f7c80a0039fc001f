# SPDX-License-Identifier: GPL-2.0-or-later
"""The plan of a run on several hosts.

    [fleet]
    listen = "tls://10.0.0.1:8786"    # where the hosts join
    workload = "random-read-4k"       # the name of one that comes with spek, or a file
    max_skew = "1ms"                  # optional: refuse a host whose clock cannot promise it
    on_loss = "stop"                  # or continue without the host

    [fleet.options]                   # as of `spekctl run`
    time = "60s"

    [[host]]
    name = "client1"                  # as in its certificate
    ssh = "user@client1"              # optional: the controller starts it
    devices = ["wwn:naa.600140512345678901234567890abcde"]

    [[host]]
    name = "storage"
    role = "target"                   # it is watched by its prober, and sends no I/O
    power_feeds = ["psu"]

Hosts that reach one device by the same WWN share it: each gets a slice of its own, unless the
plan says share = "overlap".
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from spekctl import fields, files, recorded, toml, units
from spekctl.documents import document
from spekctl.documents.plan import (
    SEED_MAX,
    FleetTable,
    HostTable,
    OnLoss,
    PlanFile,
    Role,
    Share,
    SshTable,
)
from spekctl.errors import UsageError, at
from spekctl.fleet import totals
from spekctl.workload import file as workload_file
from spekctl.workload import meaning, options, selectors
from spekctl.workload.imported import is_ssh_destination
from spekctl.workload.model import WorkloadFile
from spekctl.workload.options import Measuring, Options

HOSTS_MAX = 10_000
# The controller's own name in its certificate.
CONTROLLER = "controller"
_EVERYWHERE = ("0.0.0.0", "::")
_NAME = re.compile(r"[A-Za-z0-9]([A-Za-z0-9.-]{0,61}[A-Za-z0-9])?", re.ASCII)
_LISTEN = re.compile(r"tls://(\[[0-9a-fA-F:.%a-z]+\]|[A-Za-z0-9.-]+):(\d{1,5})", re.ASCII)
# Options that are about files or places of one machine.
_NOT_HERE = {
    "seed": "each host has a seed of its own, made of that of the plan; write seed in [fleet]",
    "power-feed": "write power_feeds in [[host]]",
}


# Streams of a trace in results.
_OF_REPLAY = frozenset({"trace", "flush", "discard"})
# Which CPUs a host uses is the plan's; all else is the command's if it carries out several runs.
# That keeps no logs: each run's would replace that of the run before.
OF_COMMAND = (
    frozenset(option.flag_text[2:] for option in options.OPTIONS.values()) - {"workers", "cpus"}
) | {"log", "log-buffer"}


@dataclass(frozen=True, slots=True)
class Host:
    """A host of the plan."""

    name: str
    role: Role
    address: str
    ssh: str  # where the controller starts it; empty: it does not
    devices: tuple[str, ...]
    destroy: tuple[str, ...]
    weight: int
    options: Mapping[str, str | bool | list[str]]
    power_feeds: tuple[str, ...]
    load: Options
    measuring: Measuring


@dataclass(frozen=True, slots=True)
class Plan:
    """A checked plan."""

    name: str
    listen: str
    workload: WorkloadFile
    share: Share
    on_loss: OnLoss
    max_skew_ns: int | None
    seed: int
    ssh: SshTable
    hosts: tuple[Host, ...]
    # Each client discards all blocks of its devices: the workload is that of a purge.
    purge: bool = False
    # The clients send no I/O for this long, and measure their power; 0: they send their loads.
    rest_ns: int = 0
    # Files of the workload and of its traces, as far as they are on this machine.
    inputs: tuple[Path, ...] = ()

    @property
    def clients(self) -> list[Host]:
        """Those that send I/O."""
        return [host for host in self.hosts if host.role == "client"]


def load(path: Path, workload: WorkloadFile | None = None, write: bool = False) -> Plan:
    """Read a plan; UsageError names the file and its fault. @workload: the workload of a command's
    steps, in place of the plan's; @write: the command may write, whatever this workload does."""
    if workload is not None and meaning.replays(workload):
        raise UsageError(
            f"{workload.workload.name} replays a trace; the steps of a command with --fleet are"
            " generated workloads only, and `spekctl fleet run` replays traces"
        )
    file = read(path)
    with at(recorded.text(str(path))):
        return of(file, path.parent, workload, write)


def read(path: Path) -> PlanFile:
    """The tables of a plan's file; UsageError if it is no plan. Values are not checked yet."""
    if document.is_document(path):
        raise UsageError(f"{path} is {document.description(path)}; plans are read from TOML")
    text = files.read_text(path)
    with at(recorded.text(str(path))):
        return _file(text)


def parse(
    text: str, folder: Path = Path(), instead: WorkloadFile | None = None, write: bool = False
) -> Plan:
    """A plan from the text of its file. @folder: where workload files are looked for. @instead: a
    workload that a command names, in place of that of the plan; @write: steps of it may write."""
    return of(_file(text), folder, instead, write)


def _file(text: str) -> PlanFile:
    data = toml.parse(text)
    fields.check(data, PlanFile)
    return msgspec.convert(data, PlanFile)


def of(
    file: PlanFile, folder: Path = Path(), instead: WorkloadFile | None = None, write: bool = False
) -> Plan:
    """The plan described by the tables of a file; the other arguments are those of parse()."""
    fleet = file.fleet
    with at("fleet"):
        check_listen(fleet.listen)
        workload = instead or workload_of(fleet, folder)
        max_skew_ns = _max_skew(fleet.max_skew)
    hosts = tuple(_host(entry, fleet) for entry in file.host)
    _check_hosts(hosts)
    _check_ssh(fleet, hosts)
    if meaning.replays(workload):
        _check_replay(workload, hosts)
    _check_intervals(workload, hosts)
    share = fleet.share or ("split" if write or writes(workload) else "overlap")
    for host in hosts:
        with at(f"host '{host.name}'"):
            _check_verify(host.load, share)
    return Plan(
        name=fleet.name or workload.workload.name,
        listen=fleet.listen,
        workload=workload,
        share=share,
        on_loss=fleet.on_loss,
        max_skew_ns=max_skew_ns,
        seed=fleet.seed,
        ssh=fleet.ssh,
        hosts=_with_bsus(hosts),
        inputs=_inputs(workload, None if instead is not None else _path_of(fleet, folder)),
    )


def check_listen(text: str, what: str = "an address to listen at") -> tuple[str, int]:
    """Host and port of tls://HOST:PORT. @what: it should be, for the refusal."""
    match = _LISTEN.fullmatch(text)
    if match is None or int(match[2]) > 65535:
        raise UsageError(
            f"'{text}' is not {what}; write tls://ADDRESS:PORT, such as tls://10.0.0.1:8786, with a"
            " port up to 65535"
        )
    return match[1].strip("[]"), int(match[2])


def check_name(name: str) -> None:
    """Refuse what cannot be the name of a host."""
    if _NAME.fullmatch(name) is None:
        raise UsageError(
            f"'{name}' is not the name of a host: a name has up to 63 letters, digits, '-' and '.',"
            " and begins and ends with a letter or digit"
        )
    if name == CONTROLLER:
        raise UsageError(f"a host cannot be called {CONTROLLER}: that is the controller's name")


def _check_verify(given: Options, share: Share) -> None:
    if given.verify and share != "split":
        raise UsageError(
            'verify needs share = "split" in the plan: hosts that overlap would overwrite each'
            " other's blocks"
        )


def workload_of(fleet: FleetTable, folder: Path) -> WorkloadFile:
    """The workload that a plan names. @folder: where files are looked for first."""
    return workload_file.load(_name_of(fleet, folder), fleet.settings)


def _name_of(fleet: FleetTable, folder: Path) -> str:
    name = fleet.workload
    if name not in workload_file.shipped_names() and not name.startswith("/"):
        beside = folder / name
        name = str(beside) if beside.exists() else name
    return name


def _path_of(fleet: FleetTable, folder: Path) -> Path:
    return workload_file.find(_name_of(fleet, folder))


def _inputs(workload: WorkloadFile, path: Path | None) -> tuple[Path, ...]:
    """The files of a workload; @path: its own, if the plan names it."""
    traces = [Path(file) for file in meaning.traces_of(workload)]
    return (path, *traces) if path is not None else tuple(traces)


def writes(workload: WorkloadFile) -> bool:
    """Whether a workload writes to its devices. A trace may: only the hosts have read it."""
    return meaning.replays(workload) or any(
        meaning.read_ppm(stream) < 1_000_000 for stream in workload.stream
    )


def _check_replay(workload: WorkloadFile, hosts: Sequence[Host]) -> None:
    """Hosts have the same streams, and a replay has those of each device. Their sum has a stream
    for each operation if devices differ, so none beside the trace can have its name."""
    for stream in meaning.beside_trace(workload):
        if stream.name in _OF_REPLAY:
            raise UsageError(
                f"stream '{stream.name}': the replay uses this name itself; choose another"
            )
    counts = {len(host.devices): host.name for host in hosts if host.role == "client"}
    if len(counts) > 1:
        (fewer, first), (more, second), *_ = sorted(counts.items())
        raise UsageError(
            f"{first} has {fewer} and {second} {more} devices; to replay a trace each client needs"
            " the same number"
        )


def _check_intervals(workload: WorkloadFile, hosts: Sequence[Host]) -> None:
    """The rows of a fleet are sums of those of its hosts."""
    lengths = [
        (host.name, options.setting("interval_ns", host.load, workload.run))
        for host in hosts
        if host.role == "client"
    ]
    for name, length_ns in lengths[1:]:
        first, wanted_ns = lengths[0]
        if length_ns != wanted_ns:
            raise UsageError(
                f"{first} and {name} have different report intervals,"
                f" {units.format_ns(wanted_ns)} and {units.format_ns(length_ns)}; write interval in"
                " [fleet.options]"
            )


def _max_skew(text: str | None) -> int | None:
    if text is None:
        return None
    with at("max_skew"):
        max_skew_ns = units.parse_duration_ns(text)
        if not max_skew_ns:
            raise UsageError("it must be more than 0")
        return max_skew_ns


def _host(entry: HostTable, fleet: FleetTable) -> Host:
    with at(f"host '{entry.name}'"):
        check_name(entry.name)
        merged = {**fleet.options, **entry.options}
        for flag in merged:
            if flag in _NOT_HERE:
                raise UsageError(f"options, {flag}: {_NOT_HERE[flag]}")
        given, measuring = options.read(merged)
        if measuring.log is not None:
            if not measuring.log.name:
                raise UsageError(f"options, log: '{measuring.log}' is not a file")
            own = of_host(measuring.log, entry.name)
            merged["log"] = str(own)
            measuring = dataclasses.replace(measuring, log=own)
        if entry.role == "target":
            for key, value in (
                ("devices", entry.devices),
                ("destroy", entry.destroy),
                ("options", entry.options),
            ):
                if value:
                    raise UsageError(
                        f"{key}: a target sends no I/O; it has name, address, role and power_feeds"
                    )
        else:
            _check_devices(entry)
    return Host(
        entry.name,
        entry.role,
        entry.address,
        entry.ssh,
        tuple(entry.devices),
        tuple(entry.destroy),
        entry.weight,
        merged,
        tuple(entry.power_feeds),
        given,
        measuring,
    )


def of_host(path: Path, name: str) -> Path:
    """A file of a host, whose folder others may have as well: run.parquet is run.client1.parquet
    on client1."""
    return path.with_name(f"{path.stem}.{name}{path.suffix}")


def _check_devices(entry: HostTable) -> None:
    if not entry.devices:
        raise UsageError("a client needs devices")
    for text in entry.devices:
        if text.startswith("/") and (not text.startswith("/dev/") or "/../" in text):
            raise UsageError(f"devices: {text} is not below /dev")
        with at("devices"):
            selectors.check(text)
        if entry.devices.count(text) > 1:
            raise UsageError(f"devices: {text} is listed twice")


def _check_hosts(hosts: Sequence[Host]) -> None:
    if not any(host.role == "client" for host in hosts):
        raise UsageError('there is no [[host]] with role "client", which would send I/O')
    if len(hosts) > HOSTS_MAX:
        raise UsageError(f"{len(hosts)} hosts; a fleet has at most {HOSTS_MAX}")
    names: set[str] = set()
    for host in hosts:
        if host.name in names:
            raise UsageError(f"there are two hosts called {host.name}")
        names.add(host.name)


def _check_ssh(fleet: FleetTable, hosts: Sequence[Host]) -> None:
    started = [host for host in hosts if host.ssh]
    for host in started:
        if not is_ssh_destination(host.ssh):
            raise UsageError(
                f"host '{host.name}': ssh: '{host.ssh}' is not an SSH destination; write HOST,"
                " USER@HOST or ssh://USER@HOST:PORT"
            )
    for key, value in (("program", fleet.ssh.program), ("keys", fleet.ssh.keys)):
        if not value or value.startswith("-") or not value.isprintable():
            raise UsageError(f"fleet: ssh: {key}: '{value}' is not a path")
    if fleet.ssh.program.startswith("~"):
        # The words of the remote command are quoted; the worker itself expands that of keys.
        raise UsageError(
            f"fleet: ssh: program: the remote shell does not expand '{fleet.ssh.program}'; write a"
            " path that begins with /, or one below the user's home"
        )
    if started and check_listen(fleet.listen)[0] in _EVERYWHERE:
        raise UsageError(
            f"fleet: listen: hosts that are started over SSH cannot join at {fleet.listen}; write"
            " the address of the controller that they reach"
        )


def of_step(plan: Plan, workload: WorkloadFile, given: Options) -> Plan:
    """The plan of one run of a command that sets the workload and its load. @given: loads of all
    clients together, which are divided among them."""
    texts = options.written(given)
    _check_verify(given, plan.share)
    seed = texts.pop("seed", None)
    check_seed(given.seed)
    if not given.cpus:
        texts.pop("cpus", None)
    clients = plan.clients
    parts = iter(totals.parts_of(given, len(clients)))
    hosts = []
    for host in plan.hosts:
        if host.role == "client":
            kept = {flag: text for flag, text in host.options.items() if flag not in OF_COMMAND}
            merged = {**kept, **texts, **next(parts)}
            load, measuring = options.read(merged)
            host = dataclasses.replace(
                host,
                options=merged,
                load=load,
                measuring=measuring,
                # A step that only reads destroys nothing.
                destroy=host.destroy if load.write else (),
            )
        hosts.append(host)
    return dataclasses.replace(
        plan,
        workload=workload,
        seed=given.seed if seed is not None else plan.seed,
        hosts=_with_bsus(hosts),
    )


def of_command(plan: Plan) -> list[str]:
    """Options of the plan that a command of several runs has in its place."""
    return sorted({flag for host in plan.clients for flag in host.options if flag in OF_COMMAND})


def check_seed(seed: int) -> None:
    """UsageError for what a fleet cannot have."""
    if not 0 <= seed <= SEED_MAX:
        raise UsageError(f"--seed of a fleet must be 0 to {SEED_MAX}, not {seed}")


def _with_bsus(hosts: Sequence[Host]) -> tuple[Host, ...]:
    """Divide loads in BSUs among the hosts: the streams of k hosts with N BSUs in all add
    up to those of one host with N."""
    clients = [host for host in hosts if host.role == "client"]
    given = {host.load.bsu for host in clients}
    if given == {None}:
        return tuple(hosts)
    if len(given) > 1:
        raise UsageError(
            "hosts have different numbers of BSUs; write bsu in [fleet.options], where it is the"
            " load of the fleet"
        )
    (total,) = given
    assert total is not None
    parts = iter(totals.shares("bsu", total, len(clients)))
    dealt = []
    for host in hosts:
        if host.role == "client":
            bsu = next(parts)
            host = dataclasses.replace(
                host,
                load=dataclasses.replace(host.load, bsu=bsu),
                options={**host.options, "bsu": str(bsu)},
            )
        dealt.append(host)
    return tuple(dealt)
