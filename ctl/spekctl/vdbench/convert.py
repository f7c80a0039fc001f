# SPDX-License-Identifier: GPL-2.0-or-later
"""Run definitions as workloads, and a report of where each parameter went."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from spekctl import recorded, units
from spekctl.errors import UsageError, at
from spekctl.suggest import did_you_mean
from spekctl.vdbench import clients, hosts, parmfile, rates, validation
from spekctl.vdbench.hosts import Kinds, matches
from spekctl.vdbench.keywords import (
    DIFFERENT,
    DUPLICATES,
    LOOPS,
    MAPPED,
    NOT_NEEDED,
    OF_HOSTS,
    OF_HOSTS_NOT_NEEDED,
    OF_SSH,
    REFUSED,
    is_off,
)
from spekctl.vdbench.parmfile import DEFAULT, Definition, number
from spekctl.vdbench.stream import (
    EOF,
    STRIPE,
    Load,
    Part,
    is_sequential,
    load_of,
    only,
    percent,
    shares,
    stripe_of,
)
from spekctl.workload import file as workloads
from spekctl.workload.imported import Imported, device_option, word

OPEN = (
    "arrivals keep their schedule whatever is outstanding, and response time counts from them;"
    " vdbench stops at its threads"
)
BESIDE = (
    "I/Os of workloads with a rate are outstanding in addition to the depth of the rest; in vdbench"
    " all take the threads of their devices, those with a rate first"
)
# Outstanding I/Os for each SD, seconds of a run, seconds of an interval, unless the file says.
_THREADS, _ELAPSED, _INTERVAL = 8, "30", "1"
# As vdbench has it, for sums of fractions.
_SKEW_MARGIN = Fraction(1, 10**6)
_RUNS_MAX = 1000
_SDS_MAX = 10000
_COUNTED = re.compile("%0?[0-9]?d", re.ASCII)


@dataclass(frozen=True, slots=True)
class Member:
    """A workload definition in a run.

    @share: of what workloads without a rate of their own have; 0 if it has one
    @rate: I/Os per second; None: as many as there can be
    """

    wd: Definition
    share: Fraction
    rate: Fraction | None


def load(path: Path, run: str | None = None) -> Imported:
    """Import the run of this name, or the only one."""
    steps = load_steps(path)
    name = recorded.text(str(path))
    chosen = [
        place for place, step in enumerate(steps) if run in (None, step.workload.workload.name)
    ]
    if len(chosen) == 1:
        if any(step.beside for step in steps[chosen[0] : chosen[0] + 2][bool(run is None) :]) or (
            steps[chosen[0]].beside
        ):
            raise UsageError(
                f"{steps[chosen[0]].workload.workload.name} of {name} is a part of a run on several"
                " devices, whose parts start together: import them (spekctl vdbench -o FILE) and"
                " start each with the same --start-at"
            )
        return steps[chosen[0]]
    names = [step.workload.workload.name for step in steps]
    order = "some of them together" if any(step.beside for step in steps) else "one after the other"
    raise UsageError(
        f"{name} has {len(steps)} runs, {order}: name one (vdbench:FILE#RUN): {', '.join(names)}"
    )


def load_steps(path: Path) -> list[Imported]:
    """A workload for each run of the run definitions, in their order; several that start together
    where workload definitions have devices of their own. UsageError names what is refused."""
    definitions = parmfile.read(path)
    name = recorded.text(str(path))
    try:
        definitions = hosts.repeated(definitions)
    except UsageError as error:
        raise UsageError(f"{name} is not imported: {error.message}") from error
    whole = definitions[0]
    defaults = {
        definition.kind: definition
        for definition in definitions
        if definition.name == DEFAULT and definition.kind
    }
    by_kind: dict[str, dict[str, Definition]] = {
        kind: {
            definition.name: definition
            for definition in definitions
            if definition.kind == kind and definition.name != DEFAULT
        }
        for kind in parmfile.KINDS
    }
    refused = list(
        dict.fromkeys(
            text
            for definition in definitions
            for text in _refusals(definition, defaults.get(definition.kind))
        )
    )
    refused += hosts.check(by_kind)
    if not refused:
        refused = [f"there is no {kind}" for kind in ("sd", "rd") if not by_kind[kind]]
    if refused:
        raise UsageError(f"{name} is not imported: " + "; ".join(refused))
    imported: list[Imported] = []
    titles = set[str]()
    remote = not all(map(hosts.is_local, by_kind["hd"].values()))
    try:
        by_kind["sd"] = _counted(by_kind["sd"])
    except UsageError as error:
        raise UsageError(f"{name} is not imported: {error.message}") from error
    for run in by_kind["rd"].values():
        try:
            for values in _loops(run):
                if remote:
                    steps = [_fleet_step(whole, run, values, by_kind, defaults, titles)]
                else:
                    steps = _steps(whole, run, values, by_kind, defaults, titles)
                text = values["iorate"][0]
                share = rates.share_of(text)
                if share is not None:
                    if remote or len(steps) > 1 or (imported and imported[-1].beside):
                        raise UsageError(f"iorate: '{text}': {rates.ALONE}")
                    rates.follow(steps[0], share, imported)
                elif text.lower() == "curve" and (remote or len(steps) > 1):
                    for step in steps:
                        rates.only_highest(step, run)
                elif text.lower() == "curve":
                    for point in rates.points(run):
                        at_point, share = rates.at_point(run, point), rates.share_of(point)
                        if share is None:
                            raise UsageError(f"curve: '{point}' is not a share in per cent")
                        own = {**values, "iorate": [point]}
                        steps += _steps(whole, at_point, own, by_kind, defaults, titles)
                        rates.follow(steps[-1], share, steps[:-1], len(steps) - 1)
                of_run = _of_run(run, definitions, _loads(run, by_kind, defaults))
                for definition, step in itertools.product(of_run, steps):
                    for key, given in definition.given.items():
                        _report(step, definition.kind, key, given)
                if text.lower() == "curve":
                    for step in steps:
                        rates.report(step, run)
                imported += steps
        except UsageError as error:
            raise UsageError(f"{name} is not imported: rd={run.name}: {error.message}") from error
    for step in imported[:-1]:
        if step.not_needed.get("pause") == NOT_NEEDED["pause"]:
            del step.not_needed["pause"]
            step.differences.append(PAUSE)
    return imported


PAUSE = "the next run begins at once; vdbench pauses before it (pause)"
MISMATCHES = "mismatches are counted and end nothing; in vdbench they count among data_errors"


def _of_run(
    run: Definition, definitions: Sequence[Definition], loads: Sequence[Definition]
) -> list[Definition]:
    """The definitions whose parameters have an effect on a run: those of other runs, and of
    workloads that only these have, have none."""
    names = {wd.name for wd in loads} if "wd" in run.given else {DEFAULT}
    return [
        definition
        for definition in definitions
        if definition is run
        or definition.kind not in ("rd", "wd")
        or (definition.kind == "wd" and definition.name in names)
    ]


def _report(step: Imported, kind: str, key: str, given: Sequence[str]) -> None:
    """Say in @step what became of a parameter."""
    mapped = MAPPED[kind].get(key)
    streams = step.workload.stream
    if is_off(key, given):
        step.not_needed[key] = "it is off"
    elif key in DUPLICATES:
        if any(stream.duplicate for stream in streams):
            step.differences.append(DUPLICATES[key])
        else:
            step.not_needed[key] = "no data of this ratio are written"
    elif step.clients and key in OF_SSH and not any(client.ssh for client in step.clients):
        step.not_needed[key] = "vdbench starts no host of this run over SSH"
    elif step.clients and key in OF_HOSTS:
        step.mapped[key] = OF_HOSTS[key]
    elif step.clients and key in OF_HOSTS_NOT_NEEDED:
        step.not_needed[key] = OF_HOSTS_NOT_NEEDED[key]
    elif key == "openflags" and not any(stream.fua for stream in streams):
        step.not_needed[key] = "there is no page cache in between"
    elif key == "iorate" and not any(arrival.rate for arrival in step.workload.arrival):
        step.mapped[key] = "arrival.law"
    elif key == "threads" and not any(arrival.depth for arrival in step.workload.arrival):
        step.not_needed[key] = "arrivals have a rate, whatever is outstanding"
    elif key in validation.KEYS and kind == "" and "--verify" not in step.command_line:
        step.not_needed[key] = validation.not_needed(key, given)
    elif key == "hotband" and not any(stream.pattern == "hotband" for stream in streams):
        step.mapped[key] = "stream.start, stream.range"
    elif key == "range" and any(stream.pattern == "hotband" for stream in streams):
        step.not_needed[key] = "hotband is in its place"
    elif key in ("rhpct", "whpct", "hitarea") and not any(
        stream.name.endswith(("-hit", "-miss")) for stream in streams
    ):
        step.not_needed[key] = "there are no hits"
    elif mapped in ("stream.compressible", "stream.duplicate") and not any(
        getattr(stream, mapped.removeprefix("stream.")) for stream in streams
    ):
        step.not_needed[key] = "no data of this ratio are written"
    elif key in ("curve", "stopcurve"):
        step.not_needed[key] = "it is for iorate=curve"
    elif key == "maxdata":
        # Where it sets no end, a difference says so.
        run = step.workload.run
        for name in ("count", "passes"):
            if getattr(run, name) is not None:
                step.mapped[key] = f"run.{name}"
    elif mapped is not None:
        step.mapped[key] = mapped
    elif key not in DIFFERENT:
        step.not_needed[key] = NOT_NEEDED[key]


def _refusals(definition: Definition, default: Definition | None) -> Iterator[str]:
    if definition.kind in ("fsd", "fwd"):
        yield f"{definition.kind}={definition.name}: spek loads block devices, not files"
        return
    if definition.kind == "rg":
        yield f"rg={definition.name}: {REFUSED['replay']}"
        return
    if definition.kind == "sd" and definition.name != DEFAULT and "lun" not in definition.given:
        yield f"sd={definition.name}: it has no lun"
    mapped = MAPPED[definition.kind]
    for key, values in definition.given.items():
        if default not in (None, definition) and default.given.get(key) == values:
            continue
        place = f"{definition.kind}={definition.name}: {key}" if definition.kind else key
        if key == "lun":
            if len(values) != max(1, len(definition.hosts)):
                yield (
                    f"{place}: there are {len(values)}, each for another host, and"
                    f" {len(definition.hosts)} host=; each lun has a host= of its own"
                )
            elif values[0].startswith("$"):
                yield f"{place}: '{values[0]}' is a variable, which the file does not set"
        elif is_off(key, values) or key in DUPLICATES:
            continue
        elif key == "user" and definition.kind == "wd":
            yield f"{place}: {REFUSED[key]}"
        elif key in mapped or (definition.kind == "rd" and key in DIFFERENT):
            if key in validation.KEYS and not definition.kind:
                yield from validation.refusals(key, values)
            elif key == "data_errors" and not _is_number(values):
                yield (
                    f"{place}: '{','.join(values)}' is not a number of errors, and spek runs no"
                    " commands"
                )
        elif key in REFUSED and not (definition.kind == "hd" and key == "user"):
            yield f"{place}: {REFUSED[key]}"
        elif key not in NOT_NEEDED:
            hint = did_you_mean(key, (*mapped, *NOT_NEEDED, *REFUSED))
            yield f"{place}: not a parameter that spek knows{hint}"


def _counted(sds: Mapping[str, Definition]) -> dict[str, Definition]:
    """The SDs, with count=(start,count) as so many of them."""
    by_name: dict[str, Definition] = {}
    for sd in sds.values():
        numbers = [""]
        if "count" in sd.given:
            with at(f"sd={sd.name}"):
                values = [int(number("count", text)[0]) for text in sd.given["count"]]
                if len(values) != 2 or not 0 < values[1] <= _SDS_MAX:
                    raise UsageError("count: it is (start,count), with a count above 0")
            numbers = [str(values[0] + place) for place in range(values[1])]
        for text in numbers:
            name = _numbered(sd.name, text)
            if name in by_name:
                raise UsageError(f"there are two definitions sd={name}")
            luns = [_numbered(lun, text) for lun in sd.given["lun"]]
            by_name[name] = Definition("sd", name, {**sd.given, "lun": luns}, sd.hosts)
    return by_name


def _numbered(name: str, text: str) -> str:
    if not text:
        return name
    if _COUNTED.search(name):
        return _COUNTED.sub(lambda match: match.group() % int(text), name)
    return name.replace("*", text) if "*" in name else name + text


def _loops(run: Definition) -> Iterator[dict[str, list[str]]]:
    """The parameters of each run: the loops in their order, several rates as the innermost."""
    keys = [key for key in run.given if key in (*LOOPS, "compression")]
    if "iorate" not in run.given:
        raise UsageError("iorate: it is missing")
    keys.append("iorate")
    count = math.prod(len(run.given[key]) for key in keys)
    if count > _RUNS_MAX:
        raise UsageError(f"it has {count} runs; at most {_RUNS_MAX} are imported")
    for chosen in itertools.product(*(run.given[key] for key in keys)):
        yield {key: [value] for key, value in zip(keys, chosen, strict=True)}


def _steps(
    whole: Definition,
    run: Definition,
    values: Mapping[str, list[str]],
    by_kind: Kinds,
    defaults: Mapping[str, Definition],
    titles: set[str],
) -> list[Imported]:
    """The run with these values of its loops, as a workload for each set of devices."""
    loads = _loads(run, by_kind, defaults)
    groups: list[tuple[list[Definition], list[Member]]] = []
    for member in _members(loads, values["iorate"][0]):
        load_ = member.wd
        devices = _devices(run, load_, by_kind)
        names = {device.name for device in devices}
        for known, members in groups:
            if {device.name for device in known} == names:
                members.append(member)
                break
            if names & {device.name for device in known}:
                raise UsageError(
                    f"sd: wd={members[0].wd.name} and wd={load_.name} have some devices in common,"
                    " not all: streams of a run share theirs, and a device has one run at a time"
                )
        else:
            groups.append((devices, [member]))
    if len(groups) > 1 and values["iorate"][0].lower() in ("max", "curve"):
        for wd in loads:
            if "skew" in wd.given:
                raise UsageError(
                    f"skew: wd={wd.name} has a share of what others on other devices reach; give a"
                    " rate"
                )
    steps: list[Imported] = []
    for devices, members in groups:
        alone = len(groups) == 1
        step = _step(whole, run, values, devices, members, word(run.name, titles), alone)
        step.beside = bool(steps)
        steps.append(step)
    return steps


def _fleet_step(
    whole: Definition,
    run: Definition,
    values: Mapping[str, list[str]],
    by_kind: Kinds,
    defaults: Mapping[str, Definition],
    titles: set[str],
) -> Imported:
    """The run with these values of its loops, as a workload that several hosts share."""
    loads = _loads(run, by_kind, defaults)
    members = _members(loads, values["iorate"][0])
    title = word(run.name, titles)
    labels = list(by_kind["hd"])
    devices = {wd.name: _devices(run, wd, by_kind) for wd in loads}
    if whole.given.get("concatenatesds", ["no"])[0].lower().startswith("y"):
        raise UsageError("concatenatesds: the devices of hosts are not joined to one")
    sequential = frozenset(wd.name for wd in loads if is_sequential({**wd.given, **values}))
    places = hosts.places(loads, devices, sequential, labels)
    for wd in loads:
        if not any(place.wd == wd.name for place in places):
            raise UsageError(f"wd={wd.name}: none of its hosts has one of its devices")
    sds = {sd.name: sd for wd in loads for sd in devices[wd.name]}
    requested = {
        sd.name: _threads(values.get("threads", sd.given.get("threads", [str(_THREADS)])))
        for sd in by_kind["sd"].values()
        if sd.name in sds
    }
    threads = hosts.threads(places, requested, labels)
    over = {key: value for key, value in values.items() if key != "threads"}
    steps: dict[str, Imported] = {}
    taking_part = [label for label in labels if any(place.host == label for place in places)]
    for label in taking_part:
        with at(f"hd={label}"):
            own = hosts.own_devices(label, places, sds, threads, labels)
            part = [
                Member(
                    member.wd,
                    member.share * share,
                    None if member.rate is None else member.rate * share,
                )
                for member in members
                if (share := hosts.share(places, member.wd.name, label))
            ]
            steps[label] = _step(whole, run, over, own, part, title, len(taking_part) == 1)
    step = clients.together(by_kind["hd"], steps)
    if "--verify" in step.command_line:
        for sd in sds:
            if len({place.host for place in places if place.sd == sd}) > 1:
                raise UsageError(
                    f"{validation.asked_by(whole)}: sd={sd} is on several hosts, of which vdbench"
                    " verifies it on one; name that (host=)"
                )
    for label in labels:
        if label not in steps:
            step.not_needed[f"hd={label}"] = "it has no part in this run"
    return step


def _loads(run: Definition, by_kind: Kinds, defaults: Mapping[str, Definition]) -> list[Definition]:
    if "wd" in run.given:
        return _named(run.given["wd"], by_kind["wd"], "wd")
    if "sd" not in run.given:
        raise UsageError("wd: it names no workload")
    # A run with devices of its own needs no workload: it has the defaults.
    default = defaults.get("wd", Definition("wd", DEFAULT))
    return [Definition("wd", run.name, dict(default.given))]


def _devices(run: Definition, wd: Definition, by_kind: Kinds) -> list[Definition]:
    """The SDs of a workload definition in a run."""
    wanted = run.given.get("sd", wd.given.get("sd"))
    if wanted is None:
        raise UsageError(f"wd={wd.name}: it names no sd")
    if wanted == ["single"]:
        raise UsageError("sd: 'single' is a run for each SD; name them one by one")
    return _named(wanted, by_kind["sd"], "sd")


def _named(patterns: Sequence[str], among: Mapping[str, Definition], kind: str) -> list[Definition]:
    """The definitions that names, or their beginnings with a *, mean."""
    chosen: list[Definition] = []
    for pattern in patterns:
        names = [name for name in among if matches(pattern, name)]
        if not names:
            raise UsageError(f"{kind}: there is no {kind}={pattern}")
        chosen += [among[name] for name in names if among[name] not in chosen]
    return chosen


def _members(loads: Sequence[Definition], text: str) -> list[Member]:
    """Workloads with their rates: their own, or their share of what these leave of the run's."""
    own = [_own_rate(wd) for wd in loads]
    _check_priorities(loads, own)
    rest = [wd for wd, rate in zip(loads, own, strict=True) if rate is None]
    skews = iter(_skews(rest))
    rate = rates.of_run(text)
    if any(own) and (text.lower() == "curve" or rates.share_of(text)):
        raise UsageError(
            "iorate: points of a curve are rates of all workloads, and some have their own; give"
            " the rates"
        )
    left = None
    if rate is not None:
        left = rate - sum(filter(None, own))
        if rest and left <= 0:
            raise UsageError(
                f"iorate: nothing of {text} is left for wd={rest[0].name} beside workloads with a"
                " rate of their own"
            )
    members = []
    for wd, fixed in zip(loads, own, strict=True):
        share = next(skews) if fixed is None else Fraction(0)
        members.append(Member(wd, share, fixed if fixed or left is None else left * share))
    return members


def _own_rate(wd: Definition) -> Fraction | None:
    """The rate of a workload definition; None: it has none, or 0."""
    if "iorate" not in wd.given:
        return None
    with at(f"wd={wd.name}"):
        text = only(wd.given, "iorate")
        rate, share = number("iorate", text)
        if share:
            raise UsageError(f"iorate: '{text}' is not a number of I/Os per second")
        if rate and wd.given.get("skew", ["0"]) != ["0"]:
            raise UsageError("skew: it has a rate, so a share of the rest has no meaning")
    return rate or None


def _check_priorities(loads: Sequence[Definition], own: Sequence[Fraction | None]) -> None:
    """Priorities are kept where they only say that workloads with a rate come first."""
    levels: dict[str, int] = {}
    for wd in loads:
        if "priority" in wd.given:
            with at(f"wd={wd.name}"):
                levels[wd.name] = int(number("priority", only(wd.given, "priority"))[0])
    if levels and not any(own):
        raise UsageError(
            f"priority: wd={next(iter(levels))}: a workload waits for no other; give those that"
            " come first a rate (iorate), or all a share (skew)"
        )
    first, after = (
        [
            (levels[wd.name], wd.name)
            for wd, rate in zip(loads, own, strict=True)
            if wd.name in levels and bool(rate) is has_rate
        ]
        for has_rate in (True, False)
    )
    if first and after and max(first)[0] >= min(after)[0]:
        raise UsageError(
            f"priority: wd={max(first)[1]} has a rate, and comes before wd={min(after)[1]}, which"
            " has none: give it a smaller number"
        )


def _skews(loads: Sequence[Definition]) -> list[Fraction]:
    """Skew in per cent; workloads without one, or with 0, share the rest."""
    given = [percent(wd.given, "skew", 0) for wd in loads]
    known = sum(given, Fraction(0))
    without = given.count(Fraction(0))
    if len(loads) == 1:
        return [Fraction(1)]
    whole = abs(known - 1) <= _SKEW_MARGIN
    if (known > 1 and not whole) or (loads and not whole and not without) or (whole and without):
        raise UsageError(f"skew: the shares of its workloads sum to {float(100 * known):g} %")
    return [share or (1 - known) / without for share in given]


def _step(
    whole: Definition,
    run: Definition,
    values: Mapping[str, list[str]],
    devices: Sequence[Definition],
    members: Sequence[Member],
    title: str,
    alone: bool,
) -> Imported:
    over = {key: value for key, value in values.items() if key != "iorate"}
    if "openflags" in run.given:
        over["openflags"] = run.given["openflags"]
    givens: list[dict[str, list[str]]] = []
    stripe = STRIPE
    for member in members:
        wd = member.wd
        if (
            len(members) > 1
            and "streams" in wd.given
            and not is_off("streams", wd.given["streams"])
        ):
            raise UsageError(f"wd={wd.name}: streams: it is the only workload of its run then")
        given = dict(wd.given)
        if "rdpct" in over:
            given.pop("wrpct", None)
        givens.append({**given, **over})
        with at(f"wd={wd.name}"):
            stripe = max(stripe, stripe_of(givens[-1]))
    loads: list[tuple[Member, Load]] = []
    for member, given in zip(members, givens, strict=True):
        with at(f"wd={member.wd.name}"):
            loads.append((member, load_of(given, devices, whole.given, stripe)))
    # Workloads at a rate, and those as fast as there can be, are arrival processes of their own.
    paced = [pair for pair in loads if pair[0].rate is not None]
    closed = [pair for pair in loads if pair[0].rate is None]
    notes = [note for _, load_ in loads for note in load_.notes]
    concatenated = whole.given.get("concatenatesds", ["no"])[0].lower().startswith("y")
    table: dict[str, Any] = {"data": "random"}
    _length(run, table, [load_ for _, load_ in loads], bool(paced and closed), alone, notes)
    if "maxdata" in run.given and not alone:
        notes.append("ends by time only; vdbench also ends after maxdata of all parts together")
    arrivals: list[dict[str, Any]] = []
    streams: list[dict[str, Any]] = []
    names, processes = set[str](), set[str]()
    if paced:
        rate = sum((member.rate or Fraction(0) for member, _ in paced), Fraction(0))
        arrivals.append(
            {"name": word(title, processes), "law": _law(run), "rate": _whole(rate)},
        )
        parts = [
            (member.wd, (member.rate or 0) * part.share, part)
            for member, load_ in paced
            for part in load_.parts
        ]
        streams += _streams(parts, names)
        notes.insert(0, OPEN)
    if closed:
        depth = _depth(over, [member.wd for member, _ in closed], devices, concatenated)
        name = word(f"{title}-rest" if paced else title, processes)
        arrivals.append({"name": name, "law": "closed", "depth": depth})
        parts = [
            (member.wd, member.share * part.share, part)
            for member, load_ in closed
            for part in load_.parts
        ]
        rest = _streams(parts, names)
        if paced:
            notes.append(BESIDE)
            for stream in streams:
                stream["arrival"] = arrivals[0]["name"]
            for stream in rest:
                stream["arrival"] = name
        streams += rest
    data = {
        "workload": {"name": title, "summary": f"Imported from vdbench's {run.name}"},
        "run": table,
        "arrival": arrivals,
        "stream": streams,
    }
    imported = Imported(workloads.check(data), "vdbench")
    imported.command_line = [device_option(device.given["lun"][0]) for device in devices]
    if len(devices) > 1:
        if stripe > STRIPE:
            imported.command_line.append(f"--stripe {stripe >> 10}KiB")
        theirs = (
            "puts one behind the other" if concatenated else "has random and sequential I/O on each"
        )
        notes.append(
            f"devices are striped over in units of {units.format_bytes(stripe)}; vdbench {theirs}"
        )
    if any(load_.writes for _, load_ in loads):
        imported.command_line.append("--write")
        if validation.is_on(whole):
            if any("compressible" in stream or "duplicate" in stream for stream in streams):
                asked = validation.asked_by(whole)
                raise UsageError(f"{asked}: data to be verified neither compress nor repeat")
            imported.command_line.append("--verify")
            notes += validation.differences(whole)
    errors = int(whole.given.get("data_errors", ["0"])[0])
    if errors:
        imported.command_line.append(f"--max-errors {errors}")
        if "--verify" in imported.command_line:
            notes.append(MISMATCHES)
    imported.differences = list(dict.fromkeys(notes))
    return imported


def _is_number(values: Sequence[str]) -> bool:
    """Whether the values of a parameter are one whole number that an option takes."""
    return len(values) == 1 and re.fullmatch(r"[0-9]{1,9}", values[0], re.ASCII) is not None


def _streams(
    parts: Sequence[tuple[Definition, Fraction, Part]], names: set[str]
) -> list[dict[str, Any]]:
    """The streams of an arrival process."""
    return [
        {"name": word(wd.name + part.suffix, names), "share": share, **part.table}
        for (wd, _, part), share in zip(parts, shares([part[1] for part in parts]), strict=True)
    ]


def _length(
    run: Definition,
    table: dict[str, Any],
    loads: Sequence[Load],
    mixed: bool,
    alone: bool,
    notes: list[str],
) -> None:
    """Set how long the run is. @mixed: some workloads have rates, and some have none"""
    given = {"elapsed": [_ELAPSED], "interval": [_INTERVAL], **run.given}
    for key, target in (("elapsed", "time"), ("warmup", "ramp"), ("interval", "interval")):
        if key in given:
            with at(key):
                length = units.parse_duration_ns(only(given, key), bare_seconds=True)
            table[target] = units.format_duration(length)
    end = _end(run, loads, mixed, alone, notes)
    if "passes" in end:
        table.pop("ramp", None)
    table |= end


def _end(
    run: Definition,
    loads: Sequence[Load],
    mixed: bool,
    alone: bool,
    notes: list[str],
) -> dict[str, int | float]:
    """After which passes of the range, or I/Os, vdbench ends if not by time before that."""
    limits: list[Fraction] = []
    if any(load_.ends for load_ in loads):
        if sum(len(load_.parts) for load_ in loads) == 1:
            limits.append(Fraction(1))
        else:
            notes.append(EOF)
    by_range: dict[str, int | float] = {"passes": _whole(limits[0])} if limits else {}
    if "maxdata" not in run.given or not alone:
        return by_range
    amount = number("maxdata", only(run.given, "maxdata"))[0]
    # Less is so many times the size of all devices.
    if amount < 100:
        if amount and not mixed and all(load_.covers for load_ in loads):
            return {"passes": _whole(min([*limits, amount]))}
        notes.append(
            f"ends by time only; vdbench also ends after {float(amount):g} times the size of its"
            " devices"
        )
        return by_range
    sizes = {load_.block for load_ in loads}
    block = sizes.pop() if len(sizes) == 1 else None
    if block and int(amount / block) and not limits:
        return {"count": int(amount / block)}
    shown = units.format_bytes(int(amount))
    notes.append(f"ends without regard to maxdata; vdbench also ends after {shown}")
    return by_range


def _law(run: Definition) -> str:
    given = [law.lower() for law in run.given.get("distribution", ["exponential"])]
    for law in given:
        if law and "exponential".startswith(law):
            return "poisson"
        if law and "deterministic".startswith(law):
            return "constant"
    raise UsageError(f"distribution: '{','.join(given)}' is neither exponential nor deterministic")


def _whole(rate: Fraction) -> int | float:
    return int(rate) if rate.denominator == 1 else float(rate)


def _depth(
    over: Mapping[str, list[str]],
    wds: Sequence[Definition],
    devices: Sequence[Definition],
    concatenated: bool,
) -> int:
    """I/Os outstanding in total: those of each SD, unless vdbench takes the SDs for one."""
    own = [wd for wd in wds if "threads" in wd.given]
    if own and not concatenated:
        raise UsageError(
            f"threads: vdbench takes those of wd={own[0].name} only with concatenatesds=yes; give"
            " them to the SD or the run"
        )
    if "threads" in over:
        return _threads(over["threads"]) * (1 if concatenated else len(devices))
    if own:
        return sum(_threads(wd.given["threads"]) for wd in own)
    return sum(_threads(device.given.get("threads", [str(_THREADS)])) for device in devices)


def _threads(values: Sequence[str]) -> int:
    """Threads, (32,4) as 32 divided by 4."""
    try:
        numbers = [int(number("threads", text)[0]) for text in values]
        threads = numbers[0] // (max(1, numbers[1]) if len(numbers) > 1 else 1)
    except UsageError:
        threads = 0
    if threads < 1:
        raise UsageError(f"threads: '{','.join(values)[:40]}' is not a number above 0")
    return threads
