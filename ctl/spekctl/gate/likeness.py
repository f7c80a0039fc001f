# SPDX-License-Identifier: GPL-2.0-or-later
"""What has to be equal for results to be comparable, and sentences on what is not.

Conditions have names: the user may declare one as the variable of a comparison. Then the two sides
may differ in it, and each is still of one kind.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from spekctl.documents.host_results import HostRun
from spekctl.documents.result import Result
from spekctl.documents.result_parts import ReplayResult, TargetResult
from spekctl.documents.verdict import Difference
from spekctl.errors import RefusedError
from spekctl.gate.judged import Run
from spekctl.workload.config import RunConfig

# Tokens of a kernel's command line that say where it was started from, or what the guest executes.
_PLACES = (
    *("BOOT_IMAGE=", "root=", "rootflags=", "init=", "initrd=", "console="),
    *("virtme", "TERM=", "nr_open="),
)
# Parts of a configuration that follow from the machine's state.
_INCIDENTAL = ("targets", "seed", "stamp_id", "verify_from", "detached")


@dataclass(frozen=True, slots=True)
class Condition:
    """A named group of facts that have to be equal; @counted: of instruction counts, as well."""

    name: str
    words: str
    facts: Callable[[Result], dict[str, Any]]
    counted: bool = True


def _workload(result: Result) -> dict[str, Any]:
    if result.hosts is None:
        return _load(result.config, result.replay)
    facts: dict[str, Any] = {}
    for host in result.hosts:
        if host.run is not None:
            own = _load(host.run.config, host.run.replay)
            facts |= {f"{host.name} {key}": value for key, value in own.items()}
    return facts


def _load(config: RunConfig, replay: ReplayResult | None) -> dict[str, Any]:
    fields_of = msgspec.to_builtins(config)
    facts = {key: value for key, value in fields_of.items() if key not in _INCIDENTAL}
    if replay is not None:
        fields = (
            *("format", "pace", "speed", "rate", "depth", "think", "max_idle_ns"),
            *("map", "share", "records"),
        )
        facts |= {f"trace {field}": getattr(replay, field) for field in fields}
    return dict(_flat(facts, ""))


def _flat(value: Any, where: str) -> Iterator[tuple[str, Any]]:
    """Nested tables as one table: ``streams main sizes 1 bytes``."""
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, f"{where} {key}".strip())
    elif isinstance(value, list) and any(isinstance(element, dict) for element in value):
        yield f"number of {where}", len(value)
        for number, inner in enumerate(value, start=1):
            name = inner.get("name") if isinstance(inner, dict) else None
            yield from _flat(inner, f"{where} {name or number}")
    else:
        yield where, value


def _device(result: Result) -> dict[str, Any]:
    facts: dict[str, Any] = {"number of devices": len(result.targets)}
    for number, target in enumerate(result.targets, start=1):
        name = f"{target.host} device" if target.host else f"device {number}"
        prefix = f"{name} " if len(result.targets) > 1 else ""
        facts |= {f"{prefix}{key}": value for key, value in _device_facts(target).items()}
    return facts


def _device_facts(target: TargetResult) -> dict[str, Any]:
    facts = target.facts
    return {
        "driver": facts.driver,
        "model": facts.model,
        "serial": facts.serial,
        "wwn": facts.wwn,
        "bytes": facts.bytes,
        "logical block": facts.logical_block,
        "physical block": facts.physical_block,
        "rotational": facts.rotational,
        "zoned": facts.zoned,
        "scheduler": facts.scheduler,
        "iostats": facts.iostats,
        "nomerges": facts.nomerges,
        "back end": target.backend.value,
        "polled": target.polled,
    }


def _machine(result: Result) -> dict[str, Any]:
    environment = result.environment
    return {
        "architecture": environment.machine,
        "CPU model": environment.cpu_model,
        "CPUs": environment.cpus_online,
    }


def _kernel(result: Result) -> dict[str, Any]:
    environment = result.environment
    line = environment.kernel_command_line.split()
    return {
        "release": environment.kernel,
        "build": environment.kernel_version,
        "command line": " ".join(word for word in line if not word.startswith(_PLACES)),
    }


def _instrument(result: Result) -> dict[str, Any]:
    power = result.power
    parts = result.hosts if result.hosts is not None else [result]
    probers = {None if part.prober is None else part.prober.interval_ns for part in parts}
    return {
        "version of spek.ko": result.environment.module_version,
        "per-I/O log": any(run.log is not None for run in _runs(result)),
        "prober interval (ns)": next(iter(probers)) if len(probers) == 1 else "not the same on all",
        "power sources": None if power is None else [feed.source for feed in power.feeds],
        "power feeds": None if power is None else [feed.name for feed in power.feeds],
        "power baseline (W)": None if power is None else power.baseline_w,
    }


def _runs(result: Result) -> list[Result] | list[HostRun]:
    """The run of the machine, or those of the hosts."""
    if result.hosts is None:
        return [result]
    return [host.run for host in result.hosts if host.run is not None]


def _hosts(result: Result) -> dict[str, Any]:
    if result.hosts is None:
        return {"host name": result.environment.hostname}
    return {"hosts": ", ".join(host.name for host in result.hosts)}


def _seed(result: Result) -> dict[str, Any]:
    return {"seed": result.config.seed}


CONDITIONS = (
    Condition("workload", "workloads", _workload),
    Condition("device", "devices", _device),
    Condition("machine", "machines", _machine),
    Condition("host", "hosts", _hosts, counted=False),
    Condition("kernel", "kernels", _kernel),
    Condition(
        "governor", "governors", lambda result: dict(result.environment.governors), counted=False
    ),
    Condition(
        "clock", "clock sources", lambda result: {"clock source": result.environment.clocksource}
    ),
    Condition("instrument", "instruments", _instrument),
)
NAMES = tuple(condition.name for condition in CONDITIONS)
_SEED = Condition("seed", "seeds", _seed)


def check(a: Sequence[Run], b: Sequence[Run], vary: Collection[str]) -> list[Difference]:
    """Refuse sides that are unlike in conditions other than @vary; return where those differ.

    RefusedError: the first difference as a sentence.
    """
    counts = a[0].result.environment.counts_instructions
    for run in (*a, *b):
        if run.result.environment.counts_instructions != counts:
            first, others = (a[0], run) if counts else (run, a[0])
            raise RefusedError(
                f"{first.file} counts instructions, and {others.file} measures time: these are not"
                " comparable"
            )
    differences: list[Difference] = []
    for condition in CONDITIONS if not counts else (*CONDITIONS, _SEED):
        if counts and not condition.counted:
            continue
        for side in (a, b):
            for run in side[1:]:
                for field, left, right in _different(condition, side[0], run):
                    raise RefusedError(
                        f"one side mixes {condition.words}: {field} is {left} in"
                        f" {side[0].file}, and {right} in {run.file}"
                    )
        for field, left, right in _different(condition, a[0], b[0]):
            if condition.name in vary:
                differences.append(Difference(condition.name, field, left, right))
                continue
            hint = f"; --vary {condition.name} allows it" if condition.name in NAMES else ""
            raise RefusedError(
                f"the {condition.words} differ: {field} is {left} in {a[0].file}, and {right} in"
                f" {b[0].file}{hint}"
            )
    return differences


def _different(condition: Condition, first: Run, second: Run) -> Iterator[tuple[str, str, str]]:
    """(field, its value in the first, in the second) of all that are not equal."""
    left, right = condition.facts(first.result), condition.facts(second.result)
    for field in dict.fromkeys([*left, *right]):
        if left.get(field) != right.get(field):
            yield field, _told(left.get(field)), _told(right.get(field))


def _told(value: Any) -> str:
    if value is None or value == "":
        return "not known" if value == "" else "none"
    text = value if isinstance(value, str) else msgspec.json.encode(value).decode()
    return f"'{text}'" if isinstance(value, str) else text
