# SPDX-License-Identifier: GPL-2.0
"""What CI is made of is red when nothing, or something else, was measured.

Each recipe is `spekctl run` with its exports, and `gate`, `compare` or `show` of what it left.
"""

from __future__ import annotations

import errno
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.command_line import Spekctl, run_ok
from lib.ctl.fleets import Spec, fleet_of
from lib.ctl.verdicts import A, changed, measured, put, sides
from lib.fakes.kernel import FakeKernel
from lib.fakes.kernel import without_io as without_io_in
from msgspec.structs import replace

from spekctl.documents.result import Result
from spekctl.documents.result_parts import EndingResult, ReplayResult
from spekctl.errors import ExitCode, NoKernelSideError, error_from_errno
from spekctl.kernel import client
from spekctl.kernel.records import Reason

LIMITS = "[[limit]]\nmetric = 'errors'\nmax = 0\n"
DOCUMENTS = Path(__file__).parents[1] / "documents/version1"

# --- results that say that something is wrong ----------------------------------------------------


def ended(**parts: object) -> Result:
    return changed(measured(99), outcome=dict(parts))


def without_io() -> Result:
    base = measured(99)
    return changed(base, totals={"all": replace(base.totals.all, ios=0, iops=0.0)})


def ending(**parts: object) -> EndingResult:
    usual: dict[str, object] = {
        **{"until": "steady", "criteria": None, "round_ns": 10**9, "steady": None, "rounds": 3},
        **{"windows": [], "stop_when": [], "stopped_by": "", "text": "no steady state"},
    }
    return EndingResult(**{**usual, **parts})  # type: ignore[arg-type]


def not_steady() -> Result:
    """The run itself ended with exit code 7."""
    result = replace(measured(99), ending=ending(steady=False))
    return changed(result, outcome={"reason": Reason.COMPLETED})


def damaged_trace(**defects: int) -> Result:
    """The run itself ended with exit code 1."""
    names = ("records", "fed", "issued", "shifted", "grown", "unordered", "underruns")
    times = ("underrun_ns", "underrun_first_ns", "underrun_last_ns", "dry_ns", "max_idle_ns")
    counts: dict[str, Any] = dict.fromkeys((*names, *times, "idles", "idle_ns"), 0)
    replay = ReplayResult(
        files=["t"],
        format="msr",
        pace="original",
        speed=1.0,
        rate=None,
        depth=None,
        map="wrap",
        complete=True,
        skipped={},
        bad=defects.get("bad", 0),
        lost=defects.get("lost", 0),
        text="",
        think=False,
        share="address",
        **counts,
    )
    return replace(measured(99), replay=replay)


def lost_host() -> Result:
    return fleet_of(Spec("alpha", lost_s=2))


FAILED: dict[str, tuple[Callable[[], Result], str]] = {
    "without I/O": (without_io, "no I/O completed in the measure phase"),
    "stopped early": (lambda: ended(ok=False, text="it was stopped"), "it was stopped"),
    "with errors": (lambda: ended(ok=False, text="5 I/Os failed", errors=5), "5 I/Os failed"),
    "not steady": (not_steady, "run failed"),
    "of a lost host": (lost_host, "alpha"),
    "of a damaged trace": (
        lambda: damaged_trace(bad=3),
        "3 records of the trace could not be read",
    ),
    "of a log that lacks I/Os": (
        lambda: damaged_trace(lost=4),
        "4 I/Os were lost while the trace was recorded",
    ),
}


@pytest.mark.parametrize("kind", FAILED)
def test_a_result_that_is_not_of_a_whole_run_is_red(
    spekctl: Spekctl, tmp_path: Path, kind: str
) -> None:
    build, said = FAILED[kind]
    put(tmp_path / "bad.json", build())
    (tmp_path / "limits.toml").write_text(LIMITS)
    gate = spekctl("gate", "limits.toml", "bad.json")
    assert gate.code == ExitCode.RUN_FAILED
    assert said in " ".join(gate.out.split())
    words = sides(tmp_path, A, A)
    put(tmp_path / words[-1], build())
    compared = spekctl("compare", *words)
    assert (compared.code, compared.out) == (ExitCode.REFUSED, "")
    assert f"the run of {words[-1]} failed" in compared.sentence


def test_a_result_without_io_does_not_look_like_a_good_one(
    spekctl: Spekctl, tmp_path: Path
) -> None:
    put(tmp_path / "bad.json", without_io())
    said = "the run completed; no I/O completed in the measure phase"
    assert said in spekctl("show", "bad.json").out
    assert spekctl("report", "bad.json", "-o", "page.html").code == ExitCode.OK
    assert said in (tmp_path / "page.html").read_text()


def test_a_run_without_io_writes_what_has_contents_and_keeps_its_code(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path
) -> None:
    without_io_in(kernel)
    for name in ("o.hlog", "o_lat.1.log"):
        (tmp_path / name).write_text("of yesterday")
    words = ["-o", "o.json", "--csv", "o.csv", "--fio-json", "f.json", "--hdr-log", "o.hlog"]
    done = run_ok(spekctl, *words, "--fio-logs", "o", "--progress", "none")
    assert done.code == ExitCode.RUN_FAILED
    nothing = "no I/O completed in the measure phase"
    assert done.err.splitlines()[-3:] == [
        f"spekctl: {nothing}",
        f"spekctl: --fio-logs o: nothing to write: {nothing}",
        f"spekctl: --hdr-log o.hlog: nothing to write: {nothing}",
    ]
    names = sorted(path.name for path in tmp_path.iterdir() if path.name[:2] in ("o.", "o_", "f."))
    assert names == ["f.json", "o.csv", "o.hlog~", "o.json", "o_lat.1.log~"]


def test_ctrl_c_before_any_io_ends_with_its_own_code(spekctl: Spekctl, kernel: FakeKernel) -> None:
    without_io_in(kernel)
    kernel.on_wait = lambda second: signal.raise_signal(signal.SIGINT)
    done = run_ok(spekctl, "--hdr-log", "o.hlog", "--progress", "none")
    assert done.code == ExitCode.INTERRUPTED
    assert "--hdr-log o.hlog: nothing to write" in done.err


def test_an_older_export_that_cannot_be_renamed_hides_no_code(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path
) -> None:
    without_io_in(kernel)
    (tmp_path / "o.hlog").write_text("of yesterday")
    (tmp_path / "o.hlog~").mkdir()
    kernel.on_wait = lambda second: signal.raise_signal(signal.SIGINT)
    done = run_ok(spekctl, "--hdr-log", "o.hlog", "--progress", "none")
    assert done.code == ExitCode.INTERRUPTED
    assert "o.hlog~: Is a directory" in done.err


# --- files that hold something else --------------------------------------------------------------


OTHERS: dict[str, str | bytes] = {
    "empty": "",
    "blank": "\n\n",
    "cut short": '{"kind": "spek-result", "version"',
    "no JSON": "spekctl: the kernel module spek is not loaded\n",
    "a list": "[1, 2]",
    "a number": "7",
    "null": "null",
    "of no spek document": '{"jobs": []}',
    "of fio": '{"fio version": "fio-3.33", "jobs": [{"jobname": "a"}]}',
    "of a later version": '{"kind": "spek-result", "version": 999}',
    "binary": b"\x00\xff\xfe" * 40,
}
CAMPAIGNS = ("curve", "dcse", "emerald", "idle", "spc1", "spc1e", "verify", "verify-state")


def write_other(path: Path, kind: str) -> None:
    if kind in CAMPAIGNS:
        path.write_bytes((DOCUMENTS / f"{kind}.json").read_bytes())
    elif kind == "half a result":
        whole = put(path, measured(1)).read_bytes()
        path.write_bytes(whole[: len(whole) // 2])
    elif kind != "absent":
        content = OTHERS[kind]
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


EXPORTS = ["--csv", "--fio-json", "--hdr-log", "--fio-logs"]


@pytest.mark.parametrize("kind", [*OTHERS, *CAMPAIGNS, "half a result", "absent"])
def test_a_file_without_a_result_is_refused_everywhere(
    spekctl: Spekctl, tmp_path: Path, kind: str
) -> None:
    write_other(tmp_path / "bad.json", kind)
    (tmp_path / "limits.toml").write_text(LIMITS)
    gate = spekctl("gate", "limits.toml", "bad.json")
    assert gate.code == ExitCode.USAGE and gate.sentence
    assert "failed: " in gate.out and "passed" not in gate.out
    words = sides(tmp_path, A, A)
    write_other(tmp_path / words[-1], kind)
    if kind == "absent":
        (tmp_path / words[-1]).unlink()
    compared = spekctl("compare", *words, "--format", "junit")
    assert (compared.code, compared.out) == (ExitCode.USAGE, "") and compared.sentence
    # A load curve has points as CSV.
    for export in EXPORTS[kind == "curve" :]:
        shown = spekctl("show", "bad.json", export, "out")
        assert (shown.code, shown.out) == (ExitCode.USAGE, ""), export
        assert shown.sentence and not list(tmp_path.glob("out*"))


# --- a run that does not happen ------------------------------------------------------------------


def no_module(kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    def connect() -> FakeKernel:
        raise NoKernelSideError("the kernel module spek is not loaded")

    monkeypatch.setattr(client, "connect", connect)


def busy_device(kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel.refuse["claim-new"] = error_from_errno(
        errno.EBUSY, "The device is in use by a mount.", "claim-new"
    )
    kernel.refuse["run-new"] = kernel.refuse["claim-new"]


@pytest.mark.parametrize(
    ("happens", "code"),
    [(no_module, ExitCode.NO_KERNEL_SIDE), (busy_device, ExitCode.REFUSED)],
)
def test_a_run_that_does_not_happen_leaves_nothing_green(
    spekctl: Spekctl,
    kernel: FakeKernel,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    happens: Callable[[FakeKernel, pytest.MonkeyPatch], None],
    code: ExitCode,
) -> None:
    """Files of an earlier run are moved aside, so that what comes afterwards does not read them."""
    files = ["o.json", "o.csv", "f.json", "o.hlog"]
    words = ["-o", "o.json", "--csv", "o.csv", "--fio-json", "f.json", "--hdr-log", "o.hlog"]
    (tmp_path / "limits.toml").write_text(LIMITS)
    assert run_ok(spekctl, *words).code == ExitCode.OK
    assert spekctl("gate", "limits.toml", "o.json").code == ExitCode.OK
    happens(kernel, monkeypatch)
    run = run_ok(spekctl, *words, "--json", "--progress", "none")
    assert (run.code, run.out) == (code, ""), run.err
    assert run.err.splitlines()[-1].startswith("spekctl: ")
    assert [name for name in files if (tmp_path / name).exists()] == []
    gate = spekctl("gate", "limits.toml", "o.json", "--format", "junit")
    assert gate.code == ExitCode.USAGE and "there is no file o.json" in gate.sentence
    assert 'failures="1"' in gate.out


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[[limit]]\nmetric = 'stream.main.iops'\nmin = 1\n", "there is no metric"),
        ("[[limit]]\nmetric = 'iop'\nmin = 1\n", "there is no metric"),
        ("[[limits]]\nmetric = 'iops'\nmin = 1\n", "limits"),
        ("[[limit]]\nmetric = 'iops'\nminimum = 1\n", "minimum"),
        ("[[limit]]\nmetric = 'iops'\n", "neither min nor max"),
        ("[gate]\nworkload = 'random-read-4k'\n", "there is no [[limit]]"),
        ("", "there is no [[limit]]"),
    ],
)
def test_limits_of_nothing_are_no_verdict(
    spekctl: Spekctl, tmp_path: Path, text: str, sentence: str
) -> None:
    put(tmp_path / "good.json", measured(1))
    (tmp_path / "limits.toml").write_text(text)
    (tmp_path / "out.xml").write_text("a verdict of yesterday")
    gate = spekctl("gate", "limits.toml", "good.json", "--format", "junit", "-o", "out.xml")
    assert (gate.code, gate.out) == (ExitCode.USAGE, "")
    assert sentence in gate.sentence
    assert not (tmp_path / "out.xml").exists()


def test_an_older_comparison_is_moved_aside_before_a_refusal(
    spekctl: Spekctl, tmp_path: Path
) -> None:
    words = sides(tmp_path, A, A)
    (tmp_path / words[-1]).write_text("")
    (tmp_path / "out.xml").write_text("a verdict of yesterday")
    outcome = spekctl("compare", "--format", "junit", "-o", "out.xml", *words)
    assert outcome.code == ExitCode.USAGE
    assert not (tmp_path / "out.xml").exists()
    assert (tmp_path / "out.xml~").exists()
