# SPDX-License-Identifier: GPL-2.0-or-later
"""Other assumptions on the traces of paper 003, under which claims hold that the defaults refute.

They were searched for: rates, sequential shares, locality, footprints and caches were drawn at
random, and those kept under which most of these claims hold. So agreement with the paper proves
nothing; it only says what its traces may have been like. Nothing is judged by them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import msgspec

from spekctl.campaigns.paper003 import loads
from spekctl.documents.drive import Claim, StudyLoad

_FINANCIAL, _, _TPC_C, _TPC_H = loads.LOADS
LOADS = (
    replace(
        _FINANCIAL, interarrival_ms=6.0, sequential=0.50, near=0.42, footprint=0.05,
        assumed="167 requests/s, 23 % reads, 4 KiB, 50 % sequential, 42 % within 32 MiB of the one"
        " before, 5 % of each disk in use",
    ),
    replace(
        _TPC_C, interarrival_ms=5.2, sequential=0.30, near=0.60, near_sectors=16384,
        footprint=0.02,
        assumed="192 requests/s, 65 % reads, 4 KiB, 30 % sequential, 60 % within 8 MiB of the one"
        " before, 2 % of each disk in use",
    ),
    replace(
        _TPC_H, sequential=0.76, near=0.08, footprint=0.02, cached=True,
        assumed="95 % reads, 16 to 64 KiB, 76 % sequential, 8 % within 32 MiB of the one before,"
        " 2 % of each disk in use, a cache of 8 MB in every drive",
    ),
)  # fmt: skip
# By trace: why it has none.
NONE = {
    "Websearch": "no fit: of 750 combinations of rate, sequential share, locality, footprint and up"
    " to 1 ms of overhead for each command, the nearest ones gave 80, 82, 87 % and 66, 72, 77 %"
}


def beside(
    by_default: Sequence[Claim], fitted: Sequence[tuple[StudyLoad, Sequence[Claim]]]
) -> Iterator[Claim]:
    """The claims @by_default, after each that does not hold the same one under a fit, and at the
    end how many hold. @fitted: loads, and their claims."""
    fits = {
        (each.place, each.what): (each, load.assumed) for load, claims in fitted for each in claims
    }
    for each in by_default:
        yield each
        fit = fits.get((each.place, each.what))
        if each.holds is False and fit is not None:
            claim, assumed = fit
            yield msgspec.structs.replace(
                claim,
                what=f"{claim.what}, fitted",
                holds=None,
                partly=False,
                remark=f"a fit, which would be {claim.word!r}: {assumed}",
            )
    for load, claims in fitted:
        yield _count(load, claims, by_default)


def _count(load: StudyLoad, claims: Sequence[Claim], by_default: Sequence[Claim]) -> Claim:
    """How many hold under a fit and by default."""
    judged = [each for each in claims if each.holds is not None]
    keys = {(each.place, each.what) for each in judged}
    default = [each for each in by_default if (each.place, each.what) in keys]
    missing = [each.what.partition(": ")[2] for each in judged if not each.holds]
    return Claim(
        "Sections 7.1 and 7.2",
        f"{load.name}: claims on times and seeks that hold together, fitted",
        f"{len(judged)} claims",
        f"{_holding(judged)} fitted, {_holding(default)} by default"
        + (f"; not: {', '.join(missing)}" if missing else ""),
        None,
        f"a fit, not judged: {load.assumed}",
    )


def _holding(claims: Sequence[Claim]) -> int:
    return sum(each.holds is True for each in claims)
