# SPDX-License-Identifier: GPL-2.0
"""spekctl vdbench: the runs of a parameter file as workloads."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.vdbench_files import CORPUS, OLTP, RD, SD, WD
from lib.fakes.kernel import FakeKernel, without_io

from spekctl.documents import result
from spekctl.errors import ExitCode
from spekctl.vdbench import convert
from spekctl.workload import file
from spekctl.workload.imported import RateOf


def test_the_command_and_run(spekctl: Spekctl, kernel: object, tmp_path: Path) -> None:
    (tmp_path / "oltp.parm").write_text(OLTP)
    outcome = spekctl("vdbench", "oltp.parm", "-o", "made.toml")
    assert (outcome.code, outcome.out) == (ExitCode.OK, "")
    assert file.load("./made.6.toml").workload.name == "run2.4"
    assert "step 6 of 6: run2.4: made.6.toml" in outcome.err
    assert "different from vdbench: arrivals keep their schedule" in outcome.err
    missing = spekctl("vdbench", "none.parm")
    assert (missing.code, missing.sentence) == (ExitCode.USAGE, "there is no file none.parm")
    several = spekctl("sweep", "vdbench:oltp.parm", "-d", "/dev/fake0", "--depth", "1,2")
    assert several.code == ExitCode.USAGE and "has 6 runs" in several.sentence
    (tmp_path / "one.parm").write_text(SD + WD + RD)
    single = spekctl("run", "vdbench:one.parm#run1", "--device", "/dev/fake0", "--dry-run")
    assert single.code == ExitCode.OK, single.err
    assert 'name = "wd1"' in single.out and "spekctl: elapsed -> run.time" in single.err


RUNS = SD + WD + "rd=r,wd=*,iorate=(100,200),elapsed=3,pause=20\n"


def test_the_runs_of_a_file_are_run_one_after_the_other(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path
) -> None:
    (tmp_path / "runs.parm").write_text(RUNS)
    words = ("run", "vdbench:runs.parm", "-d", "/dev/fake0", "--progress", "none", "--write")
    done = spekctl(*words, "-o", "r.json")
    assert done.code == ExitCode.OK, done.err
    assert "step 1 of 2: r on /dev/fake0" in done.err and "step 2 of 2: r.2" in done.err
    kept = [result.load_result(tmp_path / f"r.{number}.json") for number in (1, 2)]
    assert [run.config.arrivals[0].rate_milli for run in kept] == [100_000, 200_000]
    assert done.err.count(convert.PAUSE) == 1
    alone = spekctl(*words[:1], "vdbench:runs.parm#r.2", *words[2:])
    assert alone.code == ExitCode.OK and "step" not in alone.err
    refused = spekctl(*words, "--json")
    assert refused.code == ExitCode.USAGE
    assert "name one (fio:FILE#JOB, vdbench:FILE#RUN)" in refused.err


CURVE = SD + WD + "rd=r,wd=*,iorate=curve,curve=(10,50),elapsed=3\nrd=s,wd=*,iorate=20%,elapsed=3\n"


def test_points_of_a_curve_have_their_share_of_what_was_measured(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path
) -> None:
    (tmp_path / "curve.parm").write_text(CURVE)
    words = ("run", "vdbench:curve.parm", "-d", "/dev/fake0", "--progress", "none", "--write")
    done = spekctl(*words, "-o", "r.json")
    assert done.code == ExitCode.OK, done.err
    kept = [result.load_result(tmp_path / f"r.{number}.json") for number in (1, 2, 3, 4)]
    most, *points = kept
    shares = [(most, Fraction(1, 10)), (most, Fraction(1, 2)), (points[1], Fraction(1, 5))]
    for point, (before, share) in zip(points, shares, strict=True):
        rate = RateOf(1, share).of(before.totals.all.iops)
        assert rate and point.config.arrivals[0].rate_milli == 1000 * rate
        assert point.command[-2:] == ["--rate", str(rate)]
        assert f"taken from the run before: --rate {rate}" in done.err
    # The command line has the last word.
    told = spekctl(*words, "--rate", "70")
    assert told.code == ExitCode.OK and "taken from the run before" not in told.err


def test_without_io_there_is_no_rate_to_have_a_share_of(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path
) -> None:
    without_io(kernel)
    (tmp_path / "curve.parm").write_text(CURVE)
    done = spekctl("run", "vdbench:curve.parm", "-d", "/dev/fake0", "--progress", "none", "--write")
    assert done.code != ExitCode.OK
    assert "r had no I/Os of which r-10pct on /dev/fake0 could have a share" in done.err
    assert kernel.calls.count("run-start") == 1


def test_one_run_is_one_file(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "one.parm").write_text(SD + WD + RD)
    written = spekctl("vdbench", "one.parm", "-o", "made.toml")
    printed = spekctl("vdbench", "one.parm")
    assert (written.code, written.out, printed.code) == (ExitCode.OK, "", ExitCode.OK)
    assert (tmp_path / "made.toml").read_text() == printed.out
    assert written.err == printed.err and "step" not in written.err


def test_the_input_is_not_overwritten(spekctl: Spekctl, tmp_path: Path) -> None:
    for name, text, output in (("one", SD + WD + RD, "one"), ("run.2.t", OLTP, "run.t")):
        (tmp_path / name).write_text(text)
        outcome = spekctl("vdbench", name, "-o", output)
        assert (outcome.code, outcome.out) == (ExitCode.USAGE, "")
        assert outcome.sentence == f"--output {name} would overwrite the input {name}"
        assert (tmp_path / name).read_text() == text
    assert not (tmp_path / "run.1.t").exists()


@pytest.mark.parametrize("words", [["one.parm", "-o", "no/x.toml"], ["loops.parm", "-o", "no/x.t"]])
def test_a_file_that_cannot_be_written_is_refused(
    spekctl: Spekctl, tmp_path: Path, words: list[str]
) -> None:
    (tmp_path / "one.parm").write_text(SD + WD + RD)
    (tmp_path / "loops.parm").write_text(OLTP)
    outcome = spekctl("vdbench", *words)
    assert (outcome.code, outcome.out) == (ExitCode.USAGE, "")
    assert "there is no directory no" in outcome.sentence


@pytest.mark.parametrize("name", CORPUS)
def test_what_is_imported_can_be_run(
    spekctl: Spekctl, kernel: object, tmp_path: Path, name: str
) -> None:
    text, titles = CORPUS[name]
    (tmp_path / "some.parm").write_text(text)
    imported = spekctl("vdbench", "some.parm", "-o", "made.toml")
    assert imported.code == ExitCode.OK, imported.err
    for number in range(1, len(titles) + 1):
        path = "./made.toml" if len(titles) == 1 else f"./made.{number}.toml"
        words = ["run", path, "--device", "/dev/fake0", "--write", "--dry-run"]
        outcome = spekctl(*words)
        assert outcome.code == ExitCode.OK, outcome.err


def test_parts_of_a_run_are_named(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "some.parm").write_text(CORPUS["devices of their own"][0])
    outcome = spekctl("vdbench", "some.parm", "-o", "made.toml")
    assert "step 2 of 2: r.2, which starts together with step 1: made.2.toml" in outcome.err


def test_an_amount_ends_the_run_beside_its_time(
    spekctl: Spekctl, kernel: object, tmp_path: Path
) -> None:
    (tmp_path / "some.parm").write_text(CORPUS["an amount"][0])
    words = ("run", "vdbench:some.parm", "--device", "/dev/fake0", "--write", "--dry-run")
    dry_run = spekctl(*words)
    assert dry_run.code == ExitCode.OK, dry_run.err
    assert 'time = "10m"' in dry_run.out and "count = 1638400" in dry_run.out
    assert "maxdata -> run.count" in dry_run.err and "vdbench also ends" not in dry_run.err


HOSTS = (
    "hd=default,shell=ssh,user=me\nhd=one_1,system=10.0.0.1\nhd=two,system=10.0.0.2,shell=rsh\n"
    "sd=s_$host,host=$host,lun=/dev/sd#host,threads=4\nwd=w,sd=s*,rdpct=50\n"
)


def test_a_run_of_several_hosts_becomes_a_plan(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "some.parm").write_text(HOSTS + "rd=r,wd=w,iorate=max\n")
    outcome = spekctl("vdbench", "some.parm", "-o", "made.toml")
    assert (outcome.code, outcome.out) == (ExitCode.OK, "")
    assert "host one_1 is one-1 in the plan" in outcome.err
    assert "spekctl fleet init keys one-1 two" in outcome.err
    assert "start `spekctl fleet join` on two, or fill in ssh of" in outcome.err
    assert "its plan, for `spekctl fleet run`: made.plan.toml" in outcome.err
    assert "add write = true to [fleet.options] of the plan to permit the hosts" in outcome.err
    assert "give to `spekctl run`" not in outcome.err
    refused = spekctl("fleet", "run", "made.plan.toml", "--dry-run")
    assert refused.code == ExitCode.USAGE
    assert "'ADDRESS OF THE CONTROLLER' is not an address to listen at" in refused.sentence
    plan = tmp_path / "made.plan.toml"
    assert "write = " not in plan.read_text()
    plan.write_text(plan.read_text().replace("ADDRESS OF THE CONTROLLER", "tls://10.0.0.9:8786"))
    dry_run = spekctl("fleet", "run", "made.plan.toml", "--dry-run")
    assert dry_run.code == ExitCode.OK, dry_run.err
    assert "r: workload r on 2 of 2 hosts" in dry_run.out and "/dev/sd1" in dry_run.out


def test_plans_of_steps_are_files_beside_theirs(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "some.parm").write_text(HOSTS + "rd=r,wd=w,iorate=(10,20)\n")
    assert spekctl("vdbench", "some.parm", "-o", "made.toml").code == ExitCode.OK
    for number in (1, 2):
        assert (
            f'workload = "made.{number}.toml"'
            in (tmp_path / f"made.{number}.plan.toml").read_text()
        )
    printed = spekctl("vdbench", "some.parm")
    assert printed.code == ExitCode.OK
    assert "# plan of r.toml\n[fleet]\n" in printed.out


def test_a_plan_does_not_overwrite_the_input(spekctl: Spekctl, tmp_path: Path) -> None:
    text = HOSTS + "rd=r,wd=w,iorate=max\n"
    (tmp_path / "made.plan.toml").write_text(text)
    outcome = spekctl("vdbench", "made.plan.toml", "-o", "made.toml")
    assert outcome.code == ExitCode.USAGE and "would overwrite the input" in outcome.sentence
    assert (tmp_path / "made.plan.toml").read_text() == text


def test_a_device_that_is_a_file_is_to_be_filled_in(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "some.parm").write_text(
        "hd=far\nsd=s,lun=/mnt/file\nwd=w,sd=s\nrd=r,wd=w,iorate=max\n"
    )
    outcome = spekctl("vdbench", "some.parm")
    assert "fill in devices of far: /mnt/file is not below /dev" in outcome.err


def test_a_run_of_several_hosts_is_no_run_of_this_one(
    spekctl: Spekctl, kernel: object, tmp_path: Path
) -> None:
    (tmp_path / "some.parm").write_text(HOSTS + "rd=r,wd=w,iorate=max\n")
    words = ("vdbench:some.parm", "--device", "/dev/fake0", "--write")
    for command in (("run", *words, "--dry-run"), ("sweep", *words, "--depth", "1")):
        outcome = spekctl(*command)
        assert outcome.code == ExitCode.USAGE
        assert outcome.sentence.startswith("r is a run on several hosts: import it (spekctl vdb")
