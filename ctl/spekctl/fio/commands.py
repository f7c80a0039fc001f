# SPDX-License-Identifier: GPL-2.0-or-later
"""Commands that fio's engines sg and io_uring_cmd send in place of plain reads and writes.

The block layer has forced writes (FUA) and writes of zeroes that carry no data, and these two are
imported; it has no forced reads, and no VERIFY, WRITE AND VERIFY, WRITE STREAM or the like.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from spekctl.errors import UsageError
from spekctl.fio import contents, devices, values
from spekctl.fio.options import (
    COMMANDS,
    PASSTHROUGH,
    TRIM,
    TRIM_AND_WRITE,
    engine_of,
    is_sync,
    waiting,
)
from spekctl.fio.plan import Plan, Reader
from spekctl.workload.values import DATA_KEYS

# Options of a command, and the engines that have them.
NAMES: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("readfua", "writefua"), ("sg", "io_uring_cmd")),
    **dict.fromkeys(("sg_write_mode", "stream_id"), ("sg",)),
    **dict.fromkeys(("write_mode", "read_mode"), ("io_uring_cmd",)),
}
_MODES = ("sg_write_mode", "write_mode")
_REPEATED = ("write_same", "same")
_NVME_ONLY = ("zeroes", "uncor", "zone_append")
_ZEROES = ("write_same_ndob", "zeroes")
# Values of the modes, and the commands that they mean.
_SENT = {
    **dict.fromkeys(("write_and_verify", "verify"), "WRITE AND VERIFY"),
    "write_stream": "WRITE STREAM",
    **dict.fromkeys(("verify_bytchk_00", "verify_bytchk_01", "verify_bytchk_11"), "VERIFY"),
    "uncor": "Write Uncorrectable",
}
# Operations that are not plain I/O, with the options that ask for them.
_KINDS = {
    "flush": "flushes (fsync, fdatasync)",
    "discard": "discards (rw)",
    "write-zeroes": "writes of zeroes (write_mode, sg_write_mode)",
}
NO_READS = "the block layer forces writes, not reads; leave it out"
NOT_OF_BSG = "{} is a command of NVMe, which fio refuses with cmd_type=bsg; leave it out"
NO_FORCED_ZEROES = "the block layer forces no writes of zeroes (write_mode); leave it out"
FORCED = (
    "writefua: a device without FUA has its cache flushed after each of these writes; fio sends the"
    " command with FUA set to any device"
)
ZEROES = (
    "{}: write-zeroes requests of the block layer, with which the blocks stay allocated; fio sends"
    " the command for it itself, and the run is refused on a device without such a command"
)
COMMANDED = "nothing: the engine sends commands, and needs writefua for it, as in fio"
ONE_BY_ONE = "arrival.depth: with sync sg has one command at a time, and FUA only by writefua"
_NO_DATA = "nothing: the command carries no data"


def refusals(options: Mapping[str, str | None]) -> Iterator[str]:
    """A sentence for each option of a job whose command spek does not send."""
    engine = engine_of(options.get("ioengine"))
    astray = [name for name, engines in NAMES.items() if name in options and engine not in engines]
    if astray:
        yield f"{', '.join(astray)}: {COMMANDS}"
    kind = (options.get("rw") or "read").partition(":")[0]
    reads = "read" in kind or kind == "rw" or kind == "randrw"
    writes = kind not in ("read", "randread", *TRIM, *TRIM_AND_WRITE)
    given = {name: options.get(name) for name in NAMES if name in options and name not in astray}
    if reads and "readfua" in given:
        yield f"readfua: {NO_READS}"
    if reads and "read_mode" in given:
        yield f"read_mode: {COMMANDS}"
    for name in _MODES:
        if not writes or name not in given:
            continue
        mode = given[name] or ""
        if name == "write_mode" and options.get("cmd_type") == "bsg" and mode in _NVME_ONLY:
            yield f"write_mode: {NOT_OF_BSG.format(mode)}"
            continue
        zoned = options.get("zonemode") == "zbd"
        # Appends to zones are writes at their write pointers.
        if name == "write_mode" and mode == "zone_append" and zoned:
            continue
        reason = _refused_mode(name, mode, options)
        if reason:
            yield f"{name}: {reason}"
        elif kind not in ("write", "randwrite"):
            yield f"{name}: reads and writes of zeroes are jobs of their own; make two of it"
        elif zoned:
            yield f"{name}: a zone is written at its write pointer, with data; leave it out"
        # The WRITE SAME of sg has no FUA.
        elif name == "write_mode" and "writefua" in given:
            yield f"writefua: {NO_FORCED_ZEROES}"


def _refused_mode(name: str, mode: str, options: Mapping[str, str | None]) -> str:
    """Why writes of this mode are not sent; empty if they are."""
    if "/" in mode:
        return f"'{mode}' mixes commands; make a job of each, of write and zeroes"
    if mode in _REPEATED and name == "sg_write_mode":
        if _has_zeroes(options):
            return ""
        return (
            f"{mode} repeats a block of data, and only zeroes are written without sending all"
            " blocks; give zero_buffers, without scramble_buffers and shares of other data, or"
            " leave it out"
        )
    if mode in _ZEROES and (mode == "zeroes") == (name == "write_mode"):
        return ""
    if mode == "verify" and name == "write_mode":
        return "spek sends no Verify commands; leave it out for plain writes"
    if mode in _SENT:
        return f"spek sends no {_SENT[mode]} commands; leave it out for plain writes"
    return f"'{mode}' is not a kind of writes that spek has"


def _has_zeroes(options: Mapping[str, str | None]) -> bool:
    """Whether a job's data are zeroes. fio handles dedupe_percentage and
    buffer_compress_percentage first, where 100 % compressible means zeroes, and an explicit
    scramble_buffers=1 changes zeroes."""
    if (options.get("dedupe_percentage") or "").strip("0"):
        return False
    compressible = (options.get("buffer_compress_percentage") or "").lstrip("0")
    if compressible not in ("", "100"):
        return False
    scrambled = "scramble_buffers" in options and values.flag(options["scramble_buffers"])
    if scrambled and not compressible:
        return False
    fill = options.get("buffer_pattern")
    if fill:
        try:
            return int(contents.fill(fill), 16) == 0
        except UsageError:
            return re.fullmatch("0+", fill) is not None
    zeroes = "zero_buffers" in options and values.flag(options["zero_buffers"])
    return zeroes or bool(compressible)


def forces_writes(options: Reader, plan: Plan) -> bool:
    """Whether writes have FUA: by commands of an engine only if these ask for it themselves."""
    forced = is_sync(options.all)
    options.went("sync", "stream.fua")
    for name in ("readfua", "stream_id", "read_mode"):
        options.went(name, "nothing: no I/O of the job has it")
    if engine_of(options.text("ioengine")) not in PASSTHROUGH:
        return forced
    paced = waiting(options.all, devices.named(options.all)).endswith("sync")
    options.went("sync", ONE_BY_ONE if paced else COMMANDED)
    forced = options.flag("writefua") and not _is_empty(options)
    kind = (options.text("rw") or "read").partition(":")[0]
    forced = forced and kind not in ("read", "randread", *TRIM)
    options.went("writefua", "stream.fua" if forced else "nothing: no I/O of the job has it")
    if forced:
        plan.differs(FORCED)
    return forced


def _is_empty(options: Reader) -> bool:
    """Whether writes carry no data of their own."""
    return any(options.text(name) in (*_REPEATED, *_ZEROES) for name in _MODES)


def check_devices(plan: Plan) -> None:
    """Refuse I/O that is neither striped over several devices nor polled."""
    for stream in plan.streams:
        atomic = "atomic writes (atomic)" if stream.get("atomic") else ""
        forced = "writes with FUA (sync, writefua)" if stream.get("fua") else ""
        operation = _KINDS.get(str(stream.get("operation")), "")
        if stream.get("pattern") == "write-pointer":
            operation = "write pointers of zones (zonemode)"
        apart, waited = operation or atomic, operation or forced
        if len(plan.files) > 1 and apart:
            raise UsageError(
                f"filename: streams are striped over several devices, and {apart} are not; write a"
                " job for each device"
            )
        if "--polled" in plan.command_line and waited:
            raise UsageError(
                f"hipri: I/O is polled for completions, but {waited} are not; leave it out"
            )


def set_zeroes(options: Reader, plan: Plan) -> None:
    """Have writes without data where the job asks for them."""
    writers = [stream for stream in plan.streams if stream.get("read", "100%") != "100%"]
    if not writers or not _is_empty(options):
        return
    if plan.verifies:
        raise UsageError("verify: writes of zeroes are not stamped; leave it out")
    for stream in writers:
        del stream["read"]
        for key in (*DATA_KEYS, "fua"):
            stream.pop(key, None)
        stream["operation"] = "write-zeroes"
    for name in ("buffer_pattern", "zero_buffers", "refill_buffers", "scramble_buffers"):
        options.went(name, _NO_DATA)
    mode = next(name for name in _MODES if options.given(name))
    options.went(mode, "stream.operation")
    plan.differs(ZEROES.format(mode))
