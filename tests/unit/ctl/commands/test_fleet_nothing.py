# SPDX-License-Identifier: GPL-2.0
"""Results of several hosts on which no I/O completed."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.fleets import Spec, result_of, three
from lib.ctl.verdicts import put
from lib.fakes.fleet_rig import plan_of
from msgspec.structs import replace

from spekctl.commands import fleet
from spekctl.documents.result import load_result
from spekctl.errors import ExitCode, SpekError
from spekctl.fleet import plan, results, wire
from spekctl.fleet.clock import Bound
from spekctl.fleet.merge import merge
from spekctl.fleet.outcome import Outcome, Part

# As it is, for the tests that put another one in its place.
OF = results.of
UNKNOWN = Bound(None, "none")
# Four seconds in which no I/O completes.
QUIET: list[tuple[list[int], list[int]]] = [([], [])] * 4


class _Ended:
    """A coordinator whose run has ended."""

    def carry_out(self) -> Outcome:
        text = "1 host completed the run"
        return Outcome("r-1", "f-1", 1, ExitCode.OK, text, [], Bound(None, "none"))


def _carried_out(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """A fleet run whose hosts have completed no I/O; the list has what was done after it."""
    (tmp_path / "plan.toml").write_text(plan_of(["a"]))
    done: list[str] = []

    def write_reports(*_: object) -> results.Kept:
        done.append("samples of targets")
        return results.Kept([], [])

    @contextlib.contextmanager
    def started(*_: object) -> Iterator[_Ended]:
        yield _Ended()

    whole = merge(three())
    totals = replace(whole.totals, all=replace(whole.totals.all, ios=0))
    monkeypatch.setattr(fleet, "started", started)
    monkeypatch.setattr(fleet, "need_engine", lambda: None)
    monkeypatch.setattr(results, "of", lambda *_: replace(whole, totals=totals))
    monkeypatch.setattr(results, "write_reports", write_reports)
    return done


def test_a_run_without_io_delivers_all_else(
    spekctl: Spekctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = _carried_out(monkeypatch, tmp_path)
    (tmp_path / "h").write_text("of yesterday")
    ended = spekctl("fleet", "run", "plan.toml", "-o", "f.json", "--hdr-log", "h", "--csv", "f.csv")
    assert ended.code == ExitCode.RUN_FAILED, ended.err
    said = "spekctl: --hdr-log h: nothing to write: no I/O completed in the measure phase"
    assert said in ended.err.splitlines()
    assert done == ["samples of targets"]
    names = sorted(path.name for path in tmp_path.iterdir() if path.name[0] in "fh")
    assert names == ["f.csv", "f.json", "h~"]


def test_samples_of_targets_are_not_lost_with_the_result(
    spekctl: Spekctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards the mend of 749a0923."""
    done = _carried_out(monkeypatch, tmp_path)
    carry_out = _Ended.carry_out

    def lose_place(self: _Ended) -> Outcome:
        (tmp_path / "f.json").mkdir()
        return carry_out(self)

    monkeypatch.setattr(_Ended, "carry_out", lose_place)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    ended = spekctl("fleet", "run", "plan.toml", "-o", "f.json")
    assert ended.code == ExitCode.RUN_FAILED and "cannot write f.json: Is a directory" in ended.err
    assert done == ["samples of targets"]


@pytest.mark.parametrize(
    ("code", "ends"),
    [(ExitCode.OK, ExitCode.RUN_FAILED), (ExitCode.HOST_LOST, ExitCode.HOST_LOST)],
)
def test_samples_that_cannot_be_written_fail_the_run_after_all_is_delivered(
    spekctl: Spekctl,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: ExitCode,
    ends: ExitCode,
) -> None:
    _carried_out(monkeypatch, tmp_path)
    told = Outcome("r-1", "f-1", 1, code, "all is over", [], UNKNOWN)
    monkeypatch.setattr(_Ended, "carry_out", lambda self: told)
    monkeypatch.setattr(results, "of", lambda *_: merge(three()))
    lacking = results.Kept([Path("f.t.json")], [SpekError("cannot write f.u.json: no room")])
    monkeypatch.setattr(results, "write_reports", lambda *_: lacking)
    ended = spekctl("fleet", "run", "plan.toml", "-o", "f.json")
    assert ended.code == ends and (tmp_path / "f.json").is_file()
    assert ended.err.splitlines()[-2:] == [
        "spekctl: samples of a target written to f.t.json",
        "spekctl: cannot write f.u.json: no room",
    ]


@pytest.mark.parametrize(
    ("code", "ends"),
    [
        (ExitCode.HOST_LOST, ExitCode.HOST_LOST),
        (ExitCode.INTERRUPTED, ExitCode.INTERRUPTED),
        (ExitCode.OK, ExitCode.RUN_FAILED),
    ],
)
def test_a_run_whose_clients_are_all_lost_delivers_the_samples_of_targets(
    spekctl: Spekctl,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    code: ExitCode,
    ends: ExitCode,
) -> None:
    done = _carried_out(monkeypatch, tmp_path)
    told = Outcome("r-1", "f-1", 1, code, "incomplete: a lost at 41.2 s", [], UNKNOWN)
    monkeypatch.setattr(_Ended, "carry_out", lambda self: told)
    monkeypatch.setattr(results, "of", OF)
    ended = spekctl("fleet", "run", "plan.toml", "-o", "f.json")
    assert ended.code == ends and done == ["samples of targets"]
    assert ended.err.splitlines()[-2:] == [
        "spekctl: incomplete: a lost at 41.2 s",
        "spekctl: no client has a result, so there is none of the fleet",
    ]


def test_results_that_cannot_be_added_up_are_kept(
    spekctl: Spekctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _carried_out(monkeypatch, tmp_path)
    (host,) = plan.parse(plan_of(["a"])).hosts
    sent = wire.Collected(0, "the run completed", None, msgspec.Raw(b'{"kind": 5}'))
    ends = Outcome(
        "r-1", "f-1", 1, ExitCode.OK, "all is over", [Part(host, collected=sent)], UNKNOWN
    )
    monkeypatch.setattr(_Ended, "carry_out", lambda self: ends)
    monkeypatch.setattr(results, "of", OF)
    ended = spekctl("fleet", "run", "plan.toml", "-o", "f.json")
    assert ended.code == ExitCode.RUN_FAILED and not (tmp_path / "f.json").exists()
    assert ended.sentence.startswith("a has sent a damaged result: ")
    assert ended.sentence.endswith("; the hosts' own results: f.a.json")
    assert (tmp_path / "f.a.json").read_bytes() == b'{"kind": 5}'


def test_results_that_can_be_neither_added_up_nor_written_keep_their_code_and_reason(
    spekctl: Spekctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Guards the mend of 02332be3."""
    _carried_out(monkeypatch, tmp_path)
    sent = wire.Collected(0, "the run completed", None, msgspec.Raw(b'{"kind": 5}'))
    parts = [Part(host, collected=sent) for host in plan.parse(plan_of(["a", "b"])).hosts]
    ends = Outcome("r-1", "f-1", 1, ExitCode.DATA_ERRORS, "wrong data", parts, UNKNOWN)
    monkeypatch.setattr(_Ended, "carry_out", lambda self: ends)
    monkeypatch.setattr(results, "of", OF)
    (tmp_path / "f.a.json").mkdir()
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    ended = spekctl("fleet", "run", "plan.toml", "-o", "f.json")
    assert ended.code == ExitCode.DATA_ERRORS
    assert ended.sentence.startswith("wrong data; a has sent a damaged result: ")
    said = "; the hosts' own results: f.b.json; cannot write f.a.json: Is a directory"
    assert said in ended.sentence
    assert (tmp_path / "f.b.json").read_bytes() == b'{"kind": 5}'


def test_a_merge_of_results_without_io_has_failed(spekctl: Spekctl, tmp_path: Path) -> None:
    for name in ("alpha", "beta"):
        put(tmp_path / f"{name}.json", result_of(Spec(name, QUIET)))
    words = ("fleet", "merge", "alpha.json", "beta.json", "-o", "whole.json")
    merged = spekctl(*words)
    assert merged.code == ExitCode.RUN_FAILED
    assert merged.err.splitlines()[-1] == "spekctl: no I/O completed in the measure phase"
    assert load_result(tmp_path / "whole.json").totals.all.ios == 0
    (tmp_path / "h").write_text("of yesterday")
    refused = spekctl(*words, "--hdr-log", "h")
    said = "--hdr-log has nothing to write: no I/O completed in the measure phase"
    assert (refused.code, refused.out, refused.sentence) == (ExitCode.USAGE, "", said)
    assert not (tmp_path / "h").exists() and not (tmp_path / "whole.json").exists()


def test_one_host_with_io_is_enough(spekctl: Spekctl, tmp_path: Path) -> None:
    put(tmp_path / "alpha.json", result_of(Spec("alpha", QUIET)))
    put(tmp_path / "beta.json", result_of(Spec("beta")))
    assert spekctl("fleet", "merge", "alpha.json", "beta.json").code == ExitCode.OK
