# SPDX-License-Identifier: GPL-2.0
"""Figures of the authors, verdicts and the page, from runs whose numbers are known."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from bench.paper004 import claims, loads, nas, page, sim, study, systems
from bench.paper004.__main__ import main, traces
from bench.paper004.sim import READ, REQUESTS
from bench.paper004.study import RATES, Footprint, Run, Study, Text, authors_wh, saving

from spekctl.errors import SpekError
from spekctl.report.page import html


def run_with(system: str, load: str, rate: float | None, **changes: Any) -> Run:
    """An hour of 36 W of disks and no SSD."""
    names = ("active", "standby", "stopped", "starting", "to_standby", "to_stopped")
    fields: dict[str, Any] = {
        "system": system, "load": load, "rate": rate, "requests": 1000, "seconds": 3600.0,
        "disks_5v_wh": 12.0, "disks_12v_wh": 24.0, "ssd_wh": 0.0, "mean_ms": 10.0, "p50_ms": 9.0,
        "p99_ms": 30.0, "max_ms": 40.0, "read_mean_ms": 8.0, "write_mean_ms": 12.0,
        "wait_mean_ms": 0.0, "answered": 1000,
        "conditions": dict.fromkeys(names, 0.0) | {"active": 1.0},
        "phases": dict.fromkeys(sim.PHASES, 0.0) | {"idle": 0.7, "seek": 0.3},
        "starts": [0] * 4, "wakes": dict.fromkeys(sim.CAUSES, 0), "hits": 1, "misses": 3,
        "copies": 3, "prefetched": 0, "prefetch_hits": 0, "destaged": 0, "waiting": 5,
        "written": 5, "lost": 0,
        "course": [(18.0, 0.0, 0), (36.0, 0.0, 0)],
    } | changes  # fmt: skip
    return Run(**fields)


# Mean ms and Wh of spek-augment by rate: what the paper has.
AS_PAPER = {
    "cello99": {100.0: (13.0, 31.0), 200.0: (12.0, 34.0), 500.0: (11.0, 34.5), None: (9.0, 30.0)},
    "websearch": {100.0: (10.3, 31.0), 200.0: (9.7, 34.0), 500.0: (8.3, 34.5), None: (9.0, 30.0)},
}


def study_with(ours: dict[str, dict[float | None, tuple[float, float]]]) -> Study:
    """The paper's own results, unless @ours says otherwise; runs are shorter at higher rates."""
    runs = []
    for load in ("cello99", "websearch"):
        for rate in RATES:
            scale = 100 / (rate or 100)
            for system in systems.OF_FIGURES:
                mean, wh = ours[load][rate] if system.key == "augment" else (10.0, 36.0)
                run = run_with(system.key, load, rate, mean_ms=mean)
                run.disks_5v_wh, run.disks_12v_wh = wh / 3 * scale, wh * 2 / 3 * scale
                run.seconds = 3600 * scale
                run.answered = round(run.seconds * (rate or 10))
                runs.append(run)
    result = Study(
        count=1000, seed=1, standby_w=0.8, idle_w=7.96, rest_w=100.0,
        loads=[Text("cello99", "cello99-like", "known"), Text("websearch", "Web-like", "known")],
        systems=[Text(each.key, each.name, each.rule)
                 for each in (*systems.OF_FIGURES, *systems.OF_THE_WEEK, *systems.OF_PREFETCH)],
        runs=runs,
        week=[run_with(each.key, "nas", None) for each in systems.OF_THE_WEEK], week_requests=9,
        prefetch=[
            run_with(each.key, "nas", None, prefetched=number * 100, disks_5v_wh=12.0 - number)
            for number, each in enumerate(systems.OF_PREFETCH)
        ],
        footprint=Footprint("cello99-like", False, 1400.0, [(0, 2.0, 2.0), (1, 3.0, 1.0)]),
        claims=[],
    )  # fmt: skip
    result.claims = claims.of(result)
    return result


def verdicts(result: Study) -> dict[str, str]:
    return {claim.what: claim.verdict for claim in result.claims}


def test_authors_figure_is_the_run_less_the_baseline_over_the_plain_run() -> None:
    result = study_with(AS_PAPER)
    plain = study.find(result.runs, "cello99", 100.0, "raid")
    ours = study.find(result.runs, "cello99", 100.0, "augment")
    assert authors_wh(result, plain) == pytest.approx(36 - 4 * 0.8)
    assert authors_wh(result, ours) == pytest.approx(31 - 4 * 0.8)
    assert saving(result, "cello99", 100.0, "augment") == pytest.approx(5 / 32.8)
    assert saving(result, "cello99", 100.0, "augment", exact=True) == pytest.approx(5 / 36)
    # A run that takes a minute longer has a minute more of the whole machine.
    ours.seconds += 60
    assert authors_wh(result, ours) == pytest.approx(31 - 4 * 0.8 + 100 / 60)


def test_the_papers_own_results_hold() -> None:
    judged = verdicts(study_with(AS_PAPER))
    assert set(judged.values()) == {"yes", "not judged"}
    assert len(judged) == 1 + 8 + 6 + 2


@pytest.mark.parametrize(
    ("load", "rate", "result", "what", "verdict"),
    [
        ("cello99", 100.0, (13.0, 35.0), "cello99-like: energy saved at 100/s", "partly"),
        ("cello99", 100.0, (13.0, 37.0), "cello99-like: energy saved at 100/s", "no"),
        ("cello99", 200.0, (12.0, 20.0), "cello99-like: energy saved at 200/s and 500/s", "partly"),
        ("cello99", 200.0, (12.0, 20.0), "cello99-like: savings are largest at the lowest load",
         "partly"),
        ("websearch", 500.0, (9.5, 34.5), "Web-like: mean response at 500/s", "partly"),
        ("websearch", 500.0, (11.0, 34.5), "Web-like: mean response at 500/s", "no"),
        ("websearch", 100.0, (9.0, 31.0), "Web-like: mean response at 100/s", "no"),
        ("cello99", 100.0, (5.0, 31.0), "cello99-like: mean response at 100/s", "no"),
        ("cello99", 100.0, (10.5, 31.0), "cello99-like: mean response at 100/s", "partly"),
        ("cello99", 100.0, (5.0, 31.0), "cello99-like: 200/s and 500/s fare better than 100/s",
         "no"),
        ("cello99", 500.0, (12.5, 34.5), "cello99-like: responses get shorter as the load rises",
         "partly"),
    ],
)  # fmt: skip
def test_verdicts_follow_from_the_numbers(
    load: str, rate: float, result: tuple[float, float], what: str, verdict: str
) -> None:
    changed = {name: dict(values) for name, values in AS_PAPER.items()}
    changed[load][rate] = result
    assert verdicts(study_with(changed))[what] == verdict


def test_every_claim_has_a_rule_and_missed_ones_a_reason_or_a_figure() -> None:
    for claim in study_with(AS_PAPER).claims:
        assert claim.rule
        assert claim.here
        assert claim.paper


def test_more_energy_at_a_higher_rate_is_seen() -> None:
    result = study_with(AS_PAPER)
    study.find(result.runs, "cello99", 500.0, "raid").disks_12v_wh = 100.0
    judged = {claim.what: claim.verdict for claim in claims.of(result)}
    assert judged["cello99-like: the lower the load the more energy in all"] == "partly"


def test_ceiling_is_that_of_disks_that_do_nothing() -> None:
    result = study_with(AS_PAPER)
    assert claims.ceiling(result, "websearch", 100.0) == pytest.approx(
        1 - (4 * 7.96 + 0.5 - 3.2) / (36 - 3.2)
    )


def test_page_and_text_have_verdicts_models_and_reasons() -> None:
    result = study_with(AS_PAPER)
    text = html([page.sheet_of(result)]).decode()
    for words in (
        "16 of 16 claims hold", "models of documented policies", "Figure 1", "Figure 3",
        "The week: power by hour", "no number was fitted", "bcache (model)",
    ):  # fmt: skip
        assert words in text
    printed = page.text_of(result)
    assert "yes  Figure 2: cello99-like: energy saved at 100/s" in printed


def test_states_of_a_disk_add_up() -> None:
    run = run_with("raid", "nas", None)
    run.conditions |= {"active": 0.5, "standby": 0.4, "starting": 0.1}
    assert page.states(run) == pytest.approx([30, 0, 0, 20, 10, 0, 40])


def test_runs_are_kept_and_taken_from_the_cache(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    rows = np.array([(0, 10, 4, READ), (10**7, 99, 4, READ)], REQUESTS)
    first = study.run_of(systems.PLAIN_RAID, "cello99", 100.0, rows, 1)

    def refuse(*_: object) -> None:
        raise AssertionError("simulated again")

    monkeypatch.setattr(sim, "run", refuse)
    assert study.run_of(systems.PLAIN_RAID, "cello99", 100.0, rows, 1) == first
    with pytest.raises(AssertionError, match="simulated again"):
        study.run_of(systems.PLAIN_RAID, "cello99", 100.0, rows, 2)


def test_trace_without_a_known_name_is_refused() -> None:
    with pytest.raises(SpekError, match="NAME out of cello99, websearch"):
        traces(["tpc-c=a.spc"])
    assert traces(["cello99=a", "cello99=b"]) == {"cello99": [Path("a"), Path("b")]}


def test_missing_trace_ends_with_a_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main([str(tmp_path), "--count", "1000", "--trace", f"cello99={tmp_path}/none.spc"])
    assert status == 2
    assert "none.spc" in capsys.readouterr().err
    assert not (tmp_path / "paper-004.json").exists()


def test_study_goes_from_runs_to_documents(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(nas, "week", lambda *_: loads.stand_in("cello99", 10**8, 200, 10, 1))
    assert main([str(tmp_path / "out"), "--count", "1000"]) == 0
    data = msgspec.json.decode((tmp_path / "out" / "paper-004.json").read_bytes(), type=Study)
    assert len(data.runs) == 2 * len(RATES) * len(systems.OF_FIGURES)
    assert all(run.lost == 0 for run in (*data.runs, *data.week))
    assert data.week[0].seconds == 7 * 86_400
    assert len(data.week[0].course) == 7 * 24
    assert b"Paper 004" in (tmp_path / "out" / "paper-004.html").read_bytes()
