# SPDX-License-Identifier: GPL-2.0-or-later
"""The claims of paper 003 beside the simulated results."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from spekctl.campaigns.paper003 import fits, tables
from spekctl.campaigns.paper003.judgement import (
    EVEN,
    LARGE,
    MAGNITUDE,
    Judgement,
    built_in,
    claim,
    gain,
    judge,
    numbers,
    of_profile,
)
from spekctl.campaigns.paper003.system import ROTATION_EDGES_MS
from spekctl.documents.drive import Claim, StudyArrays, StudyCost, StudyLoad, StudySystem
from spekctl.drive.model import Model

# Watts of the paper: arrays of conventional drives, SA(2) and SA(4) at 8 ms.
PAPER_W = (61.4, 37.1, 26.2)
PAPER_SAVINGS = (0.41, 0.60)
# Mean response of TPC-H, MD and HC-SD.
PAPER_TPC_H_MS = (3.99, 4.86)
# Shares of seeks that are not 0: of SA(1), SA(2), SA(4); empty: the paper says that they rise.
PAPER_MOVED: dict[str, tuple[float, ...]] = {"Websearch": (0.55, 0.83, 0.90), "Financial": ()}
# Where the rotational waits of (1/2)R and SA(2) have their tail.
PAPER_TAILS_MS = {"Websearch": (11.0, 7.0), "TPC-C": (9.5, 7.0)}
TAIL = 0.01
MOST_DRIVES = 16  # of the arrays of figure 8
# What SA(2) and SA(4) draw above HC-SD under Financial.
PAPER_FINANCIAL_W = (2.0, 6.0)


def of(
    large: Model,
    loads: Sequence[StudyLoad],
    arrays: Sequence[StudyArrays],
    profiles: Sequence[str],
    costs: Sequence[StudyCost],
    fitted: Sequence[StudyLoad] = (),
) -> list[Claim]:
    """All claims, in the order of the paper. @fitted: loads of assumptions made to agree with it,
    beside which nothing is judged."""
    by_default = [
        *_section_7_1(loads, profiles[0]),
        *_section_7_2(loads, profiles[0]),
        *_least(loads, profiles[0]),
    ]
    return [
        *tables.table_1(large, profiles),
        *tables.figure_1(),
        *tables.table_2(),
        *fits.beside(by_default, [(load, list(_on_times(load, profiles[0]))) for load in fitted]),
        *_section_7_3(arrays, profiles),
        *(row for load in loads for row in _lost(load)),
        *tables.table_9(costs),
    ]


def _section_7_1(loads: Sequence[StudyLoad], profile: str) -> Iterator[Claim]:
    for load in loads:
        md, hcsd = load.array, load.single[0]
        shown = f"{_mean(md)}, {_mean(hcsd)}"
        if load.name.startswith("TPC-H"):
            yield claim(
                "Figure 2", f"{load.name}: mean response of MD and HC-SD",
                ", ".join(f"{mean} ms" for mean in PAPER_TPC_H_MS), shown,
                numbers(PAPER_TPC_H_MS, (_time(md), _time(hcsd))),
                "the paper calls 8.76 ms between arrivals less than these",
            )  # fmt: skip
        else:
            yield claim(
                "Figure 2", f"{load.name}: mean response of MD and HC-SD", "severe loss", shown,
                gain(_time(hcsd) / _time(md)),
            )  # fmt: skip
        ratio = md.watts_of(profile) / hcsd.watts_of(profile)
        yield claim(
            "Figure 3", f"{load.name}: watts of MD over those of HC-SD", "an order of magnitude",
            f"{md.watts_of(profile):.0f} W / {hcsd.watts_of(profile):.1f} W = {ratio:.1f}",
            gain(ratio, MAGNITUDE), f"{load.name}: MD has {md.drives} drives",
        )  # fmt: skip
        idle = md.watts[profile]["idle"] / md.watts_of(profile)
        yield claim(
            "Figure 3", f"{load.name}: share of MD's power when idle", "a large fraction",
            f"{idle:.0%}", Judgement(idle > 0.5),
        )  # fmt: skip
        yield from _cache(load)
        yield from _bottleneck(load)


def _on_times(load: StudyLoad, profile: str) -> Iterator[Claim]:
    """What does not depend on watts."""
    for each in _section_7_1([load], profile):
        if each.place != "Figure 3":
            yield each
    yield from _arms(load)
    yield from _relaxed(load)


def _cache(load: StudyLoad) -> Iterator[Claim]:
    """Section 7.1: a larger cache."""
    if not load.cached:
        return
    small, large = load.cached
    yield claim(
        "Section 7.1", f"{load.name}: mean response of HC-SD with caches of 8 and 64 MB",
        "negligible impact of the larger", f"{_mean(small)}, {_mean(large)}",
        Judgement(_time(small) <= EVEN * _time(large) and _time(large) <= EVEN * _time(small)),
        "segments and read-ahead of the caches are assumed; the paper states only their size",
    )  # fmt: skip
    if load.name.startswith("TPC-H"):
        yield claim(
            "Figure 2", f"{load.name}: mean response of HC-SD with its cache of 8 MB",
            f"{PAPER_TPC_H_MS[1]} ms", _mean(small), Judgement(None),
            "an alternative to the default, which has no cache; this cache serves"
            f" {small.hits:.0%} of the accesses",
        )  # fmt: skip


def _bottleneck(load: StudyLoad) -> Iterator[Claim]:
    """Figure 4: what shorter seeks and shorter rotational waits are worth."""
    hcsd, seeks, waits = load.single[0], load.scaled[:3], load.scaled[3:]
    for part, seek, wait in zip(("a half", "a quarter", "none"), seeks, waits, strict=True):
        yield claim(
            "Figure 4", f"{load.name}: mean response with {part} of the seek, of the wait",
            "rotation is the bottleneck", f"{_mean(seek)}, {_mean(wait)}",
            Judgement(_time(wait) < _time(seek)),
        )  # fmt: skip
    half, quarter, zero = waits
    if load.name.startswith(("Financial", "TPC-C")):
        still = seeks[2]
        shown = f"{_mean(hcsd)}, {_mean(still)}"
        # Of two systems that do not keep up, neither mean says what a seek is worth.
        known = not (hcsd.saturated and still.saturated)
        yield claim(
            "Figure 4", f"{load.name}: mean response of HC-SD, and without seeks",
            "no significant gain", shown,
            Judgement(_time(hcsd) < LARGE * _time(still) if known else None),
        )  # fmt: skip
        yield claim(
            "Figure 4", f"{load.name}: mean response of HC-SD, and without rotational wait",
            "a large gain", f"{_mean(hcsd)}, {_mean(zero)}", gain(_time(hcsd) / _time(zero)),
        )  # fmt: skip
    if load.name.startswith(("Websearch", "TPC-C")):
        yield claim(
            "Figure 4", f"{load.name}: mean response of HC-SD and (1/2)R", "a significant gain",
            f"{_mean(hcsd)}, {_mean(half)}", gain(_time(hcsd) / _time(half)),
        )  # fmt: skip
    if load.name.startswith(("Websearch", "TPC-C", "TPC-H")):
        yield claim(
            "Figure 4", f"{load.name}: mean response of (1/4)R and MD", "(1/4)R below MD",
            f"{_mean(quarter)}, {_mean(load.array)}",
            Judgement(_time(quarter) < _time(load.array)),
        )  # fmt: skip


def _section_7_2(loads: Sequence[StudyLoad], profile: str) -> Iterator[Claim]:
    for load in loads:
        yield from _arms(load)
        yield from _relaxed(load)
        yield from _power(load, profile)
        yield from _slower(load, profile)


def _arms(load: StudyLoad) -> Iterator[Claim]:
    """Figure 5: what each arm is worth."""
    means = [_time(system) for system in load.single]
    first, two, three, four = means
    yield claim(
        "Figure 5", f"{load.name}: mean response of SA(1..4)",
        "diminishing returns beyond three arms",
        ", ".join(_mean(system) for system in load.single),
        judge(four <= three and three - four < two - three, three <= EVEN * four),
    )  # fmt: skip
    md, shown = _time(load.array), _mean(load.array)
    if load.name.startswith(("Websearch", "TPC-C")):
        yield claim(
            "Figure 5", f"{load.name}: mean response of SA(1) and SA(2)", "a large gain",
            f"{_mean(load.single[0])}, {_mean(load.single[1])}", gain(first / two),
        )  # fmt: skip
        yield claim(
            "Figure 5", f"{load.name}: mean response of SA(2) and MD", "SA(2) nearly as MD",
            f"{_mean(load.single[1])}, {shown}", judge(two <= EVEN * md, md <= EVEN * two),
        )  # fmt: skip
        yield claim(
            "Figure 5", f"{load.name}: mean response of SA(3) and MD", "SA(3) below MD",
            f"{_mean(load.single[2])}, {shown}", Judgement(three < md),
        )  # fmt: skip
    if load.name.startswith("TPC-H"):
        yield claim(
            "Figure 5", f"{load.name}: mean response of SA(1), SA(2) and MD",
            "SA(2) slightly below SA(1), and below MD",
            f"{_mean(load.single[0])}, {_mean(load.single[1])}, {shown}",
            judge(two < first and two < md, first < LARGE * two),
        )  # fmt: skip
    if load.name.startswith("Financial"):
        yield claim(
            "Figure 5", f"{load.name}: mean response of SA(1) and SA(3)", "a large gain",
            f"{_mean(load.single[0])}, {_mean(load.single[2])}", gain(first / three),
        )  # fmt: skip
    waits = [system.rotation_ms for system in load.single]
    yield claim(
        "Figure 5", f"{load.name}: mean rotational wait of SA(1..4)",
        "shorter with each arm", ", ".join(f"{wait:.2f}" for wait in waits) + " ms",
        Judgement(all(after < before for before, after in pairwise(waits))),
    )  # fmt: skip
    edges = [_tail_ms(system) for system in load.single[:3]]
    third = load.name.startswith("Financial")
    before, after = edges[1:] if third else edges[:2]
    yield claim(
        "Figure 5", f"{load.name}: rotational wait that {TAIL:.0%} exceed, SA(1..3)",
        f"shorter with the {'third' if third else 'second'} arm",
        ", ".join(f"{edge:g} ms" for edge in edges), Judgement(after < before),
    )  # fmt: skip
    for name, tails in PAPER_TAILS_MS.items():
        if load.name.startswith(name):
            here = (_tail_ms(load.scaled[3]), _tail_ms(load.single[1]))
            yield claim(
                "Section 7.2",
                f"{load.name}: rotational wait that {TAIL:.0%} exceed, (1/2)R, SA(2)",
                ", ".join(f"{tail:g} ms" for tail in tails),
                ", ".join(f"{tail:g} ms" for tail in here), numbers(tails, here),
                "the paper's tails for half of the wait are beyond a whole turn, 8.3 ms",
            )  # fmt: skip
    for name, paper in PAPER_MOVED.items():
        if load.name.startswith(name):
            moved = [load.single[arms - 1].moved for arms in (1, 2, 4)]
            yield claim(
                "Section 7.2", f"{load.name}: share of seeks that are not 0, SA(1), SA(2), SA(4)",
                ", ".join(f"{share:.0%}" for share in paper) or "rises with arms",
                ", ".join(f"{share:.0%}" for share in moved),
                numbers(paper, moved) if paper else Judgement(moved[0] < moved[1] < moved[2]),
                fits.NONE.get(name, "") if load.name.endswith("-like") else "",
            )  # fmt: skip


def _relaxed(load: StudyLoad) -> Iterator[Claim]:
    """Section 7.2: several arms move at the same time, and several transfer."""
    if not load.relaxed:
        return
    plain = [load.single[1], load.single[3]]
    for what, systems in (
        ("several arms in motion", load.relaxed[0::2]),
        ("several channels as well", load.relaxed[1::2]),
    ):
        pairs = [*zip(plain, systems, strict=True)]
        yield claim(
            "Section 7.2", f"{load.name}: mean response of SA(2), SA(4), and with {what}",
            "little benefit",
            "; ".join(f"{_mean(before)}, {_mean(after)}" for before, after in pairs),
            judge(
                all(_time(after) <= _time(before) for before, after in pairs),
                all(_time(before) <= EVEN * _time(after) for before, after in pairs),
            ),
            "a request waits for its sector while another arm is on its way, so it is faster with"
            " the longest queues",
        )  # fmt: skip


def _lost(load: StudyLoad) -> Iterator[Claim]:
    """Section 8: a drive keeps working after one of its arms has failed."""
    if not load.failed:
        return
    whole = (load.single[1], load.single[3])
    fewer = (load.single[0], load.single[2])
    cases = [*zip(load.failed, whole, fewer, strict=True)]
    errors = sum(system.errors for system in load.failed)
    yield claim(
        "Section 8", f"{load.name}: SA(2), SA(4) after the loss of an arm",
        "graceful degradation",
        "; ".join(
            f"{_mean(after)} ({less.name}: {_mean(less)})" for after, _, less in cases
        )
        + f"; {errors or 'no'} errors",
        judge(
            not errors and all(_time(before) <= _time(after) for after, before, _ in cases),
            all(_time(after) <= EVEN * _time(less) for after, _, less in cases),
        ),
        "the arm fails when half of the requests have arrived; the times are those of the other"
        " half, and are compared with those of a drive with one arm less",
    )  # fmt: skip


def _power(load: StudyLoad, profile: str) -> Iterator[Claim]:
    """Figure 6, at full speed."""
    single, *more = (load.single[arms - 1].watts_of(profile) for arms in (1, 2, 4))
    above = [watts - single for watts in more]
    if load.name.startswith("Financial"):
        paper = ", ".join(f"+{watts:g} W" for watts in PAPER_FINANCIAL_W)
        judgement = built_in(numbers(PAPER_FINANCIAL_W, above))
    elif load.name.startswith("Websearch"):
        paper = "significantly more"
        judgement = gain(min(more) / single)
    else:
        paper = "comparable or less"
        judgement = Judgement(max(more) <= EVEN * single)
    yield claim(
        "Figure 6", f"{load.name}: SA(2) and SA(4) above HC-SD", paper,
        f"{above[0]:+.1f} W, {above[1]:+.1f} W (HC-SD: {single:.1f} W)", judgement,
        "each arm assembly is assumed to draw 2.0 W while it is held, for the paper's savings;"
        " no shorter wait saves them",
    )  # fmt: skip
    if load.name.startswith("Websearch"):
        md, four = load.array, load.single[3]
        ratio = md.watts_of(profile) / four.watts_of(profile)
        yield claim(
            "Section 7.2", f"{load.name}: watts of MD over those of SA(4), and mean responses",
            "an order of magnitude, SA(4) below MD",
            f"{md.watts_of(profile):.1f} W / {four.watts_of(profile):.1f} W = {ratio:.1f};"
            f" {_mean(md)}, {_mean(four)}",
            judge(ratio > 1 and _time(four) < _time(md), ratio >= MAGNITUDE),
            f"MD has {md.drives} drives",
        )  # fmt: skip


def _least(loads: Sequence[StudyLoad], profile: str) -> Iterator[Claim]:
    """Section 7.2: TPC-C's watts among those of all loads."""
    watts = {
        load.name: [load.single[arms - 1].watts_of(profile) for arms in (1, 2, 4)] for load in loads
    }
    least = [min(column) for column in zip(*watts.values(), strict=True)]
    shown = (f"{name} {', '.join(f'{value:.1f}' for value in row)}" for name, row in watts.items())
    for name in filter(lambda name: name.startswith("TPC-C"), watts):
        yield claim(
            "Section 7.2", f"{name}: watts of HC-SD, SA(2) and SA(4) among those of all loads",
            "the lowest", "; ".join(shown) + " W", Judgement(watts[name] == least),
        )  # fmt: skip


def _slower(load: StudyLoad, profile: str) -> Iterator[Claim]:
    """Figures 6 and 7: the slower drives that are as fast as the array."""
    hcsd, md = load.single[0].watts_of(profile), load.array.watts_of(profile)
    even = {
        system.name: system.watts_of(profile)
        for system in load.slower
        if not system.saturated and system.p90_ms <= EVEN * load.array.p90_ms
    }
    shown = ", ".join(f"{name} {watts:.1f} W" for name, watts in even.items()) or "none"
    what = f"{load.name}: slower drives as fast as MD"
    if load.name.startswith("Financial"):
        yield claim("Figure 7", what, "none is drawn", shown, Judgement(not even))
        return
    yield claim("Figure 7", what, "several", shown, judge(bool(even), len(even) > 1))
    least = min(even.values(), default=float("inf"))
    yield claim(
        "Figure 6", f"{load.name}: watts of MD over the least of these", "an order of magnitude",
        f"{md:.0f} W / {least:.1f} W = {md / least:.1f}" if even else "none",
        gain(md / least, MAGNITUDE),
    )  # fmt: skip
    if load.name.startswith("TPC"):
        below = any(system.watts_of(profile) < hcsd for system in load.slower)
        yield claim(
            "Figure 6", f"{load.name}: the least of these and HC-SD", "close to HC-SD or less",
            f"{least:.1f} W, {hcsd:.1f} W" if even else "none", Judgement(least <= EVEN * hcsd),
            "" if below else f"{load.name}: none of the slower drives draws less than HC-SD",
        )  # fmt: skip


def system_of(arrays: StudyArrays, drives: int, arms: int) -> StudySystem:
    """The array of so many drives with so many arms."""
    return next(
        system for system in arrays.systems if (system.drives, system.arms) == (drives, arms)
    )


def _section_7_3(arrays: Sequence[StudyArrays], profiles: Sequence[str]) -> Iterator[Claim]:
    for array in arrays:
        most = {8.0: 4, 4.0: 8, 1.0: 16}[array.interarrival_ms]
        trio = [system_of(array, most // arms, arms) for arms in (1, 2, 4)]
        small = array.footprint < 0.5
        even = all(
            not system.saturated and system.p90_ms <= EVEN * trio[0].p90_ms for system in trio[1:]
        )
        yield claim(
            "Figure 8",
            f"{array.interarrival_ms:g} ms, {array.footprint:.0%} of each drive: p90 of"
            f" {most} : {most // 2} : {most // 4} drives",
            "break even", ", ".join(_ms(system, system.p90_ms) for system in trio),
            Judgement(even),
            "" if small else "the paper does not state its footprint; it must have been small",
        )  # fmt: skip
        if not small:
            continue
        if array.interarrival_ms == 8:
            yield _steady(array)
        for profile in profiles:
            yield from of_profile(profile, _array_watts(array.interarrival_ms, trio, profile))


def _steady(arrays: StudyArrays) -> Claim:
    """Two drives with several arms are as good as any number of them."""
    pairs = [(system_of(arrays, 2, arms), system_of(arrays, MOST_DRIVES, arms)) for arms in (2, 4)]
    return claim(
        "Figure 8",
        f"8 ms, {arrays.footprint:.0%} of each drive: p90 of 2 and of {MOST_DRIVES} SA(2), SA(4)",
        "steady from two drives on",
        "; ".join(f"{_ms(two, two.p90_ms)}, {_ms(most, most.p90_ms)}" for two, most in pairs),
        Judgement(
            all(not two.saturated and two.p90_ms <= EVEN * most.p90_ms for two, most in pairs)
        ),
    )


def _array_watts(
    interarrival_ms: float, trio: Sequence[StudySystem], profile: str
) -> Iterator[Claim]:
    """@trio: arrays of drives with one, two and four arms, as many in all."""
    watts = [system.watts_of(profile) for system in trio]
    savings = [1 - with_arms / watts[0] for with_arms in watts[1:]]
    shown = ", ".join(f"{value:.1f} W" for value in watts)
    if interarrival_ms == 8:
        yield claim(
            "Figure 8", f"8 ms: watts ({profile})", ", ".join(f"{value} W" for value in PAPER_W),
            shown, numbers(PAPER_W, watts),
            "26.2 W on average of one SA(4) contradicts a peak that is comparable to a conventional"
            " drive's 13 W",
        )  # fmt: skip
    if interarrival_ms == 1:
        yield claim(
            "Section 7.3", f"1 ms: savings of SA(2), SA(4) ({profile})",
            ", ".join(f"{value:.0%}" for value in PAPER_SAVINGS),
            f"{savings[0]:.0%}, {savings[1]:.0%} ({shown})",
            built_in(numbers(PAPER_SAVINGS, savings)),
            "without the 2.0 W that are assumed for each arm, it would be 48 % and 72 %",
        )  # fmt: skip


def _time(system: StudySystem) -> float:
    """Mean response; without end where the queue grows without end."""
    return float("inf") if system.saturated else system.mean_ms


def _tail_ms(system: StudySystem) -> float:
    """The first edge of the distribution beyond which no more than TAIL of the accesses wait."""
    beyond = 1.0
    for edge_ms, share in zip(ROTATION_EDGES_MS[1:], system.rotation_pdf, strict=True):
        beyond -= share
        if beyond <= TAIL:
            return edge_ms
    return float("inf")


def _mean(system: StudySystem) -> str:
    return _ms(system, system.mean_ms)


def _ms(system: StudySystem, value: float) -> str:
    return "saturated" if system.saturated else f"{value:.1f} ms"
