# SPDX-License-Identifier: GPL-2.0-or-later
"""Run definitions as workloads, and a report of where each parameter went."""

from __future__ import annotations

import fnmatch
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

from spekctl import recorded, units
from spekctl.errors import UsageError, at
from spekctl.suggest import did_you_mean
from spekctl.vdbench import parmfile
from spekctl.vdbench.parmfile import Definition
from spekctl.workload import file as workloads
from spekctl.workload.imported import Imported, word

OPEN = (
    "arrivals keep their schedule whatever is outstanding, and response time counts from them;"
    " vdbench stops at its threads"
)
STRIPED = "devices are striped over in units of 64 KiB; vdbench draws one for each I/O"
# Outstanding I/Os for each SD, unless threads says otherwise.
_THREADS = 8
_RUNS_MAX = 1000

# Where the parameters of each kind go.
_MAPPED: dict[str, dict[str, str]] = {
    "hd": {"system": "nothing: this host"},
    "sd": {
        **{"lun": "--device", "size": "stream.range", "offset": "stream.start"},
        **{"range": "stream.start, stream.range", "align": "stream.align"},
        "threads": "arrival.depth",
    },
    "wd": {
        **{"sd": "--device", "xfersize": "stream.size, stream.sizes", "rdpct": "stream.read"},
        **{"seekpct": "stream.pattern, stream.sequential", "skew": "stream.share"},
        **{"range": "stream.start, stream.range", "hotband": "stream.pattern"},
        **{"rhpct": "nothing: it is 0", "whpct": "nothing: it is 0"},
        "threads": "arrival.depth",
    },
    "rd": {
        **{"wd": "streams", "sd": "--device", "iorate": "arrival.rate", "elapsed": "run.time"},
        **{"warmup": "run.ramp", "interval": "run.interval", "threads": "arrival.depth"},
        **{"distribution": "arrival.law", "xfersize": "stream.size, stream.sizes"},
        **{"rdpct": "stream.read", "seekpct": "stream.pattern, stream.sequential"},
        **{f"for{name}": "steps" for name in ("xfersize", "rdpct", "seekpct", "threads")},
    },
    "": {"validate": "--verify"},
}
_NOT_NEEDED = {
    "openflags": "there is no page cache in between",
    "hitarea": "there are no cache hits to make",
    "pause": "steps are started one by one",
    "messagescan": "a result says what went wrong",
    "report": "a result has all of it",
    "histogram": "a result has all of it",
    "monitor": "a run is stopped with `spekctl stop`",
    "data_errors": "errors are counted; `--max-errors N` ends a run",
    "shell": "there are no remote hosts",
    "user": "there are no remote hosts",
    "jvms": "the load is one kernel thread per CPU",
    "concatenatesds": "devices are striped over",
}
_REFUSED = {
    "stride": "addresses are drawn, or follow each other",
    "streams": "write a WD for each stream",
    "iorate": "the rate is that of the run definition",
    "priority": "the rate is that of the run definition",
    "compratio": "written data are zeros or random",
    "dedupratio": "written data are zeros or random",
    "dedupunit": "written data are zeros or random",
    "journal": "save the state with --verify-state",
    "startcmd": "spek runs no commands",
    "endcmd": "spek runs no commands",
    "maxdata": "give a count: `spekctl run --count`",
    "seekcount": "give a count: `spekctl run --count`",
    "replay": "convert the trace and replay it: spekctl run --trace",
    "curve": "measure load curves with `spekctl sweep`",
    "operations": "these are operations of files",
    "format": "spek loads block devices, not files",
    "fwd": "spek loads block devices, not files",
    "foroperations": "these are operations of files",
}


def load(path: Path, run: str | None = None) -> Imported:
    """Import the run of this name, or the only one."""
    steps = load_steps(path)
    chosen = [one for one in steps if run in (None, one.workload.workload.name)]
    if len(chosen) == 1:
        return chosen[0]
    names = [one.workload.workload.name for one in steps]
    raise UsageError(
        f"{recorded.text(str(path))} has {len(steps)} runs, one after the other: name one"
        f" (vdbench:FILE#RUN): {', '.join(names)}"
    )


def load_steps(path: Path) -> list[Imported]:
    """A workload for each run of the run definitions, in their order. UsageError names what is
    refused."""
    definitions = parmfile.read(path)
    name = recorded.text(str(path))
    refused = list(dict.fromkeys(text for one in definitions for text in _refusals(one)))
    by_kind = {
        kind: {one.name: one for one in definitions if one.kind == kind} for kind in parmfile.KINDS
    }
    if not refused:
        refused = [f"there is no {kind}" for kind in ("sd", "wd", "rd") if not by_kind[kind]]
    if refused:
        raise UsageError(f"{name} is not imported: " + "; ".join(refused))
    verify = any(
        one.kind == "" and one.given.get("validate", ["no"])[0] != "no" for one in definitions
    )
    found, titles = [], set[str]()
    for run in by_kind["rd"].values():
        for values in _loops(run):
            try:
                step = _step(path, run, values, by_kind, word(run.name, titles))
            except UsageError as error:
                raise UsageError(
                    f"{name} is not imported: rd={run.name}: {error.message}"
                ) from error
            if verify and "--write" in step.command_line:
                step.command_line.append("--verify")
            for one in definitions:
                for key in one.given:
                    if key in _MAPPED[one.kind]:
                        step.mapped[key] = _MAPPED[one.kind][key]
                    else:
                        step.not_needed[key] = _NOT_NEEDED[key]
            found.append(step)
    return found


def _refusals(one: Definition) -> Iterator[str]:
    if one.kind in ("fsd", "fwd"):
        yield f"{one.kind}={one.name}: spek loads block devices, not files"
        return
    mapped = _MAPPED[one.kind]
    if one.kind == "sd" and "lun" not in one.given:
        yield f"sd={one.name}: it has no lun"
    for key, values in one.given.items():
        place = f"{one.kind}={one.name}: {key}" if one.kind else key
        if key in mapped:
            if key in ("rhpct", "whpct") and values != ["0"]:
                yield f"{place}: there are no cache hits to make"
            if key == "system" and values != ["localhost"]:
                yield f"{place}: the workload is for one host, localhost"
        elif key in _REFUSED:
            yield f"{place}: {_REFUSED[key]}"
        elif key not in _NOT_NEEDED:
            hint = did_you_mean(key, (*mapped, *_NOT_NEEDED, *_REFUSED))
            yield f"{place}: not a parameter that spek knows{hint}"


def _loops(run: Definition) -> Iterator[dict[str, list[str]]]:
    """The parameters of each run: the forXXX loops and several rates."""
    loops = [
        [(key.removeprefix("for"), [value]) for value in values]
        for key, values in run.given.items()
        if key.startswith("for")
    ]
    rates = [("iorate", [value]) for value in run.given.get("iorate", ["max"])]
    fixed = {key: values for key, values in run.given.items() if not key.startswith("for")}
    count = math.prod(len(one) for one in (*loops, rates))
    if count > _RUNS_MAX:
        raise UsageError(f"rd={run.name} has {count} runs; at most {_RUNS_MAX} are imported")
    for chosen in itertools.product(*loops, rates):
        yield {**fixed, **dict(chosen)}


def _step(
    path: Path,
    run: Definition,
    given: Mapping[str, list[str]],
    by_kind: Mapping[str, Mapping[str, Definition]],
    title: str,
) -> Imported:
    loads = _named(given.get("wd", ["*"]), by_kind["wd"], "wd")
    chosen = [
        _named(given.get("sd", one.given.get("sd", ["*"])), by_kind["sd"], "sd") for one in loads
    ]
    devices = chosen[0]
    if any(one != devices for one in chosen):
        raise UsageError(
            "sd: its workloads have different devices, and streams of a run share theirs"
        )
    streams, names = [], set[str]()
    shares = _shares(loads)
    for load, share in zip(loads, shares, strict=True):
        # What the run says counts more than what the workload says.
        stream = _stream({**load.given, **given}, devices, load)
        streams.append({"name": word(load.name, names), "share": share, **stream})
    arrival, open_loop = _arrival(given, loads, devices)
    table: dict[str, Any] = {"data": "random"}
    for key, target in (("elapsed", "time"), ("warmup", "ramp"), ("interval", "interval")):
        if key in given:
            table[target] = units.format_duration(_one(given, key, _duration_ns))
    data = {
        "workload": {"name": title, "summary": f"Imported from vdbench's {run.name}"},
        "run": table,
        "arrival": [{"name": title, **arrival}],
        "stream": streams,
    }
    found = Imported(workloads.check(data), "vdbench")
    found.command_line = [f"--device {one.given['lun'][0]}" for one in devices]
    if any(one["read"] != "100%" for one in streams):
        found.command_line.append("--write")
    if open_loop:
        found.differences.append(OPEN)
    if len(devices) > 1:
        found.differences.append(STRIPED)
    return found


def _named(patterns: Sequence[str], among: Mapping[str, Definition], kind: str) -> list[Definition]:
    """The definitions that names with * and ? mean."""
    found = []
    for pattern in patterns:
        names = fnmatch.filter(among, pattern)
        if not names:
            raise UsageError(f"{kind}: there is no {kind}={pattern}")
        found += [among[one] for one in names if among[one] not in found]
    return found


def _one(given: Mapping[str, list[str]], key: str, parse: Callable[[str], Any]) -> Any:
    """The only value of a parameter; a complaint names it."""
    values = given[key]
    if len(values) != 1:
        raise UsageError(f"{key}: it has one value, not {len(values)}")
    with at(key):
        return parse(values[0])


def _percent(text: str) -> Fraction:
    return units.parse_percent(text if text.endswith("%") else f"{text}%")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= units.LONGEST_NUMBER


def _duration_ns(text: str) -> int:
    """Seconds, unless there is a unit."""
    return units.parse_duration_ns(f"{text}s" if _is_number(text) else text)


def _text(share: Fraction) -> str:
    return f"{float(100 * share):.10g}%"


def _shares(loads: Sequence[Definition]) -> list[str | int]:
    """Skew in per cent; workloads without one share the rest."""
    if len(loads) == 1:
        return [1]
    given = [_one(one.given, "skew", _percent) if "skew" in one.given else None for one in loads]
    known = sum((one for one in given if one is not None), Fraction(0))
    without = given.count(None)
    if known > 1 or (known != 1 and not without) or (known == 1 and without):
        raise UsageError(f"skew: the shares of its workloads sum to {float(100 * known):g} %")
    rest = (1 - known) / without if without else Fraction(0)
    if without == len(loads):
        return [1] * len(loads)
    return [_text(rest if one is None else one) for one in given]


def _stream(
    given: Mapping[str, list[str]], devices: Sequence[Definition], load: Definition
) -> dict[str, Any]:
    reads = _one(given, "rdpct", _percent) if "rdpct" in given else Fraction(1)
    found: dict[str, Any] = {"read": _text(reads)}
    sizes = given.get("xfersize", ["4k"])
    if len(sizes) == 1:
        found["size"] = _one({"xfersize": sizes}, "xfersize", units.parse_size)
    elif len(sizes) % 2:
        raise UsageError("xfersize: a range of sizes is not known; list sizes with their shares")
    else:
        found["sizes"] = [
            {"size": units.parse_size(size), "share": f"{share.removesuffix('%')}%"}
            for size, share in zip(sizes[::2], sizes[1::2], strict=True)
        ]
    found |= _where(given, devices, load)
    seeks = given.get("seekpct", ["100"])
    if "hotband" in given:
        if seeks not in (["100"], ["random"], ["rand"]):
            raise UsageError("hotband: its I/Os are random")
        found["pattern"] = "hotband"
    elif seeks in (["0"], ["seq"], ["sequential"]):
        found["pattern"] = "sequential"
    elif seeks not in (["100"], ["random"], ["rand"]):
        share = 1 - _one(given, "seekpct", _percent)
        found |= {"pattern": "uniform", "sequential": _text(share)}
    return found


def _where(
    given: Mapping[str, list[str]], devices: Sequence[Definition], load: Definition
) -> dict[str, Any]:
    """Start and range of a stream over all devices."""
    for key in ("size", "offset", "align", "range"):
        if any(one.given.get(key) != devices[0].given.get(key) for one in devices):
            raise UsageError(f"{key}: it differs from device to device, and streams are striped")
    device, count = devices[0].given, len(devices)
    found: dict[str, Any] = {}
    if "align" in device:
        found["align"] = _one(device, "align", units.parse_size)
    start = _one(device, "offset", units.parse_size) * count if "offset" in device else 0
    size = _one(device, "size", units.parse_size) * count if "size" in device else None
    key = "hotband" if "hotband" in given else "range"
    bounds = load.given.get(key, device.get("range"))
    if start:
        found["start"] = start
    if size is not None:
        found["range"] = size
    if bounds is None:
        return found
    if len(bounds) != 2:
        raise UsageError(f"{key}: it has two values, where it begins and ends")
    if all(
        _is_number(one.removesuffix("%")) and int(one.removesuffix("%")) <= 200 for one in bounds
    ):
        low, high = (_percent(one) for one in bounds)
        if not low < high <= 1:
            raise UsageError(f"{key}: ({','.join(bounds)}) does not lie in 0 to 100 per cent")
        if size is not None:
            return found | {"start": start + int(low * size), "range": int((high - low) * size)}
        if start:
            raise UsageError(f"{key}: a share needs the size of the SD beside its offset")
        return {**found, "start": _text(low), "range": _text(high - low)}
    first, last = (units.parse_size(one) * count for one in bounds)
    if first >= last:
        raise UsageError(f"{key}: ({','.join(bounds)}) ends before it begins")
    return found | {"start": start + first, "range": last - first}


def _arrival(
    given: Mapping[str, list[str]], loads: Sequence[Definition], devices: Sequence[Definition]
) -> tuple[dict[str, Any], bool]:
    """The arrival process, and whether it is an open loop."""
    law = _one(given, "distribution", str) if "distribution" in given else "exponential"
    laws = {"exponential": "poisson", "deterministic": "constant"}
    if law[:1] not in [one[0] for one in laws]:
        raise UsageError(f"distribution: '{law}' is neither exponential nor deterministic")
    rate = given["iorate"][0]
    if rate == "curve":
        raise UsageError("iorate: measure load curves with `spekctl sweep`")
    if rate != "max":
        if not _is_number(rate) or not int(rate):
            raise UsageError(f"iorate: '{rate}' is neither a rate nor max")
        chosen = next(ours for theirs, ours in laws.items() if theirs[0] == law[0])
        return {"law": chosen, "rate": int(rate)}, True
    sources = [given, *(one.given for one in loads), *(one.given for one in devices)]
    threads = next((one["threads"] for one in sources if "threads" in one), [str(_THREADS)])[0]
    if not _is_number(threads) or not int(threads):
        raise UsageError(f"threads: '{threads}' is not a number above 0")
    return {"law": "closed", "depth": int(threads) * len(devices)}, False
