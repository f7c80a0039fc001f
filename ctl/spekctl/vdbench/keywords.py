# SPDX-License-Identifier: GPL-2.0-or-later
"""Names of parameters: the long ones for what a file abbreviates, and what becomes of each.

vdbench compares a name of at least two letters with its own in a fixed order, and takes the first
one that begins with it: se is seekpct, th threads, el elapsed. Some names are not abbreviated.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

# Loops of a run definition, each also without its "for".
LOOPS = ("xfersize", "threads", "rdpct", "rhpct", "whpct", "seekpct", "hitarea", "compratio")
_FILE_LOOPS = ("depth", "width", "files", "sizes", "totalsize", "wss", "workingsetsize")
# In the order in which vdbench compares them.
_ABBREVIATED: Mapping[str, tuple[str, ...]] = {
    "": (
        *("compratio", "compressionseed", "port", "pattern", "data_errors", "dataerrors"),
        *("validate", "unix2windows", "formatxfersize", "create_anchors", "formatsds", "report"),
        *("report_run_totals", "histogram", "psrset", "auxreport", "monitor", "concatenatesds"),
        *("messagescan", "abort_failed_skew", "misc"),
    ),
    "hd": ("system", "vdbench", "shell", "user", "jvms", "clients", "mount"),
    "sd": (
        *("host", "lun", "count", "size", "threads", "hitarea", "offset", "align", "kstat"),
        *("instance", "replay", "journal", "resetlun", "resetbus", "openflags", "range"),
        "streams",
    ),
    "wd": (
        *("skew", "xfersize", "readpct", "rdpct", "writepct", "wrpct", "range", "hotband"),
        *("seekpct", "stride", "priority", "iorate", "rhpct", "whpct", "host", "openflags"),
        *("threads", "streams"),
    ),
    "rd": (
        *("iorate", "curve", "stopcurve", "elapsed", "interval", "warmup", "pause"),
        *(f"for{name}" for name in (*LOOPS, "compression", *_FILE_LOOPS, "operations")),
        *(*LOOPS, "compression", *_FILE_LOOPS),
        *("distribution", "startcmd", "start_cmd", "endcmd", "end_cmd", "fwdrate", "operations"),
        *("format", "openflags", "mount"),
    ),
}
_ALIASES: Mapping[str, str] = {
    **{"readpct": "rdpct", "writepct": "wrpct", "dataerrors": "data_errors"},
    **{"start_cmd": "startcmd", "end_cmd": "endcmd"},
    **{f"for{name}": name for name in (*LOOPS, "compression", *_FILE_LOOPS, "operations")},
}

# Where the parameters of each kind go.
MAPPED: Mapping[str, Mapping[str, str]] = {
    "": {
        **{"validate": "--verify", "journal": "--verify", "concatenatesds": "--device"},
        **{"compratio": "stream.compressible", "compression": "stream.compressible"},
        **{"dedupratio": "stream.duplicate", "dedupunit": "stream.duplicate"},
        **{"dedupsets": "stream.duplicate", "data_errors": "--max-errors"},
    },
    "hd": {"system": "nothing: this host"},
    "sd": {
        **{"host": "nothing: this host", "lun": "--device", "count": "--device"},
        **{"size": "stream.range", "offset": "stream.start", "align": "stream.align"},
        **{"range": "stream.start, stream.range", "hitarea": "stream.start, stream.range"},
        **{"threads": "arrival.depth", "openflags": "stream.fua"},
        **{"dedupratio": "stream.duplicate", "dedupsets": "stream.duplicate"},
    },
    "wd": {
        **{"sd": "--device", "xfersize": "stream.size, stream.sizes", "rdpct": "stream.read"},
        **{"wrpct": "stream.read", "seekpct": "stream.pattern, stream.sequential"},
        **{"skew": "stream.share", "range": "stream.start, stream.range"},
        **{"hotband": "stream.pattern", "stride": "stream.stride", "host": "nothing: this host"},
        **{"rhpct": "stream.share", "whpct": "stream.share", "streams": "streams"},
        **{"threads": "arrival.depth", "openflags": "stream.fua", "iorate": "arrival.rate"},
    },
    "rd": {
        **{"wd": "streams", "sd": "--device", "iorate": "arrival.rate", "elapsed": "run.time"},
        **{"warmup": "run.ramp", "interval": "run.interval", "threads": "arrival.depth"},
        **{"distribution": "arrival.law", "xfersize": "stream.size", "rdpct": "stream.read"},
        **{"seekpct": "stream.pattern, stream.sequential"},
        **{"rhpct": "stream.share", "whpct": "stream.share"},
        **{"hitarea": "stream.start, stream.range", "openflags": "stream.fua"},
        **{"compratio": "stream.compressible", "compression": "stream.compressible"},
    },
}
# What the report says of these depends on the run.
DIFFERENT = ("maxdata", "curve", "stopcurve")
# How duplicates differ from vdbench's.
DUPLICATES: Mapping[str, str] = {
    "deduphotsets": "all duplicates are equally likely; vdbench has some more often (deduphotsets)",
    "dedupflipflop": (
        "a duplicate is the same each time it is written; vdbench's has two contents in turn"
        " (dedupflipflop)"
    ),
}
# Parameters that are off with one of these values, in lower case.
_NO = ("no", "n", "off")
OFF: Mapping[str, tuple[str, ...]] = {
    # Of a journal n is noflush.
    "journal": ("no",),
    **dict.fromkeys(("formatsds", "format", "validate", "concatenatesds"), _NO),
    **dict.fromkeys(("dedupflipflop", "create_anchors"), _NO),
    **dict.fromkeys(("resetlun", "resetbus", "maxdata", "deduphotsets", "pause"), ("0",)),
    **dict.fromkeys(("streams", "loop", "clients"), ("0", "1")),
}
_FORMATTING = "it is for the formatting of files"
_REPORTS = "a result has all of it"
NOT_NEEDED: Mapping[str, str] = {
    "pause": "no run follows",
    "messagescan": "a result says what went wrong",
    **dict.fromkeys(("report", "report_run_totals", "histogram", "auxreport"), _REPORTS),
    "monitor": "a run is stopped with `spekctl stop`",
    "abort_failed_skew": "shares are kept",
    "priority": "workloads with a rate of their own keep it, whatever others do",
    **dict.fromkeys(("shell", "user", "vdbench", "port"), "there are no remote hosts"),
    "jvms": "the load is one kernel thread per CPU",
    "kstat": "statistics of the disk are in a result",
    "instance": "statistics of the disk are in a result",
    "debug": "it is for finding faults of vdbench",
    "showlba": "`--io-log` records each I/O",
    "compressionseed": "--seed",
    "pattern_buffer": "data are generated for each write",
    **dict.fromkeys(("formatxfersize", "create_anchors", "unix2windows"), _FORMATTING),
    "heartbeat_error": "there are no remote hosts",
    "journal": "it is the folder of a journal, and none is kept",
    "dedupmaxkey": "it is for the memory of vdbench",
    "dedupacross": "duplicates are those of a stream, on all its devices",
}
# Where parameters of files with remote hosts go, or why they are not needed.
OF_SSH = ("system", "shell", "user")
OF_HOSTS: Mapping[str, str] = {
    **dict.fromkeys(OF_SSH, "host.ssh"),
    "host": "host",
    **{"lun": "host.devices", "count": "host.devices", "sd": "host.devices"},
}
OF_HOSTS_NOT_NEEDED: Mapping[str, str] = {
    "vdbench": "the plan says where spekctl is on the hosts (fleet.ssh.program)",
    "port": "the plan says where the controller waits (fleet.listen)",
    "heartbeat_error": "a host that is silent for 10 s is lost",
}
_FILES = "spek loads block devices, not files"
_COMMANDS = "spek runs no commands"
_REPLAY = (
    "vdbench replays traces of Swat (flatfile.bin), which spek does not read; write the trace as"
    " CSV, and replay it: spekctl run --trace"
)
_RESET = "spek resets no device during a run"
REFUSED: Mapping[str, str] = {
    "streams": "they are a parameter of a WD, as in vdbench itself",
    **dict.fromkeys(("startcmd", "endcmd"), _COMMANDS),
    **dict.fromkeys(("maxdataread", "maxdatawritten"), "give a count: `spekctl run --count`"),
    **dict.fromkeys(("replay", "devices", "device", "folder"), _REPLAY),
    "operations": "these are operations of files",
    **dict.fromkeys(("format", "fwd", "fsd", "fwdrate", "mount", *_FILE_LOOPS), _FILES),
    "pattern": "written data are zeros, random, or repeat at most 64 bytes",
    "formatsds": "write the devices in a run before: spekctl run --pattern sequential --write",
    "loop": "repeat the command: the runs of the file are steps, each once",
    "misc": "it is for classes of a user's own",
    "user": "spek loads no classes of Java",
    "psrset": "choose CPUs with --cpus",
    "clients": "the load is that of one client",
    "dedup": "give dedupratio and dedupunit",
    **dict.fromkeys(("resetlun", "resetbus"), _RESET),
}


def is_off(key: str, values: Sequence[str]) -> bool:
    """Whether a parameter is given with values that turn it off."""
    return len(values) == 1 and values[0].lower() in OFF.get(key, ())


def full_name(kind: str, name: str) -> str:
    """The long name of parameter @name in a definition of @kind, or @name if there is none."""
    name = name.lower()
    if name == "hd":
        return "host"
    if kind == "rd" and name.startswith("maxdata"):
        return name
    if name in MAPPED.get(kind, ()) or name == "user":
        return name
    if len(name) > 1:
        for full in _ABBREVIATED.get(kind, ()):
            if full.startswith(name):
                return _ALIASES.get(full, full)
    return name
