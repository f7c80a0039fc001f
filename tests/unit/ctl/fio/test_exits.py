# SPDX-License-Identifier: GPL-2.0
"""exitall and exit_what: which jobs fio ends, by fio itself, and what becomes of them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from lib.ctl.fio_jobs import fio

from spekctl.errors import UsageError
from spekctl.fio import convert, exits
from spekctl.workload.imported import Imported

HEAD = "[global]\ndirect=1\n"
SHORT, LONG = "time_based\nruntime=5\n", "time_based\nruntime=9\n"


def steps_of(tmp_path: Path, text: str) -> list[Imported]:
    (tmp_path / "job.fio").write_text(HEAD + text)
    return convert.load_steps(tmp_path / "job.fio")


def shown(tmp_path: Path, text: str) -> list[tuple[list[str], str | None]]:
    """The streams and the time of each step."""
    return [
        ([entry.name for entry in step.workload.stream], step.workload.run.time)
        for step in steps_of(tmp_path, text)
    ]


# I/Os of LONG: for fio to end it within, and for it to end by itself.
PATIENT, BRIEF = 4000, 40


def done_by_fio(
    tmp_path: Path, text: str, count: int, waits: dict[str, str] | None = None
) -> dict[str, int]:
    """The I/Os of each job; SHORT are of a single one, LONG of @count, 200 each second.

    @waits: options of SHORT and LONG beside that
    """
    extra = {SHORT: "", LONG: ""} | (waits or {})
    text = text.replace(SHORT, f"number_ios=1\n{extra[SHORT]}")
    text = text.replace(LONG, f"rate_iops=200\nnumber_ios={count}\n{extra[LONG]}")
    (tmp_path / "fio.fio").write_text("[global]\nioengine=null\nsize=1g\n" + text)
    done = fio("--output-format=json", tmp_path / "fio.fio", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    jobs = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    return {job["jobname"]: sum(job[way]["total_ios"] for way in ("read", "write")) for job in jobs}


def until_it_writes(tmp_path: Path) -> dict[str, str]:
    """Options with which SHORT begins when LONG has done an I/O. fio starts jobs one by one, and
    exit_what=stonewall ends only those that run: a job of one I/O may end before the next starts.
    """
    written, script = tmp_path / "written", tmp_path / "wait.sh"
    script.write_text(f"until test -s {written}; do sleep 0.01; done\n")
    of_long = f"ioengine=sync\nrw=write\nfilename={written}\ncreate_on_open=1\n"
    return {SHORT: f"exec_prerun=sh {script}\n", LONG: of_long}


@pytest.mark.parametrize(
    ("options", "of_b", "ended"),
    [
        ("", "", False),
        ("exitall\n", "", True),
        # fio takes no value of it, and it is of all jobs, whichever has it.
        ("exitall=0\n", "", True),
        ("", "exitall\n", True),
        ("exitall\n", "new_group\n", False),
        ("exitall\n", "new_group=0\n", True),
        ("exitall\nexit_what=stonewall\n", "new_group\n", True),
        ("exitall\nexit_what=all\n", "new_group\n", True),
        ("exit_what=all\n", "", False),
    ],
)
def test_a_job_ends_those_that_fio_ends_with_it(
    tmp_path: Path, options: str, of_b: str, ended: bool
) -> None:
    text = f"[a]\n{SHORT}{options}[b]\n{LONG}{of_b}"
    count = PATIENT if ended else BRIEF
    done = done_by_fio(tmp_path, text, count, until_it_writes(tmp_path))
    assert (done["b"] < count) == ended
    assert done["a"] == 1
    phases = [(["a", "b"], "5s")] if ended else [(["a", "b"], "5s"), (["b"], "4s")]
    assert shown(tmp_path, text) == phases
    # The same on devices of their own.
    apart = text.replace("[a]\n", "[a]\nfilename=/dev/a\n").replace(
        "[b]\n", "[b]\nfilename=/dev/b\n"
    )
    assert shown(tmp_path, apart) == [(["a"], "5s"), (["b"], "5s" if ended else "9s")]


@pytest.mark.parametrize(
    ("options", "of_c", "option"),
    [
        ("exitall\n", "wait_for=a\n", "exitall"),
        ("exitall\nexit_what=all\n", "stonewall\n", "exit_what"),
        ("exitall\n", "stonewall\n", ""),
        ("exitall\nexit_what=stonewall\n", "wait_for=a\n", ""),
        ("", "wait_for=a\n", ""),
    ],
)
def test_a_job_that_fio_never_starts_is_refused(
    tmp_path: Path, options: str, of_c: str, option: str
) -> None:
    text = f"[a]\n{SHORT}{options}[c]\n{SHORT}{of_c}"
    assert (done_by_fio(tmp_path, text, BRIEF)["c"] == 0) == bool(option)
    if not option:
        assert shown(tmp_path, text) == [(["a"], "5s"), (["c"], "5s")]
        return
    with pytest.raises(UsageError, match=rf"{option}: \[c\] never runs in fio, as \[a\] ends it"):
        steps_of(tmp_path, text)


def test_the_first_job_that_ends_all_has_to_be_known(tmp_path: Path) -> None:
    for text, steps in (
        ("exitall\nruntime=5\n[a]\n[b]\n", [["a", "b"]]),
        ("exitall\nsize=1m\n[a]\nnumjobs=2\n", [["a", "a.2"]]),
        ("exitall\nsize=1m\n[a]\n[b]\n", [["a", "b"]]),
        ("exitall\n[a]\nsize=1m\n[b]\nnew_group\nsize=2m\n", [["a", "b"]]),
        ("exitall\n[a]\nsize=1m\n[b]\nstonewall\nsize=2m\n", [["a"], ["b"]]),
    ):
        assert [names for names, _ in shown(tmp_path, text)] == steps
    for text in (
        "[a]\nsize=1m\n[b]\nsize=2m\n",
        "[a]\nsize=1m\n[b]\nruntime=5\nbs=8k\n",
        "size=1m\n[a]\nfilename=/dev/a\n[b]\nfilename=/dev/b\n",
    ):
        with pytest.raises(
            UsageError, match="exitall: the first of its jobs that has covered its size"
        ):
            steps_of(tmp_path, f"exitall\n{text}")


def test_the_report_says_what_became_of_it(tmp_path: Path) -> None:
    (alone,) = steps_of(tmp_path, "[a]\nruntime=5\nexit_what=all\n")
    assert alone.not_needed["exit_what"] == exits.USELESS
    (both,) = steps_of(tmp_path, "exitall\nexit_what=all\nruntime=5\n[a]\n[b]\n")
    assert "shortest of their times" in both.not_needed["exit_what"]
    with pytest.raises(UsageError, match=r"\[a\] exit_what: 'none' is not group, stonewall or all"):
        steps_of(tmp_path, "[a]\nruntime=5\nexit_what=none\n")
