# SPDX-License-Identifier: GPL-2.0
"""spekctl energy check: reports of configurations together, its exit codes and refusals."""

from __future__ import annotations

import json
from pathlib import Path

from lib.ctl.command_line import Spekctl

from spekctl.errors import ExitCode

PHASES = """
raw_gigabytes = 1000
[random-read]
iops = {read}
watts = 100
[random-write]
iops = 500
watts = 100
[sequential-read]
mib_per_s = 300
watts = 100
[sequential-write]
mib_per_s = 200
watts = 100
[ready-idle]
watts = 90
"""
TOLD = ("parity RAID=yes", "adaptive cooling=yes", "power supplies=silver", "power monitoring=yes")


def report(spekctl: Spekctl, name: str, read: int, drives: int) -> str:
    Path(f"{name}.toml").write_text(PHASES.format(read=read))
    told = [word for text in (*TOLD, f"drives={drives}") for word in ("--disclose", text)]
    line = ("energy", "emerald", "--from", f"{name}.toml", "--taxonomy", "Online 3", *told)
    assert spekctl(*line, "-o", f"{name}.json").code == ExitCode.OK
    return f"{name}.json"


def test_reports_are_judged_together(spekctl: Spekctl) -> None:
    files = [report(spekctl, "small", 1000, 24), report(spekctl, "large", 3000, 240)]
    outcome = spekctl("energy", "check", *files, "--drawer", "24", "--least-methods", "0")
    assert outcome.code == ExitCode.OK, outcome.err
    lines = [" ".join(line.split()) for line in outcome.out.splitlines()]
    assert "EP_RR 30.000 IOPS/W large.json - - 192 to 264" in lines
    assert "EP_RW 5.000 IOPS/W small.json - - 20 to 25" in lines
    assert "category Online 2, 3 or 4: yes: Online 3" in lines
    outcome = spekctl("energy", "check", *files, "--json")
    assert outcome.code == ExitCode.LIMIT_MISSED
    data = json.loads(outcome.out)
    assert [row["metric"] for row in data["best"]] == ["EP_RR", "EP_RW", "EP_SR", "EP_SW", "EP_RI"]


def test_other_files_are_refused(spekctl: Spekctl) -> None:
    Path("x.json").write_text("{}")
    outcome = spekctl("energy", "check", "x.json")
    assert outcome.code == ExitCode.USAGE
    assert "x.json" in outcome.sentence
