# SPDX-License-Identifier: GPL-2.0
"""Options of a plan are held to the limits of a run of one host, before any host is asked."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from spekctl.errors import RefusedError, UsageError
from spekctl.fleet import loads, plan
from spekctl.run import request as run_request
from spekctl.workload import file as workload_file
from spekctl.workload import options
from spekctl.workload.layout import Target
from spekctl.workload.options import OPTIONS, Kind

HOST = '[[host]]\nname = "{}"\ndevices = ["/dev/fake0"]\n'
# Of any kind of option; each is refused by some of them.
ABSURD = ("0", "-1", "1e400", "5e20", "99999999999999999999", "18446744073709551616", "1", "0ns")
ABSURD_BY_KIND = {
    Kind.DURATION: ("0s", "1ns", "18446744073709551615ns", "99999999999h"),
    Kind.DURATION_WITH_UNIT: ("0s", "18446744073709551615ns"),
    Kind.SIZE: ("0", "511", "513", "2GiB", "18446744073709551615"),
    Kind.CPUS: ("0",),
    Kind.UNTIL: ("steady", "steady:iops,window=100000"),
}
TARGET = Target("/dev/fake0", 259, 0, 1 << 40, 512)
# CPUs are those of the host, and a seed is the plan's.
OF_HOST = {"workers", "cpus", "seed"}


def checked(text: str, workload: str = "mixed-70-30-8k", extra: str = "") -> plan.Plan:
    """The plan of two hosts with these lines as options, after its check."""
    planned = plan.parse(
        f'[fleet]\nlisten = "tls://10.0.0.1:8786"\nworkload = "{workload}"\nshare = "split"\n'
        f"[fleet.options]\n{text}\n{HOST.format('a')}{extra}{HOST.format('b')}"
    )
    loads.check(planned)
    return planned


def refused(text: str, workload: str = "mixed-70-30-8k", extra: str = "") -> str:
    with pytest.raises(UsageError) as refusal:
        checked(text, workload, extra)
    return refusal.value.message


@pytest.mark.parametrize("workload", ["mixed-70-30-8k", "random-read-4k", "spc1"])
@pytest.mark.parametrize("name", sorted(OPTIONS.keys() - OF_HOST))
def test_what_a_run_of_one_host_refuses_is_refused_of_a_fleet(name: str, workload: str) -> None:
    option = OPTIONS[name]
    flag = option.flag_text[2:]
    given: list[object] = [*ABSURD_BY_KIND.get(option.kind, ABSURD)]
    if option.kind is Kind.FLAG:
        given = [True]
    elif option.kind is Kind.CHOICE:
        given = list(option.choices)
    elif option.kind is Kind.THRESHOLDS:
        given = [["iops > 5"], ["iops"]]
    # A load in BSUs is needed where the workload scales by them, and is divided among the hosts.
    beside = {"bsu": "4"} if workload == "spc1" and name not in ("bsu", "depth", "rate") else {}
    for value in given:
        shown = str(value).lower() if option.kind is Kind.FLAG else repr(value).replace("'", '"')
        lines = "\n".join([f"{flag} = {shown}", *(f'{key} = "{n}"' for key, n in beside.items())])
        try:
            load, _ = options.read({**beside, flag: value})
            load = dataclasses.replace(load, available_cpus=[0])
            run_request.configured(workload_file.load(workload), load, [TARGET])
        except UsageError:
            refused(lines, workload)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ('rate = "5e20"', "--rate: a rate of 5e+20 is more than 1000000000 I/Os per second"),
        ('max-outstanding = "0"', "--max-outstanding must be 1 to "),
        ('rate = "5"\ndepth = "5"', "--rate and --depth exclude each other"),
        ('log-buffer = "4096"', "--log-buffer needs --log as well"),
        ('log = "x.parquet"\nlog-buffer = "1"', "--log-buffer must be between "),
        ('heat-map = true\ninterval = "0"', "--heat-map needs report intervals"),
        ('stop-when = ["errors > 0"]\ninterval = "0"', "--stop-when is judged at each report"),
        ('until = "steady"\ntime = "2s"', "--until: 5 rounds of --interval 1s are longer than"),
        ('power-baseline = "hot"', "--power-baseline: 'hot' is not a power"),
        ('stripe = "3KiB"', "--stripe must be a power of two"),
    ],
)
def test_what_is_beyond_a_limit_is_named(text: str, sentence: str) -> None:
    assert refused(text).startswith(sentence)


def test_an_end_by_count_leaves_the_length_of_steady_state_open() -> None:
    checked('until = "steady"\ncount = "100"\ntime = "2s"')


def test_a_host_with_other_options_is_named() -> None:
    text = refused("", extra='options = {depth = "0"}\n')
    assert text.startswith("host 'a': --depth must be 1 to ")


def test_power_feeds_need_the_prober() -> None:
    assert "--power-feed and --no-prober exclude each other" in refused(
        "no-prober = true", extra='power_feeds = ["psu"]\n'
    )


def test_destroy_needs_write() -> None:
    assert "destroy needs write = true" in refused("", extra='destroy = ["S1"]\n')
    checked("write = true", extra='destroy = ["S1"]\n')


def test_a_trace_has_its_own_requests(tmp_path: Path) -> None:
    (tmp_path / "mail.toml").write_text(
        '[workload]\nname = "mail"\nsummary = "x"\n[[stream]]\nname = "trace"\npattern = "trace"\n'
        'trace.files = ["/traces/mail.csv"]\n'
    )
    assert "replays a trace, which has its own requests: remove --depth" in refused(
        'depth = "5"', str(tmp_path / "mail.toml")
    )
    # Only hosts have read it, and know whether it writes.
    assert loads.writes_without_leave(checked("", str(tmp_path / "mail.toml"))) == ""


def test_a_fleet_that_writes_needs_write() -> None:
    sentence = "mixed-70-30-8k writes to the devices of all hosts; to allow that, say so"
    with pytest.raises(RefusedError, match=sentence):
        loads.check_write(checked(""), "say so")
    loads.check_write(checked("write = true"), "say so")
    loads.check_write(checked("", "random-read-4k"), "say so")
