# SPDX-License-Identifier: GPL-2.0-or-later
"""A job of fio that replays a log of I/O (read_iolog), as a stream with pattern trace.

The log decides what is done and where: rw, bs, size, number_ios, time_based, loops, rates and fsync
have no effect beside it (as fio 3.33 does it). The job decides when, by its depth and runtime.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from spekctl import units
from spekctl.errors import UsageError
from spekctl.fio import devices, values
from spekctl.fio.defaults import OFF, is_off
from spekctl.fio.jobfile import Job
from spekctl.fio.options import NOT_NEEDED
from spekctl.fio.plan import Plan, Reader

LOG = "read_iolog"
REDIRECT = "replay_redirect"
# Options that have an effect beside a log.
_KEPT = frozenset(
    (
        *(LOG, "replay_no_stall", "replay_time_scale", REDIRECT, "read_iolog_chunked"),
        *("ioengine", "iodepth", "filename", "direct", "buffered", "runtime", "ramp_time", "name"),
        *("startdelay", "stonewall", "wait_for", "cpus_allowed", "cpumask", "cmd_type"),
        *("numa_cpu_nodes", "continue_on_error", "ignore_error", "zero_buffers", "iodepth_batch"),
        *("exec_prerun", "exec_postrun", "ioscheduler", "kb_base", "refill_buffers"),
        *("scramble_buffers", "exitall", "exit_what", "new_group"),
    )
)
# Options that have none: the log says what is done, and in which order.
USELESS = frozenset(
    (
        *("rw", "bs", "bsrange", "bssplit", "blockalign", "bs_is_seq_rand", "rw_sequencer"),
        *("size", "io_size", "filesize", "offset", "offset_increment", "number_ios", "loops"),
        *("time_based", "rwmixread", "rwmixwrite", "percentage_random", "random_distribution"),
        *("norandommap", "softrandommap", "randrepeat", "allrandrepeat", "randseed", "nrfiles"),
        *("rate", "rate_iops", "rate_process", "fsync", "fdatasync", "file_service_type"),
    )
)
NO_EFFECT = "no effect beside read_iolog, as in fio"
NOT_BESIDE = {
    "numjobs": "each clone replays the log, and a run replays one",
    "thinktime": "the times of the log are those between its I/Os; leave it out",
    "hipri": "I/Os of a log are not polled; leave it out",
    "verify": "blocks of a log are not stamped; leave it out, and verify_pattern",
}
ALONE = "read_iolog: a run replays one log, and [{}] starts with it; import it alone (--section)"
NOT_KEPT = "it is not imported beside read_iolog; leave it out"
OPEN = (
    "requests are due at the times of the log, whatever is outstanding; fio has at most {} I/Os of"
    " it outstanding, and the gaps of the log between one issue and the next"
)
WAITS_AS_THEY_ARE = "nothing: fio does not scale the waits of a log of version 2"
WAITS = (
    "the waits of a log of version 2 count from the start of this job; fio counts them from its own"
    " start, so that those that end within the steps before, or within startdelay, are over"
)
UNREAD = (
    "read_iolog: the devices that {} names are not known here: give a --device for each, in the"
    " order in which the log has them"
)
# Values by which an option does nothing.
_PLAIN = {
    "numjobs": ("1",),
    "iodepth_batch_complete_min": ("0", "1"),
    "iodepth_low": ("0",),
    "verify": ("0", "null"),
    "zonemode": ("none",),
}
_HEADER = re.compile(r"fio version ([23]) iolog\s*")
_HEADER_MAX = 64
# Actions that are I/O, by which a replay numbers the devices.
_IO = ("read", "write", "trim", "sync", "datasync")
_LINES_MAX = 1_000_000


def of(job: Job) -> tuple[Job, dict[str, str]]:
    """The job with the options that have an effect beside its log, and why each of the others has
    none. UsageError for an option that has an effect and cannot be imported."""
    kept: dict[str, str | None] = {}
    notes: dict[str, str] = {}
    for name, text in job.options.items():
        if name in _KEPT:
            kept[name] = text
        elif name in USELESS or name in NOT_NEEDED:
            notes[name] = NOT_NEEDED.get(name, NO_EFFECT)
        elif is_off(name, text) or text in _PLAIN.get(name, ()):
            notes[name] = OFF.removeprefix("nothing: ")
        else:
            raise UsageError(f"{name}: {NOT_BESIDE.get(name, NOT_KEPT)}")
    return Job(job.name, kept), notes


def set_stream(options: Reader, plan: Plan) -> None:
    """Fill in the stream of the log, when its I/Os are due, and how long the run is."""
    log = _log(options.all)
    trace: dict[str, Any] = {"files": [str(log.absolute())]}
    options.went(LOG, "stream.trace.files")
    depth = options.value("iodepth", values.positive) or 1
    options.went("iodepth", "nothing: requests are due at the times of the log")
    scale = options.value("replay_time_scale", values.positive) or 100
    has_waits = _version(log) == "2"
    if options.flag("replay_no_stall"):
        trace["closed"] = depth
        options.went("iodepth", "stream.trace.closed")
        options.went("replay_time_scale", "nothing: the times of the log do not count")
    else:
        plan.differs(OPEN.format(depth))
        options.went("replay_time_scale", WAITS_AS_THEY_ARE if has_waits else "stream.trace.speed")
        if scale != 100 and not has_waits:
            trace["speed"] = scale / 100
    options.went("replay_no_stall", "stream.trace.closed")
    options.went("read_iolog_chunked", "nothing: a trace is read while it is replayed")
    plan.streams = [{"pattern": "trace", "trace": trace}]
    for name, target in (("runtime", "time"), ("ramp_time", "ramp")):
        length = options.value(name, values.duration_ns, "s")
        options.went(name, f"run.{target}")
        if length:
            plan.run[target] = units.format_duration(length)
    plan.delay_ns = options.value("startdelay", values.duration_ns, "s") or 0
    options.went("startdelay", "--start-at")
    later = plan.delay_ns or options.given("stonewall") or options.given("wait_for")
    if has_waits and later and "closed" not in trace:
        plan.differs(WAITS)


def set_devices(options: Reader, plan: Plan) -> None:
    """Fill in the devices: the one that all I/Os are sent to, or those of the log."""
    options.went("filename", "nothing: the log names the devices, as in fio")
    options.went("replay_redirect", "--device")
    paths = named(options.all)
    devices.place(plan, options.all, paths, REDIRECT if options.given(REDIRECT) else LOG)
    if not paths:
        plan.differs(UNREAD.format(_log(options.all)))


def named(options: Mapping[str, str | None]) -> list[str]:
    """The devices of a replay, as the job or its log names them; none if they are not known."""
    if REDIRECT not in options:
        return _named(_log(options))
    to = options[REDIRECT]
    if not to:
        raise UsageError(f"{REDIRECT} has no value")
    return [to]


def _log(options: Mapping[str, str | None]) -> Path:
    text = options.get(LOG) or ""
    if not text:
        raise UsageError(f"{LOG} has no value")
    if "\0" in text:
        raise UsageError(f"{LOG}: a path has no NUL byte")
    if text == "-" or ":" in text.replace("\\:", ""):
        raise UsageError(f"{LOG}: '{text}' is not a single file; write a job for each")
    return Path(text.replace("\\:", ":"))


def _version(log: Path) -> str:
    """The version of an I/O log of fio; empty if the file is not one or cannot be read."""
    try:
        with log.open(encoding="utf-8", errors="replace") as lines:
            header = _HEADER.fullmatch(lines.readline(_HEADER_MAX))
    except OSError:
        return ""
    return header[1] if header is not None else ""


def _named(log: Path) -> list[str]:
    """The devices of a log of fio, in the order in which they have I/O; none if it is no such log,
    or too long to look for all of them."""
    names: dict[str, None] = {}
    try:
        with log.open(encoding="utf-8", errors="replace") as lines:
            header = _HEADER.fullmatch(next(lines, ""))
            if header is None:
                return []
            place = 1 if header[1] == "3" else 0
            for number, line in enumerate(islice(lines, _LINES_MAX + 1)):
                if number == _LINES_MAX:
                    return []
                words = line.split()
                if words[place + 1 : place + 2] and words[place + 1] in _IO:
                    names.setdefault(words[place])
    except OSError:
        return []
    return list(names)


def is_replay(options: Mapping[str, str | None]) -> bool:
    """Whether the options are those of a job that replays a log."""
    return LOG in options
