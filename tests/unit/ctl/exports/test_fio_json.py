# SPDX-License-Identifier: GPL-2.0
"""fio's JSON of a result, beside that which fio itself writes."""

from __future__ import annotations

import errno
import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from lib.ctl import results
from lib.ctl.command_line import Spekctl
from lib.ctl.fio_jobs import fio
from lib.ctl.fleets import Spec, facts_of, fleet_of, result_of, three
from lib.fakes.kernel import SECOND, FakeKernel
from lib.waiting import LONG_S
from msgspec.structs import replace

from spekctl.documents import steady
from spekctl.documents.hosts import HostFacts, Role
from spekctl.documents.result import Result
from spekctl.documents.result_parts import Clocks, EndingResult
from spekctl.documents.steady import Criteria
from spekctl.errors import ExitCode, UsageError
from spekctl.exports import fio_json
from spekctl.fleet.merge import merge, without_run
from spekctl.kernel.records import Direction, Phase, Reason


def differences(ours: Any, theirs: Any, place: str = "") -> list[str]:
    """Where two JSON values differ in keys, types or nesting."""
    if type(ours) is not type(theirs):
        return [f"{place}: {type(ours).__name__} and {type(theirs).__name__}"]
    if isinstance(ours, list):
        return differences(ours[0], theirs[0], f"{place}[]") if ours and theirs else []
    if not isinstance(ours, dict):
        return []
    if place.endswith("options"):  # options of another job
        kinds = {type(value) for value in (*ours.values(), *theirs.values())}
        return [] if kinds == {str} else [f"{place}: {kinds}"]
    if place.endswith(".bins"):
        numbers = [(*map(int, bins), *bins.values()) for bins in (ours, theirs)]
        return [] if all(isinstance(value, int) for bins in numbers for value in bins) else [place]
    paths = [f"{place}.{key}: only in one" for key in ours.keys() ^ theirs.keys()]
    for key in ours.keys() & theirs.keys():
        paths += differences(ours[key], theirs[key], f"{place}.{key}")
    return paths


# What later versions tell as well, or of each client, and what fio tells of disks that it finds in
# sysfs.
OF_SOME = (
    ".job_start: only in one",
    ".global options: dict and list",
    ".disk_util: only in one",
)


def unlike(ours: Any, theirs: Any) -> list[str]:
    """Differences that are there with any version of fio."""
    return [place for place in differences(ours, theirs) if not place.endswith(OF_SOME)]


def in_common(ours: dict[str, Any], theirs: dict[str, Any]) -> bool:
    """True if the keys of both have the same order."""
    return [key for key in ours if key in theirs] == [key for key in theirs if key in ours]


def test_it_has_the_keys_types_and_nesting_of_fio(ours: Result, theirs: Path) -> None:
    document = json.loads(fio_json.encode(ours))
    real = json.loads((theirs / "out.json").read_text())
    assert unlike(document, real) == [] and "disk_util" in document
    # In the order of fio, which readers of text rely on.
    assert in_common(document["jobs"][0], real["jobs"][0])
    assert in_common(document["jobs"][0]["read"], real["jobs"][0]["read"])


def test_the_comparison_finds_what_differs() -> None:
    assert differences({"a": 1}, {"a": 1.0}, "x") == ["x.a: int and float"]
    assert differences({"a": [{"b": 1}]}, {"a": [{}]}, "x") == ["x.a[].b: only in one"]


def until_steady(result: Result, variable: str, limits: Criteria) -> Result:
    """The result of a run that was to end at a steady state of its four intervals."""
    values = [15.0, 25.0, 40.0, 20.0]
    if variable == "bandwidth":
        values = [8192 * value for value in values]
    window = steady.judge(variable, values, limits)
    return replace(
        result,
        ending=EndingResult(
            until="steady",
            criteria=limits,
            round_ns=SECOND,
            steady=window.steady,
            rounds=4,
            windows=[replace(window, variable="response"), window],
            stop_when=[],
            stopped_by="",
            text="",
        ),
    )


@pytest.mark.parametrize("option", ["iops:90%", "bw_slope:90%"])
def test_a_steady_state_has_the_form_and_units_of_fio(
    option: str, ours: Result, tmp_path: Path
) -> None:
    job = (
        f"[j]\nfilename={tmp_path}/file\nsize=1m\nrw=randread\nbs=4k\nioengine=psync\n"
        f"thinktime=1000\ntime_based\nruntime=9\nss={option}\nss_dur=2\n"
    )
    (tmp_path / "job.fio").write_text(job)
    out = tmp_path / "out.json"
    done = fio("--output-format=json", f"--output={out}", tmp_path / "job.fio")
    assert done.returncode == 0, done.stderr
    real = json.loads(out.read_text())["jobs"][0]["steadystate"]
    by_slope = "slope" in option
    limits = Criteria(4, 1.0, 0.3) if by_slope else Criteria(4, 0.5, 1.0)
    variable = "bandwidth" if by_slope else "iops"
    (exported,) = json.loads(fio_json.encode(until_steady(ours, variable, limits)))["jobs"]
    assert differences(exported["steadystate"], real) == []
    assert list(exported["steadystate"]) == list(real)
    # In both, bandwidth is in bytes per second, and what is not judged is 0.
    for told, block in ((real, 4096), (exported["steadystate"], 8192)):
        data = told["data"]
        for iops, bandwidth in zip(data["iops"], data["bw"], strict=True):
            assert bandwidth == pytest.approx(block * iops, rel=0.05)
        figure = told["slope"] if by_slope else told["max_deviation"]
        assert (told["max_deviation"] if by_slope else told["slope"]) == 0.0
        mean = data["bw_mean"] if by_slope else data["iops_mean"]
        share = float(told["criterion"].removesuffix("%")) / 100
        assert share == pytest.approx(figure / mean, rel=0.05, abs=1e-4)


def test_a_steady_state_is_judged_in_the_terms_of_fio(ours: Result) -> None:
    def told(variable: str, limits: Criteria) -> dict[str, Any]:
        (job,) = json.loads(fio_json.encode(until_steady(ours, variable, limits)))["jobs"]
        section: dict[str, Any] = job.get("steadystate", {})
        return section

    assert told("iops", Criteria(4, 1.9, 1.0)) == {
        **{"ss": "iops:95.000000%", "duration": 4, "attained": 1, "criterion": "60.000000%"},
        **{"max_deviation": 15.0, "slope": 0.0},
        "data": {
            **{"bw_mean": 25 * 8192, "iops_mean": 25, "iops": [15, 25, 40, 20]},
            "bw": [8192 * value for value in (15, 25, 40, 20)],
        },
    }
    # 3 I/Os per second more from round to round: 12 % of the mean.
    slope = told("iops", Criteria(4, 1.0, 0.3))
    assert (slope["ss"], slope["criterion"]) == ("iops_slope:10.000000%", "12.000000%")
    assert (slope["slope"], slope["max_deviation"]) == (3.0, 0.0)
    assert slope["attained"] == 0
    assert told("bandwidth", Criteria(4, 0.2, 0.1))["ss"] == "bw:10.000000%"
    assert told("service", Criteria(4, 0.2, 0.1)) == {}
    (plain,) = json.loads(fio_json.encode(ours))["jobs"]
    assert "steadystate" not in plain


def test_the_figures_are_those_of_the_result(ours: Result) -> None:
    (job,) = json.loads(fio_json.encode(ours))["jobs"]
    reads, writes = job["read"], job["write"]
    assert (reads["total_ios"], writes["total_ios"]) == (70, 30)
    assert reads["io_bytes"] == 70 * 8192 and reads["runtime"] == 4000
    assert reads["iops"] == 17.5 and reads["bw"] == 140 and reads["bw_bytes"] == 143360
    assert (reads["iops_min"], reads["iops_max"], reads["iops_mean"]) == (10, 30, 17.5)
    assert reads["iops_stddev"] == pytest.approx(9.574, abs=1e-3) and reads["iops_samples"] == 4
    lat = reads["lat_ns"]
    assert (lat["min"], lat["max"], lat["N"]) == (results.READS[0], results.READS[-1], 70)
    assert lat["mean"] == sum(results.READS) / 70
    assert lat["percentile"]["50.000000"] == pytest.approx(results.READS[34], rel=1 / 128)
    assert sum(lat["bins"].values()) == 70
    assert lat["stddev"] == pytest.approx(977 * 20.35, rel=0.01)
    assert job["trim"]["total_ios"] == 0 and job["sync"]["total_ios"] == 0
    assert sum(job["latency_us"].values()) + sum(job["latency_ms"].values()) == pytest.approx(100)
    assert job["iodepth_level"]["16"] == 100
    options = job["job options"]
    assert (options["rw"], options["bs"], options["iodepth"]) == ("randrw", "8k", "16")
    assert (options["numjobs"], options["rwmixread"]) == ("1", "70")


def test_a_run_that_had_not_ended_lasted_up_to_its_last_phase(ours: Result) -> None:
    start = replace(ours.start, realtime_ns=1_700_000_000 * 10**9)
    last = ours.phases[-1].end_ns - ours.start.monotonic_ns
    ended = replace(
        ours,
        start=start,
        end=replace(ours.end, monotonic_ns=ours.phases[-1].end_ns,
                    realtime_ns=start.realtime_ns + last),
    )  # fmt: skip
    hung = replace(ended, end=Clocks(0, 0, 0))
    for encode in (fio_json.encode, lambda result: fio_json.encode_clients([result])):
        assert encode(hung) == encode(ended)
    document = json.loads(fio_json.encode(hung))
    assert document["timestamp"] == 1_700_000_005 and document["time"].endswith("2023")
    assert document["jobs"][0]["elapsed"] == 6


def test_an_empty_result_has_zeros() -> None:
    (job,) = json.loads(fio_json.encode(results.build(cells=())))["jobs"]
    assert job["read"]["iops"] == 0 and job["read"]["lat_ns"]["N"] == 0
    assert sum(job["latency_us"].values()) == 0


def test_a_run_that_failed_without_an_error_of_io_has_one(ours: Result) -> None:
    """Readers go by error alone."""
    gone = replace(ours.outcome, ok=False, text="a device was removed", reason=Reason.DEVICE_GONE)
    for outcome, code in (
        (ours.outcome, 0),
        (gone, errno.EIO),
        (replace(gone, errors=3, errors_by_cause={"ENOSPC": 2, "EIO": 1}), errno.ENOSPC),
    ):
        (job,) = json.loads(fio_json.encode(replace(ours, outcome=outcome)))["jobs"]
        assert job["error"] == code


@pytest.mark.parametrize("ended_by", ["", "p99 > 1ms"])
def test_a_whole_run_that_missed_its_limit_has_no_error(ours: Result, ended_by: str) -> None:
    """No steady state, or a threshold that ended it: its figures are those of all its I/Os."""
    ending = EndingResult(
        until=None if ended_by else "steady",
        criteria=None,
        round_ns=SECOND,
        steady=None if ended_by else False,
        rounds=4,
        windows=[],
        stop_when=[ended_by] if ended_by else [],
        stopped_by=ended_by,
        text="missed",
    )
    missed = replace(ours, ending=ending)
    assert missed.failure
    (job,) = json.loads(fio_json.encode(missed))["jobs"]
    assert job["error"] == 0


BUCKETS = (".percentile: only in one", ".bins: only in one")


@pytest.fixture
def clients(ours: Result) -> list[dict[str, Any]]:
    """The client_stats of two hosts, of which the other did the reads of one second only."""
    cells = [results.cell(Direction.READ, [50_000] * 10)]
    shorter = replace(results.build(cells=cells), intervals=ours.intervals[:1])
    document = json.loads(fio_json.encode_clients([on(ours, "alpha"), on(shorter, "beta")]))
    stats: list[dict[str, Any]] = document["client_stats"]
    return stats


def on(result: Result, host: str) -> Result:
    """@result, measured by another host."""
    return replace(result, environment=replace(result.environment, hostname=host))


def test_several_results_have_the_form_of_clients(ours: Result, their_clients: Any) -> None:
    document = json.loads(fio_json.encode_clients([on(ours, "alpha"), on(ours, "beta")]))
    assert unlike(document, their_clients) == [] and "disk_util" in document
    assert in_common(document, their_clients)
    for mine, real in zip(document["client_stats"], their_clients["client_stats"], strict=True):
        assert in_common(mine, real)
    mine, real = document["client_stats"][-1], their_clients["client_stats"][-1]
    # fio 3.33 does not list the percentiles of the sum.
    assert [place for place in unlike(mine, real) if not place.endswith(BUCKETS)] == []


@pytest.mark.parametrize(
    ("sizes", "told"),
    [
        ([102912], "102912"),
        ([4096, 1 << 20], "4k-1m"),
        ([4608, 512], "512-4608"),
        ([3 << 30], "3g"),
        ([1025 << 10], "1025k"),
    ],
)
def test_block_sizes_are_not_rounded(ours: Result, sizes: list[int], told: str) -> None:
    (stream,) = ours.config.streams
    (size,) = stream.sizes
    changed = replace(stream, sizes=[replace(size, bytes=each) for each in sizes])
    other = replace(ours, config=replace(ours.config, streams=[changed]))
    assert json.loads(fio_json.encode(other))["jobs"][0]["job options"]["bs"] == told


def test_options_of_all_clients_are_global(ours: Result) -> None:
    """There programs that read the results of several hosts look for them."""
    hosts = [on(ours, "alpha"), on(ours, "beta")]
    options = json.loads(fio_json.encode_clients(hosts))["global options"]
    expected = {"rw": "randrw", "bs": "8k", "iodepth": "16", "numjobs": "1", "ioengine": "spek"}
    assert expected.items() <= options.items() and "name" not in options
    deeper = replace(
        ours,
        config=replace(
            ours.config, arrivals=[replace(arrival, depth=32) for arrival in ours.config.arrivals]
        ),
    )
    options = json.loads(fio_json.encode_clients([ours, deeper]))["global options"]
    assert options["rw"] == "randrw" and "iodepth" not in options


def test_clients_have_the_name_of_their_host(clients: list[dict[str, Any]]) -> None:
    assert [(client["jobname"], client["hostname"], client["port"]) for client in clients] == [
        ("mixed-70-30-8k", "alpha", 0),
        ("mixed-70-30-8k", "beta", 0),
        ("All clients", "All clients", 0),
    ]


def check_sums(clients: list[dict[str, Any]]) -> None:
    """The last of them is what fio makes of the others."""
    *parts, whole = clients
    assert whole["jobname"] == "All clients"
    for key in ("ctx", "job_runtime"):
        assert whole[key] == sum(part[key] for part in parts), key
    for way in ("read", "write"):
        sides, total = [part[way] for part in parts], whole[way]
        for key in ("io_bytes", "total_ios", "bw_samples", "iops_samples"):
            assert total[key] == sum(side[key] for side in sides), (way, key)
        for key in ("bw_min", "bw_max", "iops_min", "iops_max"):
            assert total[key] == pytest.approx(sum(side[key] for side in sides), abs=2), (way, key)
        assert total["runtime"] == max(side["runtime"] for side in sides)
        for figures in (*sides, total):
            runtime = figures["runtime"] or 1  # nothing was done in none
            assert figures["bw_bytes"] == 1000 * figures["io_bytes"] // runtime, way
            assert figures["bw"] == figures["bw_bytes"] >> 10, way
            assert figures["iops"] == pytest.approx(
                1000 * figures["total_ios"] / runtime, abs=1e-5
            ), way
        for mean, deviation, count in (
            ("bw_mean", "bw_dev", "bw_samples"),
            ("iops_mean", "iops_stddev", "iops_samples"),
        ):
            assert total[mean] == pytest.approx(sum(side[mean] for side in sides)), (way, mean)
            squares = sum(side[deviation] ** 2 * (side[count] - 1) for side in sides if side[count])
            expected = (squares / (total[count] - 1)) ** 0.5 if total[count] > 1 else 0
            assert total[deviation] == pytest.approx(expected, rel=1e-4), (way, deviation)
        for key in ("slat_ns", "clat_ns", "lat_ns"):
            assert total[key]["N"] == sum(side[key]["N"] for side in sides), (way, key)
            used = [side[key] for side in sides if side[key]["N"]]
            assert total[key]["min"] == min(side["min"] for side in used), (way, key)
            assert total[key]["max"] == max(side["max"] for side in used), (way, key)


def test_sums_of_clients_are_those_of_fio(
    clients: list[dict[str, Any]], their_clients: Any
) -> None:
    check_sums(their_clients["client_stats"])
    check_sums(clients)


def lasting(result: Result, seconds: int) -> Result:
    """@result with a measure phase of this length."""
    phases = [
        replace(phase, end_ns=phase.start_ns + seconds * SECOND)
        if phase.phase is Phase.MEASURE
        else phase
        for phase in result.phases
    ]
    return replace(result, phases=phases)


def test_rates_of_all_clients_are_those_of_the_longest_that_had_such_ios(ours: Result) -> None:
    """Alpha read and wrote for 4 s; beta read for 8 s, and gamma did nothing for 16 s."""
    reads = results.build(cells=[results.cell(Direction.READ, [50_000] * 10)])
    hosts = [on(ours, "alpha"), on(lasting(reads, 8), "beta")]
    hosts.append(on(lasting(results.build(cells=()), 16), "gamma"))

    stats = json.loads(fio_json.encode_clients(hosts))["client_stats"]

    check_sums(stats)
    read, write = stats[-1]["read"], stats[-1]["write"]
    assert (read["runtime"], read["total_ios"], read["iops"]) == (8000, 80, 10)
    assert (read["bw_bytes"], read["bw"]) == (81920, 80)
    assert (write["runtime"], write["total_ios"], write["iops"]) == (4000, 30, 7.5)
    assert (write["bw_bytes"], write["bw"]) == (61440, 60)


def test_percentiles_of_all_clients_are_those_of_all_ios(clients: list[dict[str, Any]]) -> None:
    lat = clients[-1]["read"]["lat_ns"]
    everything = sorted([*results.READS, *[50_000] * 10])
    assert lat["percentile"]["90.000000"] == pytest.approx(everything[71], rel=1 / 128)
    assert sum(lat["bins"].values()) == 80


def test_disks_of_clients_have_their_host(ours: Result) -> None:
    document = json.loads(fio_json.encode_clients([on(ours, "alpha"), on(ours, "beta")]))
    disks = [(disk["name"], disk["hostname"]) for disk in document["disk_util"]]
    assert disks == [("x", "alpha"), ("x", "beta")]


def test_run_writes_the_files(spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path) -> None:
    words = ("run", "random-read-4k", "--device", "/dev/fake0", "--progress", "none")
    exports = ("--fio-json", "out.json", "--fio-logs", "L", "--hdr-log", "out.hlog")
    outcome = spekctl(*words, *exports)
    assert outcome.code == ExitCode.OK, outcome.err
    names = {path.name for path in tmp_path.iterdir()}
    assert names >= {"out.json", "out.hlog", "L_bw.1.log", "L_clat_hist.1.log"}
    (job,) = json.loads((tmp_path / "out.json").read_text())["jobs"]
    assert job["jobname"] == "random-read-4k" and job["job options"]["rw"] == "randread"


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--fio-json", "none/x.json"), "there is no directory none"),
        (("--fio-logs", "none/x"), "there is no directory none"),
        (("--hdr-log", "x", "--fio-json", "x"), "--fio-json and --hdr-log are the same file"),
        (("-o", "x", "--hdr-log", "x"), "--output and --hdr-log are the same file"),
        (("--detach", "--fio-json", "x"), "--fio-json cannot be combined with --detach"),
    ],
)
def test_files_that_cannot_be_written_are_refused(
    spekctl: Spekctl, kernel: FakeKernel, words: tuple[str, ...], sentence: str
) -> None:
    outcome = spekctl("run", "random-read-4k", "--device", "/dev/fake0", *words)
    assert outcome.code == ExitCode.USAGE and sentence in outcome.sentence


def test_fio_plot_draws_it(ours: Result, tmp_path: Path) -> None:
    if importlib.util.find_spec("fio_plot") is None:
        pytest.skip("fio-plot is not installed (pip install 'spekctl[test]')")
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "out.json").write_bytes(fio_json.encode(ours))
    words = ["-i", str(folder), "-T", "spek", "-r", "randrw", "-d", "16", "-n", "1"]
    for form in (["-l", "-f", "read"], ["-H", "-f", "write"]):
        output = tmp_path / f"plot{form[0]}.png"
        call = [sys.executable, "-m", "fio_plot", *words, *form, "-o", str(output)]
        done = subprocess.run(call, capture_output=True, text=True, timeout=LONG_S, check=False)
        assert done.returncode == 0, done.stdout + done.stderr
        assert output.stat().st_size > 10_000


def test_the_hosts_of_a_fleet_are_clients() -> None:
    fleet = merge(three())
    document = json.loads(fio_json.encode(fleet))
    stats = document["client_stats"]
    assert [entry["hostname"] for entry in stats] == ["alpha", "beta", "gamma", "All clients"]
    assert [entry["read"]["total_ios"] for entry in stats] == [240, 160, 80, 480]
    assert "jobs" not in document
    assert document == json.loads(fio_json.encode_clients([fleet]))


def test_a_lost_host_is_a_client_with_an_error() -> None:
    alpha = fleet_of(Spec("alpha"))
    target = facts_of(Spec("store"), role=Role.TARGET)
    lost = facts_of(Spec("beta", lost_s=2))
    fleet = merge([
        alpha, *(without_run(facts, alpha.workload, alpha.config) for facts in (lost, target))
    ])  # fmt: skip
    document = json.loads(fio_json.encode(fleet))
    stats = document["client_stats"]
    assert [(entry["hostname"], entry["error"]) for entry in stats] == [
        ("alpha", 0), ("beta", errno.EIO), ("All clients", errno.EIO)
    ]  # fmt: skip
    ours, silent, whole = (entry["read"] for entry in stats)
    assert (silent["total_ios"], silent["runtime"]) == (0, 0)
    assert whole["total_ios"] == ours["total_ios"] == 8
    assert stats[1].keys() == stats[0].keys()
    kept = json.loads(fio_json.encode(merge([alpha])))
    assert [document[key] for key in ("timestamp", "disk_util")] == [
        kept[key] for key in ("timestamp", "disk_util")
    ]


def test_a_fleet_is_no_step_and_needs_a_host_with_a_result() -> None:
    own = result_of(Spec("alpha"))
    with pytest.raises(UsageError, match="not fleets in steps"):
        fio_json.encode(own, merge(three()))
    lost = without_run(HostFacts("alpha"), own.workload, own.config)
    with pytest.raises(UsageError, match="no host of the fleet has one"):
        fio_json.encode(lost)
