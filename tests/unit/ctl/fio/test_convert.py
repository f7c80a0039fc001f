# SPDX-License-Identifier: GPL-2.0
"""Files of jobs as workloads: ten kinds of them, and a corpus as people write them."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.fio_jobs import HEAD, JOBS, NAMES, fio, imported, stream, tables

from spekctl.errors import ExitCode, UsageError
from spekctl.fio import convert, jobfile
from spekctl.fio import job as fio_job
from spekctl.fio.ends import RAMP, TOGETHER
from spekctl.fio.options import COMMANDS, VERIFIED
from spekctl.fio.phases import LEFT, OVER, TAKEN_OVER
from spekctl.fio.plan import Asked
from spekctl.render.imported import report_lines
from spekctl.workload import file
from spekctl.workload.imported import Imported
from spekctl.workload.layout import Target
from spekctl.workload.options import Options
from spekctl.workload.resolve import resolve
from spekctl.workload.values import STREAMS_MAX


@pytest.mark.parametrize("name", NAMES)
def test_the_workload_can_run(name: str) -> None:
    converted = convert.load(JOBS / f"{name}.fio")
    config = resolve(
        converted.workload,
        Options(write=True, available_cpus=[0, 1]),
        [Target("/dev/sdx", 8, 0, 100 << 30, 512)],
    )
    assert config.streams and config.max_outstanding
    options = {key for job in jobfile.read(JOBS / f"{name}.fio") for key in job.options}
    assert options == {*converted.mapped, *converted.not_needed}


def test_random_reads(tmp_path: Path) -> None:
    converted = convert.load(JOBS / "random-read.fio")
    sections = tables(converted)
    assert sections["run"] == {"time": "1m", "ramp": "5s", "data": "random"}
    assert sections["arrival"] == [{"name": "randread", "depth": 64}]
    assert [(entry["pattern"], entry["size"]) for entry in sections["stream"]] == [
        ("once", 4096)
    ] * 2
    assert converted.command_line == ["--device /dev/sdx", "--max-errors 1"]
    assert converted.not_needed.keys() == {"group_reporting"}


def test_oltp_with_a_log() -> None:
    converted = convert.load(JOBS / "oltp.fio")
    sections = tables(converted)
    data, log = sections["stream"]
    assert (data["read"], data["size"], data.get("pattern")) == ("67%", 8192, None)
    assert (log["read"], log["pattern"], log["start"], log["range"]) == (
        *("0%", "sequential"),
        *("90%", "10%"),
    )
    assert log["sizes"] == [
        {"size": 4096, "share": 6},
        {"size": 8192, "share": 3},
        {"size": 16384, "share": 1},
    ]
    assert sections["arrival"] == [
        {"name": "oltp", "depth": 16},
        {"name": "log", "law": "poisson", "rate": 500},
    ]
    assert converted.command_line == [
        *("--device /dev/sdx", "--write", "--max-errors 1", "--seed $RANDOM"),
    ]


def test_sequential_reads_and_writes_have_a_place_each() -> None:
    converted = convert.load(JOBS / "mixed-sequential.fio")
    reads, writes = tables(converted)["stream"]
    assert (reads["read"], reads["share"], reads["size"]) == ("100%", 80, 65536)
    assert (writes["read"], writes["share"], writes["size"]) == ("0%", 20, 131072)
    run = tables(converted)["run"]
    assert (run["time"], run["passes"]) == ("1h", 1)


def test_distributions() -> None:
    sections = tables(convert.load(JOBS / "distributions.fio"))
    zones, bell, selfsimilar = sections["stream"]
    assert [(zone["share"], zone["size"]) for zone in zones["zones"]] == [
        *(("60%", "10%"), ("30%", "20%"), ("10%", "70%")),
    ]
    assert (bell["pattern"], bell["deviation"], bell["width"], bell["spread"]) == (
        *("normal", "8.3333%"),
        *("20%", True),
    )
    assert (selfsimilar["h"], selfsimilar.get("center")) == (0.3, None)
    hot, *others = tables(convert.load(JOBS / "zipf.fio"))["stream"]
    # A stream for each clone: each has frequent blocks of its own.
    assert [{**other, "name": hot["name"]} for other in others] == [hot] * len(others)
    assert (hot["pattern"], hot["theta"], hot["range"], hot["start"]) == (
        *("zipf", 1.2),
        *(10 << 30, 1 << 30),
    )


def test_engines_that_wait_have_a_depth_of_one() -> None:
    converted = convert.load(JOBS / "strided.fio")
    assert tables(converted)["arrival"][0]["depth"] == 1
    assert stream(converted)["stride"] == 64 << 10
    assert tables(converted)["run"]["count"] == (1 << 30) // (64 << 10)
    assert any("psync ignores iodepth" in difference for difference in converted.differences)


def test_clones_start_one_after_the_other() -> None:
    converted = convert.load(JOBS / "clones.fio")
    sections = tables(converted)
    assert [entry.get("start", 0) >> 30 for entry in sections["stream"]] == [0, 1, 2, 3]
    loops = [(arrival["depth"], arrival["count"]) for arrival in sections["arrival"]]
    assert loops == [(2, 8192)] * 4
    assert (sections["run"].get("count"), sections["run"]["batch"]) == (None, 2)
    assert "--verify" in converted.command_line


def test_the_others() -> None:
    runs = convert.load(JOBS / "runs.fio")
    assert stream(runs)["run_length"] == 68 << 10 and tables(runs)["run"]["count"] == 10000
    sizes = convert.load(JOBS / "sizes.fio")
    assert [size["size"] for size in stream(sizes)["sizes"]] == [4096, 8192, 12288, 16384]
    assert "pattern" not in stream(sizes) and stream(sizes)["align"] == 4096
    assert "--cpus 0-1,3" in sizes.command_line and "--seed 77" in sizes.command_line
    think = convert.load(JOBS / "think.fio")
    assert stream(think) == {"read": "100%", "sequential": "75%", "size": 4096}
    assert tables(think)["arrival"][0]["think"] == "500us"


def test_discards_have_the_third_block_size() -> None:
    trim, reads = tables(convert.load(JOBS / "trim.fio"))["stream"]
    assert (trim["operation"], trim["size"], trim["pattern"]) == ("discard", 1 << 20, "once")
    assert "read" not in trim
    assert (reads.get("operation"), reads["size"]) == (None, 4096)


def test_durable_writes_are_forced_or_flushed() -> None:
    converted = convert.load(JOBS / "durable.fio")
    journal, data, flush = tables(converted)["stream"]
    assert (journal["fua"], journal["read"]) == (True, "0%")
    assert "fua" not in data
    # A quarter of the I/Os are writes, and a flush follows every fourth of these.
    assert (data["share"], flush.get("share", 1)) == (16, 1)
    assert flush["operation"] == "flush" and "size" not in flush
    assert flush["arrival"] == data["arrival"] != journal["arrival"]
    assert any("flushes are drawn" in text for text in converted.differences)


def test_sections_are_chosen(spekctl: Spekctl, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(HEAD + "[k]\ndirect=1\nstonewall\nrw=write\n")
    outcome = spekctl("fio", "job.fio", "--section", "k")
    assert outcome.code == ExitCode.OK
    assert [entry.name for entry in file.parse(outcome.out).stream] == ["k"]
    outcome = spekctl("fio", "job.fio", "--section", "kk")
    assert outcome.sentence == "there is no job 'kk' in job.fio; did you mean 'k'?"


def test_jobs_that_wait_are_steps(spekctl: Spekctl, tmp_path: Path) -> None:
    text = HEAD + "rw=write\nsize=1m\n[k]\nruntime=5\n[l]\nruntime=5\nwait_for=k\nstartdelay=3\n"
    (tmp_path / "job.fio").write_text(text.replace("[k]", "[k]\nstonewall"))
    outcome = spekctl("fio", "job.fio", "-o", "made.toml")
    assert outcome.code == ExitCode.OK, outcome.err
    names = [file.load(f"./made.{number}.toml").stream[0].name for number in (1, 2, 3)]
    assert names == ["j", "k", "l"]
    assert "step 3 of 3: job.3: made.3.toml" in outcome.err
    whole = spekctl("fio", "job.fio")
    assert (whole.code, whole.out.count("[workload]")) == (ExitCode.OK, 3)
    refused = spekctl("sweep", "fio:job.fio", "--device", "/dev/fake0", "--depth", "1,2")
    assert (refused.code, refused.out) == (ExitCode.USAGE, "")
    assert "run in 3 steps, one after the other" in refused.sentence
    single = spekctl("run", "fio:job.fio#k", "--device", "/dev/fake0", "--dry-run")
    assert single.code != ExitCode.OK or 'name = "k"' in single.out


def test_jobs_of_other_devices_are_workloads_that_start_together(
    spekctl: Spekctl, tmp_path: Path
) -> None:
    text = "[global]\ndirect=1\nioengine=libaio\nruntime=5\n[a]\nfilename=/dev/a\n[b]\n"
    text += "filename=/dev/b:/dev/c\n[a2]\nfilename=/dev/a\n[after]\nstonewall\nfilename=/dev/a\n"
    (tmp_path / "job.fio").write_text(text)
    steps = convert.load_steps(tmp_path / "job.fio")
    assert [(step.beside, [stream.name for stream in step.workload.stream]) for step in steps] == [
        (False, ["a", "a2"]),
        (True, ["b"]),
        (False, ["after"]),
    ]
    assert steps[1].command_line == ["--device /dev/b", "--device /dev/c", "--max-errors 1"]
    outcome = spekctl("fio", "job.fio", "-o", "made.toml")
    assert outcome.code == ExitCode.OK and (tmp_path / "made.3.toml").exists()
    assert "step 2 of 3: job.2, which starts together with step 1: made.2.toml" in outcome.err
    run = spekctl("run", "fio:job.fio", "--device", "/dev/fake0", "--dry-run")
    assert run.code == ExitCode.USAGE
    assert run.err.splitlines()[-1].endswith(
        "its jobs run side by side on 3 devices (/dev/a, /dev/b, /dev/c): give as many with"
        " --device, in this order, or none"
    )
    with pytest.raises(UsageError, match="run in 3 steps, on devices of their own"):
        convert.load(tmp_path / "job.fio")


def test_a_refusal_names_options_and_jobs_of_one_reason_together(tmp_path: Path) -> None:
    text = HEAD + "readfua=1\nwritefua=1\nuid=7\n[k]\ndirect=1\nreadfua=1\nwritefua=1\n"
    with pytest.raises(UsageError) as refused:
        imported(tmp_path, text)
    sentence = refused.value.message
    assert f"[j], [k] readfua, writefua: {COMMANDS}" in sentence
    assert "[j] uid: the load is in the kernel" in sentence
    assert sentence.count(COMMANDS) == 1


def test_jobs_that_share_some_of_their_devices_are_refused(tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text("[a]\nfilename=/dev/a\n[b]\nfilename=/dev/a:/dev/b\n")
    with pytest.raises(UsageError, match=r"different devices \(/dev/a, /dev/b\)"):
        convert.load_steps(tmp_path / "job.fio")


def ends_of(converted: Imported) -> list[tuple[int | None, int | float | None]]:
    return [(arrival.count, arrival.passes) for arrival in converted.workload.arrival]


def test_jobs_that_end_by_their_size_end_apart(tmp_path: Path) -> None:
    converted = imported(
        tmp_path, HEAD + "size=1m\nbs=4k\n[k]\ndirect=1\nsize=8k\nbs=512\nnumjobs=2\n"
    )
    assert ends_of(converted) == [(256, None), (16, None), (16, None)]
    run = converted.workload.run
    assert (run.time, run.count, run.passes) == (None, None, None)
    assert convert.SUM not in converted.differences
    assert not {TOGETHER, fio_job.CLONES} & set(converted.differences)
    assert not any("does not say when it ends" in line for line in report_lines(converted))
    whole = imported(tmp_path, HEAD + "loops=2\n[k]\ndirect=1\nnumjobs=2\n")
    assert ends_of(whole) == [(None, 2), (None, 1), (None, 1)]
    assert whole.mapped["loops"] == "arrival.passes"
    mixed = imported(tmp_path, HEAD + "size=1m\n[k]\ndirect=1\n")
    assert ends_of(mixed) == [(256, None), (None, 1)]


def test_jobs_with_too_many_clones_end_these_together(tmp_path: Path) -> None:
    """Those with the most first, and only beside others on the same device."""
    text = HEAD + "size=1m\nnumjobs=14\n[k]\ndirect=1\nsize=2m\nnumjobs=3\n"
    beside = imported(tmp_path, text)
    assert ends_of(beside) == [(14 * 256, None), *[(512, None)] * 3]
    assert {TOGETHER, fio_job.CLONES} <= set(beside.differences)
    text = text.replace("[k]\n", "[k]\nfilename=/dev/sdy\n")
    (tmp_path / "job.fio").write_text(text)
    first, second = convert.load_steps(tmp_path / "job.fio")
    assert (len(first.workload.arrival), len(second.workload.arrival)) == (14, 3)
    assert TOGETHER not in first.differences


@pytest.mark.parametrize(
    "options",
    ["numjobs=17\n", "numjobs=2\ncpus_allowed=0-3\n", "numjobs=2\nrw=write\nfsync=8\n"],
)
def test_clones_that_cannot_be_apart_end_together_and_the_report_says_so(
    tmp_path: Path, options: str
) -> None:
    converted = imported(tmp_path, HEAD + "size=1m\n" + options)
    assert len(converted.workload.arrival) == 1 and TOGETHER in converted.differences
    timed = imported(tmp_path, HEAD + "size=1m\nruntime=5\ntime_based\n" + options)
    assert len(timed.workload.arrival) == 1 and TOGETHER not in timed.differences


@pytest.mark.parametrize(
    ("options", "asked", "processes"),
    [
        ("", Asked(), 8),
        ("", Asked(workers=2), 1),
        ("iodepth=4\n", Asked(workers=4), 8),
        ("iodepth=4\n", Asked(workers=5), 1),
        # These ignore the depth.
        ("iodepth=4\nioengine=psync\n", Asked(workers=4), 1),
        ("iodepth=4\nthinktime=10\n", Asked(workers=4), 1),
        # Arrivals of a rate are on all workers.
        ("rate_iops=100\n", Asked(workers=8), 8),
        ("iodepth=4\n", Asked(load=True), 1),
        # A loop pauses as a whole.
        ("thinktime=10\nthinktime_blocks=4\n", Asked(workers=8), 8),
    ],
)
def test_clones_are_apart_where_that_leaves_no_worker_without_any(
    tmp_path: Path, options: str, asked: Asked, processes: int
) -> None:
    job = tmp_path / "job.fio"
    job.write_text(HEAD + "numjobs=8\nsize=1m\n" + options)
    converted = convert.load(job, asked=asked)
    assert len(converted.workload.arrival) == processes
    assert (TOGETHER in converted.differences) == (processes == 1)
    (step,) = convert.load_steps(job, asked=asked)
    assert step.workload == converted.workload


def test_jobs_with_a_rate_for_one_direction_end_together_or_not_at_all(tmp_path: Path) -> None:
    rates = "rw=randrw\nnorandommap\nrate_iops=100,0\n[k]\ndirect=1\nrw=randread\n"
    both = imported(tmp_path, HEAD + "size=1m\n" + rates + "size=1m\n")
    assert tables(both)["run"]["count"] == 512 and convert.SUM in both.differences
    assert ends_of(both) == [(None, None)] * 3
    with pytest.raises(UsageError, match="different parts of the device"):
        imported(tmp_path, HEAD + "size=1m\n" + rates)


@pytest.mark.parametrize(
    ("options", "ends"),
    [
        ("size=8m\nrate_iops=1000,3000\n", [(512, None), (1536, None)]),
        # Whatever the mix is.
        ("size=8m\nrwmixread=80\nrate_iops=2000\n", [(1024, None)] * 2),
        ("size=8m\nrate=4m,8m\n", [(683, None), (1365, None)]),
        ("size=8m\nbs=4k,8k\nrate_iops=1000,3000\n", [(292, None), (878, None)]),
        ("rate_iops=1000,3000\n", [(None, 0.25), (None, 0.75)]),
        # Three clones share each process.
        ("rate_iops=100,200\nnumjobs=3\n", [(None, 1), (None, 2)]),
        # Of each byte a seventh is read: the writes are larger.
        ("bs=4k,8k\nrate_iops=1000,3000\n", [(None, 0.142857143), (None, 0.857142857)]),
        ("number_ios=1200\nrate_iops=1000,3000\nruntime=5\n", [(300, None), (900, None)]),
    ],
)
def test_directions_share_the_end_of_a_job_by_their_rates(
    tmp_path: Path, options: str, ends: list[tuple[int | None, float | None]]
) -> None:
    of_k = "size=1m\n" + ("runtime=5\n" if "runtime" in options else "")
    text = f"{HEAD}rw=randrw\n{options}[k]\ndirect=1\n{of_k}"
    converted = imported(tmp_path, text)
    assert ends_of(converted) == [*ends, (256, None)]
    assert all(not isinstance(passes, float) or passes % 1 for _, passes in ends_of(converted))
    assert convert.SUM not in converted.differences


@pytest.mark.parametrize("options", ["--rate_iops=500,1500", "--rwmixread=80 --rate_iops=1000"])
def test_fio_shares_the_end_of_a_job_by_rates(options: str) -> None:
    words = "--name=a --ioengine=null --rw=randrw --bs=4k --size=8m --output-format=json"
    done = fio(*words.split(), *options.split())
    assert done.returncode == 0, done.stderr
    (job,) = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    reads, writes = job["read"]["total_ios"], job["write"]["total_ios"]
    assert reads + writes == 2048
    share = 0.25 if "1500" in options else 0.5
    assert abs(reads / 2048 - share) < 0.15


def test_an_option_goes_where_any_of_the_jobs_has_it(tmp_path: Path) -> None:
    paced, loop = "rate_iops=50\niodepth=8\nnumjobs=2\n", "iodepth=4\nnumjobs=2\nrw=write\n"
    for first, second in ((paced, loop), (loop, paced)):
        converted = imported(
            tmp_path, TWO.format(first, second).replace("runtime", "norandommap\nruntime")
        )
        assert converted.mapped["iodepth"] == "arrival.depth"
        assert converted.mapped["rate_iops"] == "arrival.rate"
    both = imported(tmp_path, TWO.format(paced, paced))
    assert both.mapped["iodepth"].startswith("nothing")
    text = TWO.format("thinktime=1ms\n", "thinktime=1ms\nthinktime_blocks=4\n")
    assert imported(tmp_path, text).mapped["thinktime"] == "arrival.think, arrival.pause"


def test_jobs_share_the_streams_that_there_can_be(tmp_path: Path) -> None:
    text = HEAD + "rw=read\nnumjobs=40\nruntime=5\n[k]\ndirect=1\nrw=write\nnumjobs=60\n"
    converted = imported(tmp_path, text + "runtime=5\n[l]\ndirect=1\nrw=read\nruntime=5\n")
    names = [entry.arrival for entry in converted.workload.stream]
    assert len(names) == STREAMS_MAX and names.count("l") == 1
    assert min(names.count("j"), names.count("k")) > 16
    assert [arrival.depth for arrival in converted.workload.arrival] == [40, 60, 1]
    assert sum("stand for" in difference for difference in converted.differences) == 2


TWO = HEAD + "rw=randread\nruntime=5\n{}[k]\ndirect=1\nioengine=libaio\nrw=randread\nruntime=5\n{}"


@pytest.mark.parametrize(
    ("first", "second", "name", "option"),
    [
        ("hipri\n", "", "hipri", "--polled"),
        ("", "cpus_allowed=1\n", "cpus_allowed", "--cpus"),
        ("cpus_allowed=0\n", "cpus_allowed=1\n", "cpus_allowed", "--cpus"),
        ("cpumask=1\n", "cpumask=2\n", "cpumask", "--cpus"),
        ("ss=iops:5%\nss_dur=30\n", "", "steadystate", "--until"),
        ("max_latency=5ms\n", "max_latency=6ms\n", "max_latency", "--stop-when"),
        ("rate_iops_min=100\n", "", "rate_iops_min", "--stop-when"),
        ("rate_min=1m\n", "rate_min=1m\n", "rate_min", "--stop-when"),
        ("max_latency=5\nrate_min=1m\n", "max_latency=5\n", "rate_min", "--stop-when"),
    ],
)
def test_what_one_job_says_is_not_said_of_all(
    tmp_path: Path, first: str, second: str, name: str, option: str
) -> None:
    with pytest.raises(UsageError) as refusal:
        imported(tmp_path, TWO.format(first, second))
    sentence = f"{name}: it is of one job, and {option} is of the whole run"
    assert sentence in refusal.value.message
    for section in "jk":
        assert imported(tmp_path, TWO.format(first, second), sections=[section])


def test_what_all_jobs_say_is_said_of_the_run(tmp_path: Path) -> None:
    both = "hipri\ncpus_allowed=0-1\nss=iops:5%\nss_dur=30\nmax_latency=5ms\n"
    converted = imported(tmp_path, TWO.format(both, both))
    options = [option.split()[0] for option in converted.command_line]
    for name in ("--polled", "--cpus", "--until", "--stop-when"):
        assert options.count(name) == 1


@pytest.mark.parametrize(
    ("both", "first", "second", "cpus"),
    [
        ("rw=randread\niodepth=2\n", "0", "1", "0-1"),
        ("rw=randread\niodepth=2\noffset=1g\n", "1,5", "2,4", None),
        ("rw=randread\niodepth=4\n", "1,5", "2,4", "1-2,4-5"),
        ("rw=randread\nrate_iops=100\n", "0", "1", "0-1"),
        ("rw=randread\niodepth=1\n", "0", "1", None),
        ("rw=randread\niodepth=8\n", "0", "1-2", None),
        ("rw=randread\niodepth=8\n", "0-1", "1-2", None),
        ("rw=read\niodepth=8\n", "0", "1", None),
        ("rw=randread\niodepth=8\nthinktime=1ms\nthinktime_blocks=4\n", "0", "1", None),
    ],
)
def test_equal_jobs_share_the_cpus_of_all(
    tmp_path: Path, both: str, first: str, second: str, cpus: str | None
) -> None:
    both += "time_based\n"
    text = TWO.format(f"{both}cpus_allowed={first}\n", f"{both}cpus_allowed={second}\n")
    if cpus is None:
        with pytest.raises(UsageError, match="cpus_allowed: it is of one job, and --cpus is of"):
            imported(tmp_path, text)
        return
    converted = imported(tmp_path, text)
    assert [word for word in converted.command_line if "--cpus" in word] == [f"--cpus {cpus}"]
    assert convert.CPUS in converted.differences
    unequal = text.replace("[k]", "[k]\nbs=8k\nrate_iops=7")
    with pytest.raises(UsageError, match="cpus_allowed"):
        imported(tmp_path, unequal)
    with pytest.raises(UsageError, match="cpus_allowed"):
        imported(tmp_path, text.replace("time_based\n", ""))


def test_a_run_ends_at_the_first_error_as_its_jobs_do(tmp_path: Path) -> None:
    for first, second, ends in (
        ("", "continue_on_error=none\n", True),
        ("continue_on_error=io\n", "ignore_error=EIO\n", False),
        ("", "continue_on_error=all\n", False),
    ):
        converted = imported(tmp_path, TWO.format(first, second))
        assert ("--max-errors 1" in converted.command_line) == ends
        assert (convert.TOLERANT in converted.differences) == ("=all" in second)


def test_a_job_keeps_the_name_that_it_is_given(tmp_path: Path) -> None:
    workload = imported(tmp_path, HEAD + "name=db load\nruntime=5\n").workload
    assert (workload.workload.name, workload.stream[0].name) == ("db-load", "db-load")
    assert workload.arrival[0].name == "db-load"
    both = imported(tmp_path, TWO.format("name=x\n", "name=y\n")).workload
    assert (both.workload.name, [entry.name for entry in both.stream]) == ("job", ["x", "y"])


def test_a_run_has_the_seed_of_the_first_job(tmp_path: Path) -> None:
    for first, second, seeds in (
        ("randseed=5\n", "randseed=6\n", ["--seed 5"]),
        ("", "randseed=6\n", ["--seed 6"]),
        ("randseed=5\n", "randseed=5\n", ["--seed 5"]),
        ("", "", []),
    ):
        converted = imported(tmp_path, TWO.format(first, second))
        assert [word for word in converted.command_line if "--seed" in word] == seeds
        assert (convert.ONE_SEED in converted.differences) == (first != second)


def test_a_run_has_the_smallest_batches_of_its_jobs(tmp_path: Path) -> None:
    text = HEAD + "iodepth_batch={}\n[k]\ndirect=1\nioengine=libaio\niodepth_batch={}\n"
    for first, second, batch in ((4, 8, 4), (8, 8, 8), (8, 1, 1), (1, 1, 1)):
        converted = imported(tmp_path, text.format(first, second))
        assert tables(converted)["run"].get("batch") == batch
        assert (convert.BATCHES in converted.differences) == (first != second)
    alone = imported(tmp_path, HEAD + "iodepth_batch=4\n[k]\ndirect=1\n")
    assert tables(alone)["run"]["batch"] == 1 and convert.BATCHES in alone.differences


def test_jobs_write_zeroes_beside_others_that_do_not(tmp_path: Path) -> None:
    text = HEAD + "rw=write\nzero_buffers\nruntime=5\n[k]\ndirect=1\nrw=write\nruntime=5\n"
    sections = tables(imported(tmp_path, text))
    assert sections["run"]["data"] == "random"
    assert [entry.get("compressible") for entry in sections["stream"]] == ["100%", None]
    # What jobs that only read would write does not matter.
    reads = tables(imported(tmp_path, text.replace("rw=write", "rw=read", 1)))
    assert (reads["run"]["data"], reads["stream"][0].get("compressible")) == ("random", None)
    alone = tables(imported(tmp_path, HEAD + "rw=write\nzero_buffers\n[k]\ndirect=1\nrw=read\n"))
    assert alone["run"]["data"] == "zero"


def test_the_report_names_no_field_that_the_workload_lacks(corpus: list[Path]) -> None:
    for path in corpus:
        try:
            steps = convert.load_steps(path)
        except UsageError:
            continue
        for step in steps:
            data = tables(step)
            present = {
                f"{kind}.{key}"
                for kind in ("stream", "arrival", "asu", "run")
                for table in ([data[kind]] if kind == "run" else data.get(kind, []))
                for key in table
            }
            # The pattern that a stream has without the key.
            present.add("stream.pattern")
            for name, place in step.mapped.items():
                named = set(re.findall(r"\b(?:stream|arrival|asu|run)\.\w+", place))
                assert not named or named & present, f"{path.name}: {name} -> {place}"


def test_ninety_five_per_cent_of_the_corpus_is_imported_whole(corpus: list[Path]) -> None:
    refused = {}
    for path in corpus:
        given = {name for job in jobfile.read(path) for name in job.options}
        try:
            steps = convert.load_steps(path)
        except UsageError as error:
            refused[path.name] = error.message.partition("is not imported: ")[2]
            continue
        reported = {name for step in steps for name in (*step.mapped, *step.not_needed)}
        assert given <= reported, (path.name, given - reported)
    share = 1 - len(refused) / len(corpus)
    print(f"imported whole: {len(corpus) - len(refused)} of {len(corpus)} files ({share:.1%})")
    print("\n".join(f"{name}: {why}" for name, why in refused.items()))
    assert len(corpus) == 200 and share >= 0.95
    # What is refused is refused by a name or by what its jobs do.
    assert all(re.search(r"\[\w+\] \w+: |its jobs", why) for why in refused.values())


def test_a_job_can_be_run_as_it_is(spekctl: Spekctl, kernel: object, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text(HEAD + "rw=randread\niodepth=4\nruntime=3\ntime_based\n")
    words = ("run", "fio:job.fio", "--set", "stream.j.size=8KiB", "--device", "/dev/fake0")
    outcome = spekctl(*words, "--dry-run")
    assert outcome.code == ExitCode.OK, outcome.err
    assert 'size = "8KiB"' in outcome.out and "closed loop of depth 4" in outcome.out
    assert "spekctl: iodepth -> arrival.depth" in outcome.err
    missing = spekctl("run", "fio:none.fio", "--device", "/dev/fake0")
    assert (missing.code, missing.sentence) == (ExitCode.USAGE, "there is no file none.fio")


def test_names_of_any_kind_become_words(tmp_path: Path) -> None:
    converted = imported(tmp_path, HEAD.replace("[j]", "[a b/ü]") + HEAD.replace("[j]", "[a b?ü]"))
    assert [entry.name for entry in converted.workload.stream] == ["a-b--", "a-b--.2"]
    long = imported(tmp_path, HEAD.replace("[j]", f"[{'x' * 80}]") + "numjobs=3\n")
    assert len({entry.name for entry in long.workload.stream}) == 3


def steps_of(tmp_path: Path, text: str) -> list[list[str]]:
    (tmp_path / "job.fio").write_text(f"[global]\nfilename=/dev/a\ndirect=1\nrw=write\n{text}")
    steps = convert.load_steps(tmp_path / "job.fio")
    return [[entry.name for entry in step.workload.stream] for step in steps]


def test_a_job_that_waits_for_one_of_several_is_a_step_only_if_all_end_with_it(
    tmp_path: Path,
) -> None:
    timed = "[a]\nruntime=5\n[b]\nruntime={}\n[c]\nruntime=5\nwait_for=a\n"
    assert steps_of(tmp_path, timed.format(5)) == [["a", "b"], ["c"]]
    assert steps_of(tmp_path, "size=1m\n[a]\n[c]\nwait_for=a\n[d]\nwait_for=a\n") == [
        *(["a"], ["c", "d"]),
    ]
    assert steps_of(tmp_path, "size=1m\n[a]\n[c]\nwait_for=a\n[d]\nstonewall\n") == [
        *(["a"], ["c"], ["d"]),
    ]
    sized = "runtime=5\n[a]\nsize=1m\n[b]\nsize=2m\n[c]\nwait_for=a\n"
    for text in (timed.format(9), "size=1m\n[a]\n[b]\n[c]\nwait_for=a\n", sized):
        with pytest.raises(UsageError, match=r"\[c\] wait_for: .* whatever \[b\] does"):
            steps_of(tmp_path, text)
    with pytest.raises(UsageError, match=r"\[d\] wait_for: it starts before \[c\]"):
        steps_of(tmp_path, "size=1m\n[a]\n[c]\nwait_for=a\n[d]\n")


def test_what_a_later_step_checks_is_checked_in_the_run_that_wrote_it(tmp_path: Path) -> None:
    text = "[global]\nfilename=/dev/a\ndirect=1\nverify=crc32c\nsize=1m\n"
    text += "[w]\nrw=write\ndo_verify=0\n[r]\nstonewall\nrw=read\n"
    told = convert.READ_BACK.format("w")
    for changed in (
        text,
        text.replace("do_verify=0\n", ""),
        text.replace("stonewall", "wait_for=w"),
        text.replace("[r]", "[between]\nstonewall\nrw=randread\nverify=0\n[r]"),
        # Clones that are apart, and jobs that share streams, are planned again.
        text.replace("do_verify=0\n", "do_verify=0\nnumjobs=3\n"),
        text.replace("stonewall\n", "stonewall\nnumjobs=70\n"),
    ):
        (tmp_path / "job.fio").write_text(changed)
        writer, *_, reader = convert.load_steps(tmp_path / "job.fio")
        assert "--verify" in writer.command_line and "--verify" not in reader.command_line
        assert fio_job.UNSTAMPED not in writer.differences
        assert told in reader.differences and fio_job.UNCHECKED not in reader.differences
        assert reader.mapped["verify"] == fio_job.NOT_VERIFIED
    for changed in (
        text.replace("rw=read", "rw=read\nverify=0"),
        text.replace("rw=read", "rw=read\nfilename=/dev/b").replace("filename=/dev/a\n", "", 1),
        text.replace("[w]", "[first]\nrw=read\nverify=md5\n[w]\nstonewall"),
    ):
        if "/dev/b" in changed:
            changed = changed.replace("[w]\n", "[w]\nfilename=/dev/a\n")
        (tmp_path / "job.fio").write_text(changed)
        first, *_ = convert.load_steps(tmp_path / "job.fio")
        assert told not in first.differences
        assert "--verify" not in first.command_line
    (tmp_path / "job.fio").write_text(text.replace("rw=read", "rw=randwrite"))
    first, second = convert.load_steps(tmp_path / "job.fio")
    assert "--verify" not in first.command_line and "--verify" in second.command_line


def test_what_is_not_to_be_checked_is_not_stamped(tmp_path: Path) -> None:
    text = HEAD + "rw=write\nsize=1m\nverify=crc32c\n"
    assert "--verify" in imported(tmp_path, text + "do_verify=1\n").command_line
    converted = imported(tmp_path, text + "do_verify=0\n")
    assert "--verify" not in converted.command_line and fio_job.UNSTAMPED in converted.differences


def test_options_of_a_check_that_is_not_made_say_so(tmp_path: Path) -> None:
    text = HEAD + "rw=write\nsize=1m\nverify={}\nverify_fatal=1\nverify_dump=1\ndo_verify=1\n"
    checked = imported(tmp_path, text.format("crc32c"))
    assert {checked.mapped["verify"], checked.mapped["do_verify"]} == {"--verify"}
    assert checked.not_needed["verify_dump"] == VERIFIED
    assert fio_job.FATAL in checked.differences
    for unchecked in (text.format("0"), text.format("md5").replace("write", "read", 1)):
        converted = imported(tmp_path, unchecked)
        assert "--verify" not in converted.command_line
        assert {converted.mapped["verify"], converted.mapped["do_verify"]} == {fio_job.NOT_VERIFIED}
        assert converted.not_needed["verify_fatal"] == "no block of this run is checked"
        assert fio_job.FATAL not in converted.differences


def test_delays_of_later_steps_are_counted_from_the_first(tmp_path: Path) -> None:
    """As fio does, whose clock is that of the whole file."""
    timed = "rw=randread\ntime_based\n"
    for text, delays in (
        ("startdelay=5\nruntime=9\n[a]\n[b]\nstonewall\n", ["+5s", None]),
        ("runtime=9\n[a]\n[b]\nstonewall\nstartdelay=12\n", [None, "+3s"]),
        ("runtime=9\nramp_time=2\n[a]\n[b]\nstonewall\nstartdelay=12\n", [None, "+1s"]),
        ("[a]\nsize=1m\n[b]\nstonewall\nstartdelay=12\nruntime=9\n", [None, None]),
        ("runtime=9\n[a]\nss=iops:5%\nss_dur=3\n[b]\nstonewall\nstartdelay=12\n", [None, None]),
        ("runtime=9\n[a]\nmax_latency=1s\n[b]\nstonewall\nstartdelay=12\n", [None, "+3s"]),
    ):
        (tmp_path / "job.fio").write_text(f"[global]\ndirect=1\n{timed}{text}")
        steps = convert.load_steps(tmp_path / "job.fio")
        starts = [
            next((word for word in step.command_line if "--start-at" in word), None)
            for step in steps
        ]
        assert starts == [delay and f"--start-at {delay}" for delay in delays]
        last = steps[-1].mapped["startdelay"]
        known = "[a]\nsize" not in text and "ss=" not in text
        assert last == (LEFT if delays[-1] else OVER if known else TAKEN_OVER)
    (tmp_path / "job.fio").write_text(
        f"[global]\n{timed}[a]\nsize=1m\n[b]\nstonewall\nruntime=9\n[c]\nstartdelay=3\nruntime=9\n"
    )
    with pytest.raises(
        UsageError, match="startdelay: in fio it counts from the start of the first"
    ):
        convert.load_steps(tmp_path / "job.fio")


def test_an_amount_is_that_after_the_ramp_up_and_the_report_says_so(tmp_path: Path) -> None:
    text = HEAD + "rw=randread\nramp_time=2\n"
    for end, told in (
        ("size=1m\n", True),
        ("loops=2\n", True),
        ("size=1m\nruntime=5\n", True),
        # fio counts these from the end of the ramp-up on.
        ("size=1g\nnumber_ios=50\n", False),
        ("size=1m\nruntime=5\ntime_based\n", False),
    ):
        assert (RAMP in imported(tmp_path, text + end).differences) == told, end
    assert RAMP not in imported(tmp_path, HEAD + "size=1m\n").differences


def test_an_option_that_has_an_effect_on_one_job_is_needed(tmp_path: Path) -> None:
    text = HEAD + "rw=randread\nnorandommap\nruntime=5\n[k]\nrw=write\nruntime=5\n"
    both = imported(tmp_path, text + "norandommap\nthread\n")
    assert both.mapped["norandommap"] == "stream.pattern"
    assert "norandommap" not in both.not_needed and "thread" in both.not_needed
    alone = imported(tmp_path, text + "norandommap\n", sections=["k"])
    assert alone.not_needed["norandommap"] == "no effect on a job of this kind, as in fio"
