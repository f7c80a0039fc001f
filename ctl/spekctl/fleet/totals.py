# SPDX-License-Identifier: GPL-2.0-or-later
"""Loads of all clients together, and the part of each client."""

from __future__ import annotations

import math
from fractions import Fraction

from spekctl.errors import UsageError, at
from spekctl.workload import meaning
from spekctl.workload.options import OPTIONS, Options, flag_of
from spekctl.workload.values import RATE_MILLI_MAX

# Options that are the load of all clients.
DIVIDED = ("rate", "depth", "bsu", "count", "ramp_count", "max_outstanding")


def parts_of(given: Options, clients: int) -> list[dict[str, str]]:
    """The totals in @given as options of each client, without those in BSUs, which plans divide
    too. UsageError has the option, the total, and what the total may be."""
    dealt: dict[str, list[str]] = {}
    if given.rate is not None:
        dealt["rate"] = [repr(milli / 1000) for milli in _rates(given.rate, clients)]
    for name in ("depth", "count", "ramp_count"):
        total = getattr(given, name)
        if total is not None:
            dealt[flag_of(name)[2:]] = list(map(str, shares(name, total, clients)))
    if given.max_outstanding is not None:
        limits = _outstanding(given, given.max_outstanding, clients)
        dealt["max-outstanding"] = list(map(str, limits))
    return [{flag: texts[place] for flag, texts in dealt.items()} for place in range(clients)]


def shares(name: str, total: int, clients: int) -> list[int]:
    """The parts of a whole number, which differ by 1 at most."""
    low, high = OPTIONS[name].limits or (1, total)
    least = str(clients) if low else f"0, or {clients}"
    if not (low <= total == 0 or clients <= total <= high * clients):
        raise _beyond(name, least, str(high * clients), str(total), clients)
    return _dealt(total, clients)


def written(given: Options) -> str:
    """The totals in @given, as on a command line; empty if there are none."""
    values = {name: getattr(given, name) for name in DIVIDED}
    return " ".join(f"{flag_of(name)} {value}" for name, value in values.items() if value)


def are_of_one(given: Options) -> bool:
    """Whether a single client could have the totals in @given."""
    if given.rate is not None and given.rate * 1000 > RATE_MILLI_MAX:
        return False
    for name in DIVIDED:
        value, limits = getattr(given, name), OPTIONS[name].limits
        if value is not None and limits is not None and value > limits[1]:
            return False
    return True


def _dealt(total: int, clients: int) -> list[int]:
    return [total // clients + (place < total % clients) for place in range(clients)]


def _rates(total: float, clients: int) -> list[int]:
    """The parts of a rate, I/Os per 1000 s, as the kernel takes them: they add up to the total."""
    if not math.isfinite(total):
        with at("--rate"):
            meaning.rate_milli(total)
    milli = round(Fraction(str(total)) * 1000)
    if not clients <= milli <= RATE_MILLI_MAX * clients:
        most = RATE_MILLI_MAX * clients // 1000
        raise _beyond("rate", f"{clients / 1000:g}", str(most), str(total), clients)
    return _dealt(milli, clients)


def _outstanding(given: Options, most: int, clients: int) -> list[int]:
    """The parts of the limit: as many times a client's BSUs as the limit is the BSUs of all, if it
    is a multiple."""
    even = shares("max_outstanding", most, clients)
    if given.bsu is None or given.bsu < 1 or most % given.bsu:
        return even
    times = most // given.bsu
    limits = [bsu * times for bsu in shares("bsu", given.bsu, clients)]
    _, high = OPTIONS["max_outstanding"].limits or (1, most)
    if max(limits) > high:
        raise UsageError(
            f"--max-outstanding {most} is {times} for each of --bsu {given.bsu}, so a client has"
            f" {max(limits)}; at most {high} are allowed"
        )
    return limits


def _beyond(name: str, least: str, most: str, total: str, clients: int) -> UsageError:
    together = f" for {clients} clients together" if clients > 1 else ""
    return UsageError(f"{flag_of(name)} must be {least} to {most}{together}, not {total}")
