# SPDX-License-Identifier: GPL-2.0-or-later
"""Values that fio 3.33 reads differently from what their notation suggests (parse.c).

fio reads one number, and takes the text after it as the unit. It ignores an unknown unit: 1h30m and
10min are microseconds, 1.5g is a byte, 4k-64k are values of two directions, and a share with a per
cent sign, 70%, is above 100. A value that spek reads as fio does stays unchanged.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from spekctl import units
from spekctl.errors import UsageError
from spekctl.fio import values

# Of several values of an option, the first counts, the last counts (fio sets each in turn), or each
# direction has its own.
_FIRST_SIZE = ("filesize", "number_ios", "zonesize", "zonecapacity", "zonerange", "io_size")
_LAST_SIZE = ("size", "offset", "offset_increment", "zoneskip")
_COUNTS = (
    *("iodepth", "iodepth_batch", "iodepth_batch_complete_min", "iodepth_batch_complete_max"),
    *("iodepth_low", "numjobs", "loops", "fsync", "fdatasync", "thinktime_blocks", "randseed"),
    *("max_open_zones", "job_max_open_zones", "nrfiles", "flow_id"),
)
_DIRECTIONS = ("bs", "blockalign", "rate", "rate_min", "rate_iops", "rate_iops_min")
_SECONDS = (
    *("runtime", "ramp_time", "startdelay", "thinktime_iotime", "steadystate_duration"),
    *("steadystate_ramp_time", "steadystate_check_interval"),
)
_MICROSECONDS = ("thinktime", "max_latency", "latency_target", "latency_window")
# fio reads a share with a per cent sign as above 100: all I/Os are of one kind.
_READ_ONLY = "reads only"
_SHARES = {
    "rwmixread": ("100", _READ_ONLY),
    "rwmixwrite": ("0", _READ_ONLY),
    "percentage_random": ("100", "random I/Os only"),
}
_NO_SHARE = ("buffer_compress_percentage", "dedupe_percentage", "cmdprio_percentage")
# A number as C reads it, and the text after it.
_BEGINNING = re.compile(r"\s*([+-]?)(?:0[xX]([0-9a-fA-F]+)|([0-9]+))(.*)", re.DOTALL)
_POWERS = {"k": 1, "m": 2, "g": 3, "t": 4, "p": 5}
_FACTORS = {"s": 10**6, "m": 60 * 10**6, "h": 3600 * 10**6, "d": 86400 * 10**6}


def imply(options: dict[str, str | None]) -> dict[str, str]:
    """Add options that fio takes as given beside others. Return: a note for each."""
    # verify=0 is given, too.
    if "verify_pattern" not in options or "verify" in options:
        return {}
    options["verify"] = "pattern"
    return {"verify": "fio takes verify_pattern alone for verify=pattern as well"}


def apply(options: dict[str, str | None]) -> dict[str, str]:
    """Replace values by what fio reads. Return: a note for each option whose value means something
    other than its text suggests. UsageError for a value that fio refuses as well."""
    base = 1000 if options.get("kb_base") == "1000" else 1024
    notes = {}
    for name, text in list(options.items()):
        if not text or text.lstrip().startswith("("):
            continue
        if name in _SHARES and text.rstrip().endswith("%"):
            options[name], meaning = _SHARES[name]
            notes[name] = f"fio takes '{text}' for more than 100, which is {meaning}"
            continue
        if name in _NO_SHARE and "%" in text:
            raise UsageError(f"{name}: fio has no per cent sign here; write a number from 0 to 100")
        if name == "size" and re.fullmatch(r"[0-9]+%", text) and int(text[:-1]) > 100:
            options[name] = "100%"
            notes[name] = f"fio takes '{text}' for the whole device"
            continue
        read = _reader(name, base)
        if read is None or _is_plain(name, text, base):
            continue
        taken = read(text)
        options[name] = taken
        notes[name] = f"fio takes '{text}' for {taken}"
    return notes


def _reader(name: str, base: int) -> Callable[[str], str] | None:
    """The function that turns an option's value into text that has fio's reading for spek."""
    if name in _FIRST_SIZE or name in _COUNTS:
        return lambda text: _bytes(name, _parts(text)[0], base)
    if name in _LAST_SIZE:
        return lambda text: _bytes(name, _parts(text)[-1], base)
    if name in _DIRECTIONS:
        return lambda text: ",".join(
            _bytes(name, part, base) if part else "" for part in _parts(text)
        )
    if name in _SECONDS or name in _MICROSECONDS:
        return lambda text: _time(name, _parts(text)[0], name in _SECONDS)
    return None


def _is_plain(name: str, text: str, base: int) -> bool:
    """Whether spek reads a value as fio does anyway."""
    try:
        if name in _SECONDS or name in _MICROSECONDS:
            if name in ("startdelay", "thinktime", "max_latency") and re.search("[-,:]", text):
                return True  # fio has ranges of a delay; the others have values of each direction
            values.duration_ns(text, "s")
        elif name in _COUNTS:
            values.whole(text)
        elif name in _DIRECTIONS:
            for word in text.split(","):
                if word.strip():
                    values.size(word, base)
        elif text.lower().endswith(("%", "z")):
            values.whole(text.strip()[:-1])
        else:
            values.size(text, base)
    except UsageError:
        return False
    # A unit behind a blank is none for fio, and hexadecimal numbers have none.
    hexadecimal = "0x" in text.lower()
    by_time = name in _SECONDS or name in _MICROSECONDS
    odd = r"0x[0-9a-f]*[g-z]|[0-9]\s+[a-z%]"
    return not re.search(odd, text.lower()) and not (hexadecimal and by_time)


def _parts(text: str) -> list[str]:
    """The values of one text, each with what fio reads as its unit: the next one begins behind a
    comma, else a colon, else a dash, but only a comma ends the one before."""
    parts: list[str] = []
    rest = text
    while True:
        parts.append(rest.partition(",")[0])
        mark = next((mark for mark in ",:-" if mark in rest), None)
        if mark is None:
            return parts
        rest = rest.partition(mark)[2]


def _beginning(name: str, text: str) -> tuple[int, str]:
    """The number that a text begins with, and the rest of it."""
    match = _BEGINNING.fullmatch(text)
    if match is None or len(text) > units.LONGEST_NUMBER:
        raise UsageError(f"{name}: '{text[:40]}' is not a number")
    sign, hexadecimal, decimal, rest = match.groups()
    if sign == "-":
        raise UsageError(f"{name}: '{text}' is negative")
    # What fio takes for the unit of 0x10 is x10.
    return (int(hexadecimal, 16), "x") if hexadecimal else (int(decimal), rest)


def _bytes(name: str, text: str, base: int) -> str:
    number, unit = _beginning(name, text)
    if unit.startswith("%"):
        return f"{number}%"
    letters = re.split("[-:/]", unit.lower())[0]
    power = _POWERS.get(letters[:1], 0)
    # As fio 3.33 has it, kib is that of 1000 where k is that of 1024.
    factor = (1000 if base == 1024 else 1024) if letters[1:3] == "ib" else base
    return str(number * int(factor**power))


def _time(name: str, text: str, seconds: bool) -> str:
    number, unit = _beginning(name, text)
    letters = unit.lower()
    if not letters[:1].isalpha():
        factor = 10**6 if seconds else 1
    elif letters.startswith("ms"):
        factor = 10**3
    else:
        factor = 1 if letters.startswith("us") else _FACTORS.get(letters, 1)
    return f"{number * factor}us"
