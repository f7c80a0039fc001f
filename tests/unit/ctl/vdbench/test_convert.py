# SPDX-License-Identifier: GPL-2.0
"""Parameter files as workloads."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.vdbench_files import OLTP, RD, SD, WD

from spekctl.errors import ExitCode
from spekctl.vdbench import convert
from spekctl.workload.imported import Imported


def steps(tmp_path: Path, text: str) -> list[Imported]:
    path = tmp_path / "some.parm"
    path.write_text(text)
    return convert.load_steps(path)


def tables(found: Imported) -> dict[str, Any]:
    made = msgspec.to_builtins(found.workload)
    assert isinstance(made, dict)
    return made


def test_runs_and_loops_are_steps(tmp_path: Path) -> None:
    found = steps(tmp_path, OLTP)
    assert [one.workload.workload.name for one in found] == [
        *("run1", "run1.2", "run2", "run2.2", "run2.3", "run2.4"),
    ]
    first = tables(found[0])
    assert first["arrival"] == [{"name": "run1", "law": "poisson", "rate": 500}]
    assert first["run"] == {"time": "2m", "ramp": "30s", "interval": "5s", "data": "random"}
    data, log = first["stream"]
    assert (data["share"], log["share"], data["read"], data["size"]) == ("80%", "20%", "70%", 8192)
    assert (data["start"], data["range"]) == (2 << 30, 8 << 30)
    assert (log["pattern"], log["range"]) == ("sequential", 20 << 30)
    assert log["sizes"] == [{"size": 4096, "share": "50%"}, {"size": 16384, "share": "50%"}]
    loops = [
        (one["arrival"][0]["depth"], one["stream"][0]["size"]) for one in map(tables, found[2:])
    ]
    assert loops == [(8, 4096), (8, 8192), (32, 4096), (32, 8192)]
    assert found[0].command_line == ["--device /dev/sdb", "--device /dev/sdc", "--write"]
    assert found[0].not_needed.keys() == {"data_errors", "openflags"}
    assert {"iorate", "skew", "lun", "system"} <= found[0].mapped.keys()


def test_defaults_are_those_of_vdbench(tmp_path: Path) -> None:
    (only,) = steps(tmp_path, SD + WD + "rd=run1,wd=wd1,iorate=max,elapsed=5\n")
    made = tables(only)
    assert made["arrival"][0]["depth"] == 8
    assert made["stream"] == [{"name": "wd1", "read": "100%", "size": 4096}]
    assert only.command_line == ["--device /dev/sdb"]


def test_the_others(tmp_path: Path) -> None:
    text = SD + "wd=w,sd=sd1,seekpct=60,rdpct=50,hotband=(10,18)\n".replace("seekpct=60,", "")
    hot = tables(steps(tmp_path, text + RD)[0])["stream"][0]
    assert (hot["pattern"], hot["start"], hot["range"]) == ("hotband", "10%", "8%")
    mixed = tables(steps(tmp_path, SD + "wd=w,sd=sd1,seekpct=60\n" + RD)[0])["stream"][0]
    assert mixed["sequential"] == "40%"
    text = "validate=yes\n" + SD + "wd=w,sd=sd1,rdpct=0,range=(1m,3m)\n"
    (found,) = steps(tmp_path, text + RD.replace("100", "100,distribution=deterministic"))
    assert found.command_line[-2:] == ["--write", "--verify"]
    made = tables(found)
    assert made["arrival"][0]["law"] == "constant"
    assert (made["stream"][0]["start"], made["stream"][0]["range"]) == (1 << 20, 2 << 20)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("fsd=fsd1,anchor=/tmp\n", "fsd=fsd1: spek loads block devices, not files"),
        (SD + "fwd=fwd1,fsd=fsd1\n", "fwd=fwd1: spek loads block devices, not files"),
        (SD + WD, "there is no rd"),
        ("sd=sd1,size=1g\n" + WD + RD, "sd=sd1: it has no lun"),
        (SD + WD + RD.replace("100", "9" * 5000), "is neither a rate nor max"),
        (SD + "wd=w,sd=sd1,rhpct=10\n" + RD, "wd=w: rhpct: there are no cache hits to make"),
        (SD + "wd=w,sd=sd1,seekpc=10\n" + RD, "seekpc: not a parameter that spek knows; did you"),
        (SD + "wd=w,sd=sd1,stride=4k\n" + RD, "wd=w: stride: addresses are drawn"),
        (SD + "wd=w,sd=sd1,iorate=5\n" + RD, "wd=w: iorate: the rate is that of the run"),
        ("hd=one,system=far\n" + SD + WD + RD, "hd=one: system: the workload is for one host"),
        (SD + "wd=w,sd=sd2\n" + RD, "rd=run1: sd: there is no sd=sd2"),
        (SD + WD + "rd=r,wd=x*,elapsed=5\n", "rd=r: wd: there is no wd=x*"),
        (SD + WD + RD.replace("100", "curve"), "iorate: measure load curves with `spekctl sweep`"),
        (SD + WD + RD.replace("100", "fast"), "iorate: 'fast' is neither a rate nor max"),
        (
            SD + WD + f"rd=r,forthreads=({'1,' * 99}1),forrdpct=({'1,' * 99}1)\n",
            "rd=r has 10000 runs; at most 1000 are imported",
        ),
        (SD + WD + RD.replace("60", "soon"), "elapsed: "),
        (SD + "wd=w,sd=sd1,xfersize=(4k,8k,4k)\n" + RD, "xfersize: a range of sizes"),
        (SD + "wd=w,sd=sd1,rdpct=120\n" + RD, "rdpct: "),
        (SD + "wd=a,sd=sd1,skew=70\nwd=b,sd=sd1,skew=40\n" + RD, "skew: the shares"),
        (SD + "wd=w,sd=sd1,range=(50,20)\n" + RD, "range: (50,20) does not lie in"),
        (SD + WD + RD.replace("100", "100,distribution=uniform"), "distribution: 'uniform'"),
        (SD + WD + RD.replace("100", "max,threads=0"), "threads: '0' is not a number above 0"),
    ],
)
def test_what_would_be_lost_is_refused_by_name(
    spekctl: Spekctl, tmp_path: Path, text: str, sentence: str
) -> None:
    (tmp_path / "some.parm").write_text(text)
    found = spekctl("vdbench", "some.parm")
    assert (found.code, found.out) == (ExitCode.USAGE, "")
    assert sentence in found.sentence
