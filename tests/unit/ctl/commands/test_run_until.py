# SPDX-License-Identifier: GPL-2.0
"""spekctl run --until and --stop-when on a fake kernel: the end, the result, the exit code."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.command_line import Outcome, Spekctl
from lib.ctl.schemas import validator
from lib.fakes.kernel import FakeKernel

from spekctl.documents import result
from spekctl.errors import ExitCode, error_from_errno
from spekctl.kernel.records import Reason

SETTLING = [400, 300, 200, 150, 120, 105, 100, 101, 99, 100]


@pytest.fixture
def settling(kernel: FakeKernel) -> FakeKernel:
    """Steady after ten seconds."""
    kernel.ios_in = lambda second: SETTLING[min(second, 9)]
    return kernel


def run(spekctl: Spekctl, *more: str, time: str = "60s") -> Outcome:
    return spekctl(
        *("run", "random-read-4k", "--device", "/dev/fake0", "--time", time, "-o", "r.json"),
        *("--progress", "none", *more),
    )


def kept() -> dict[str, Any]:
    document: dict[str, Any] = json.loads(Path("r.json").read_text())
    validator(result.SCHEMA_FILE).validate(document)
    result.load_result(Path("r.json"))
    return document


def test_a_run_ends_in_steady_state(spekctl: Spekctl, settling: FakeKernel) -> None:
    outcome = run(spekctl, "--until", "steady")
    assert outcome.code == ExitCode.OK and settling.seconds == 10
    assert settling.calls.count("run-stop") == 1 and settling.deleted
    document = kept()
    assert document["outcome"]["reason"] == "stopped" and document["outcome"]["ok"]
    text = "steady state of iops was reached after 10 rounds of 1s"
    assert document["outcome"]["text"] == text and text in outcome.out
    ending = document["ending"]
    assert ending["until"] == "steady:iops,window=5,range=20%,slope=10%"
    assert (ending["steady"], ending["rounds"], ending["round_ns"]) == (True, 10, 10**9)
    assert ending["criteria"] == {"window": 5, "range": 0.2, "slope": 0.1}
    assert ending["windows"][0]["values"] == [105, 100, 101, 99, 100]
    assert (
        "iops of rounds 6 to 10: average 101, range 5.9 % (limit 20 %), slope 4.4 % (limit 10 %),"
        " steady" in " ".join(outcome.out.split())
    )


def test_the_ramp_up_has_no_rounds(spekctl: Spekctl, settling: FakeKernel) -> None:
    assert run(spekctl, "--until", "steady", "--ramp", "5s").code == ExitCode.OK
    assert kept()["ending"]["windows"][0]["first"] == 1 and settling.seconds == 10


def test_steady_state_that_is_not_reached_is_code_7(spekctl: Spekctl, kernel: FakeKernel) -> None:
    kernel.ios_in = lambda second: 100 + 50 * (second % 2)
    outcome = run(spekctl, "--until", "steady:iops,latency", time="12s")
    assert outcome.code == ExitCode.LIMIT_MISSED and "run-stop" not in kernel.calls
    document = kept()
    assert document["outcome"]["reason"] == "completed" and document["outcome"]["ok"]
    assert document["ending"]["steady"] is False
    assert document["outcome"]["text"].startswith(
        "the run completed; steady state of iops and latency was not reached in 12 rounds of 1s;"
        " iops of the last 5 rounds: range "
    )
    assert document["outcome"]["text"] in " ".join(outcome.out.split())


def test_a_run_by_count_can_reach_steady_state(spekctl: Spekctl, settling: FakeKernel) -> None:
    outcome = spekctl(
        *("run", "random-read-4k", "-d", "/dev/fake0", "--count", "9", "-o", "r.json"),
        *("--until", "steady:window=2,range=90%,slope=90%", "--progress", "none"),
    )
    assert outcome.code == ExitCode.OK and kept()["ending"]["rounds"] == 2


@pytest.mark.parametrize(
    ("condition", "seconds"), [("iops < 110", 6), ("p99 > 700us", 1), ("latency >= 0.2ms", 1)]
)
def test_a_threshold_ends_the_run(
    spekctl: Spekctl, settling: FakeKernel, condition: str, seconds: int
) -> None:
    outcome = run(spekctl, "--stop-when", "p50 > 1s", "--stop-when", condition)
    assert outcome.code == ExitCode.LIMIT_MISSED and settling.seconds == seconds
    document = kept()
    assert not document["outcome"]["ok"] and document["ending"]["stopped_by"] == condition
    assert document["ending"]["stop_when"] == ["p50 > 1s", condition]
    assert f"--stop-when {condition} ended the run" in document["outcome"]["text"]
    assert document["ending"]["text"] in " ".join(outcome.out.split())


def test_a_threshold_of_the_last_interval_did_not_end_the_run(
    spekctl: Spekctl, settling: FakeKernel
) -> None:
    outcome = run(spekctl, "--stop-when", "iops < 110", time="6s")
    assert outcome.code == ExitCode.LIMIT_MISSED and settling.seconds == 6
    assert "run-stop" not in settling.calls
    document = kept()
    assert document["outcome"]["reason"] == "completed" and not document["outcome"]["ok"]
    assert document["outcome"]["text"].startswith(
        "the run completed; --stop-when iops < 110 was true: iops was "
    )


def test_errors_as_a_threshold_are_code_7_and_in_the_result(
    spekctl: Spekctl, kernel: FakeKernel
) -> None:
    kernel.errors = 3
    assert run(spekctl, "--stop-when", "errors > 0").code == ExitCode.LIMIT_MISSED
    assert "3 I/Os failed" in kept()["outcome"]["text"]


def test_a_threshold_that_holds_changes_nothing(spekctl: Spekctl, kernel: FakeKernel) -> None:
    assert run(spekctl, "--stop-when", "p99 > 1s", time="3s").code == ExitCode.OK
    document = kept()
    assert document["outcome"]["text"] == "the run completed"
    assert document["ending"]["stopped_by"] == "" and document["ending"]["steady"] is None


def test_a_failed_run_stays_a_failed_run(spekctl: Spekctl, kernel: FakeKernel) -> None:
    kernel.end_reason = Reason.DEVICE_GONE
    outcome = run(spekctl, "--until", "steady:window=9", time="9s")
    # Steady in the interval in which the device goes away: the run has failed all the same.
    assert outcome.code == ExitCode.RUN_FAILED
    assert kept()["outcome"]["text"].startswith("a device was removed during the run")


def test_io_errors_without_steady_state_are_code_1(spekctl: Spekctl, kernel: FakeKernel) -> None:
    kernel.errors = 1
    kernel.ios_in = lambda second: 100 + 50 * (second % 2)
    assert run(spekctl, "--until", "steady", time="7s").code == ExitCode.RUN_FAILED


def test_ctrl_c_comes_first(spekctl: Spekctl, settling: FakeKernel) -> None:
    settling.on_wait = lambda second: os.kill(os.getpid(), signal.SIGINT) if second == 3 else None
    outcome = run(spekctl, "--until", "steady")
    assert outcome.code == ExitCode.INTERRUPTED
    document = kept()
    assert document["outcome"]["text"].startswith("the run was stopped early; steady state of iops")
    assert document["ending"]["steady"] is False


def test_a_stop_that_fails_is_the_failure(spekctl: Spekctl, settling: FakeKernel) -> None:
    settling.refuse["run-stop"] = error_from_errno(5, "The run cannot be stopped.", "run-stop")
    outcome = run(spekctl, "--until", "steady")
    assert outcome.code == ExitCode.RUN_FAILED
    assert outcome.err.splitlines()[-1] == "spekctl: The run cannot be stopped."


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (("--until", "steady", "--interval", "0"), "--interval 0 has none"),
        (("--stop-when", "errors > 0", "--interval", "0"), "--stop-when is judged at each report"),
        (("--until", "steady", "--time", "4s"), "5 rounds of --interval 1s are longer than the"),
        (("--until", "steady:write.iops"), "write.iops: random-read-4k has no writes"),
        (("--stop-when", "write.p99 > 1s"), "write.p99: random-read-4k has no writes"),
        (("--until", "soon"), "'soon' is not an end of a run"),
        (("--stop-when", "p99 > 10"), "has no unit"),
        (("--stop-when", ""), "is not a threshold"),
    ],
)
def test_what_cannot_be_is_refused(
    spekctl: Spekctl, kernel: FakeKernel, options: tuple[str, ...], sentence: str
) -> None:
    outcome = run(spekctl, *options)
    assert outcome.code == ExitCode.USAGE and sentence in outcome.sentence
    assert "run-new" not in kernel.calls and not Path("r.json").exists()


def test_a_detached_run_has_nobody_to_end_it(spekctl: Spekctl, kernel: FakeKernel) -> None:
    outcome = spekctl(
        *("run", "random-read-4k", "-d", "/dev/fake0", "--detach", "--until", "steady")
    )
    assert outcome.code == ExitCode.USAGE
    assert outcome.sentence.startswith("--until cannot be combined with --detach")


@pytest.mark.parametrize(
    ("load", "until", "watched", "remark"),
    [
        (("--depth", "4"), "steady", "iops", None),
        (("--depth", "4"), "steady:iops", "iops", None),
        (("--rate", "100"), "steady", "latency", None),
        (("--rate", "100"), "steady:iops,p99", "iops,p99", None),
        (("--rate", "100"), "steady:iops", "iops", "the offered rate of 100 sets iops, which are"),
        (("--depth", "4", "--set", "arrival.main.think=1ms"), "steady", "latency", None),
        (
            ("--depth", "4", "--set", "arrival.main.limit=100"),
            "steady:read.iops",
            "read.iops",
            "the limit of 100 sets read.iops, which are steady",
        ),
    ],
)
def test_steady_state_is_that_of_a_figure_that_the_load_does_not_fix(
    spekctl: Spekctl,
    settling: FakeKernel,
    load: tuple[str, ...],
    until: str,
    watched: str,
    remark: str | None,
) -> None:
    """The IOPS of an open loop are steady on any device that keeps up with it."""
    outcome = spekctl(
        *("run", "random-read-4k", "-d", "/dev/fake0", *load, "--time", "60s"),
        *("--until", until, "--json", "--progress", "none"),
    )
    document = json.loads(outcome.out)
    assert document["ending"]["until"].startswith(f"steady:{watched},window=")
    said = [text for text in document["remarks"] if text.startswith("--until")]
    assert len(said) == (remark is not None) and all(remark in text for text in said)


def test_a_sweep_ends_each_run(spekctl: Spekctl, settling: FakeKernel) -> None:
    outcome = spekctl(
        *("sweep", "random-read-4k", "-d", "/dev/fake0", "--depth", "4", "--time", "60s"),
        *("--until", "steady", "--json", "--progress", "none"),
    )
    assert outcome.code == ExitCode.OK
    (point,) = json.loads(outcome.out)["points"]
    assert point["ok"] and not point["limit_missed"] and point["measured_ns"] == 10 * 10**9
    settling.seconds = 0
    missed = spekctl(
        *("sweep", "random-read-4k", "-d", "/dev/fake0", "--depth", "4", "--time", "60s"),
        *("--stop-when", "iops < 110", "--json", "--progress", "none"),
    )
    assert missed.code == ExitCode.LIMIT_MISSED
    (point,) = json.loads(missed.out)["points"]
    assert point["limit_missed"] and "iops was 105" in point["text"]


def test_the_shell_completes_the_parts() -> None:
    import click

    from spekctl.commands import run as command
    from spekctl.commands.options import complete_until

    context = click.Context(command.command)
    parameter = next(parameter for parameter in command.command.params if parameter.name == "until")

    def words(incomplete: str) -> list[str]:
        return [item.value for item in complete_until(context, parameter, incomplete)]

    assert words("st") == ["steady", "steady:"]
    assert words("steady:iops,w") == ["steady:iops,window="]
    assert "steady:latency" in words("steady:")
