# SPDX-License-Identifier: GPL-2.0
"""Jobs of fio that replay a log of I/O."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.fio_jobs import fio, imported, plan, tables

from spekctl.errors import UsageError
from spekctl.fio import convert, defaults, replay
from spekctl.fio import job as fio_job
from spekctl.fio.options import NOT_NEEDED
from spekctl.trace.trace import open_trace

LOG = """fio version 3 iolog
0 {0} add
0 {1} add
0 {1} open
0 {0} open
10 {1} write 0 4096
20 {0} read 8192 4096
30 {1} write 16384 4096
40 {1} sync 0 0
50 {0} close
"""
OLD = "fio version 2 iolog\n/dev/sdz add\n/dev/sdz open\n/dev/sdz write 0 4096\n"
HEAD = "[j]\nioengine=libaio\ndirect=1\n"


def log_in(folder: Path, first: str = "/dev/sdb", second: str = "/dev/sdc") -> Path:
    path = folder / "l.iolog"
    path.write_text(LOG.format(first, second))
    return path


def trace_of(converted: Any) -> dict[str, Any]:
    (stream,) = tables(converted)["stream"]
    assert stream["pattern"] == "trace" and "arrival" not in stream
    trace = stream["trace"]
    assert isinstance(trace, dict)
    return trace


def test_a_log_is_replayed_at_its_times(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    text = HEAD + f"iodepth=8\nread_iolog={log}\nreplay_time_scale=50\nruntime=5\nstartdelay=2\n"
    converted = imported(tmp_path, text)
    trace = trace_of(converted)
    assert (trace["files"], trace["speed"], trace.get("closed")) == ([str(log)], 0.5, None)
    assert tables(converted)["run"]["time"] == "5s"
    # In the order of their I/O, which is that of the devices of a trace.
    devices = ["--device /dev/sdc", "--device /dev/sdb"]
    assert converted.command_line[:3] == [*devices, "--start-at +2s"]
    batches = [batch for batch in open_trace([log]).batches()]
    assert [int(number) for number in batches[0].device][:2] == [0, 1]
    assert replay.OPEN.format(8) in converted.differences


def test_a_log_without_stalls_is_a_closed_loop(tmp_path: Path) -> None:
    text = HEAD + f"iodepth=16\nread_iolog={log_in(tmp_path)}\nreplay_no_stall=1\n"
    converted = imported(tmp_path, text + "replay_redirect=/dev/sdq\nreplay_time_scale=200\n")
    assert (trace_of(converted)["closed"], trace_of(converted).get("speed")) == (16, None)
    assert "--device /dev/sdq" in converted.command_line
    assert not any("due at the times" in difference for difference in converted.differences)
    waiting = imported(tmp_path, text.replace("libaio", "psync"))
    assert trace_of(waiting)["closed"] == 1


def test_waits_of_an_old_log_are_not_scaled(tmp_path: Path) -> None:
    """fio scales delays in delay_since_ttime(), which it asks for logs of version 3 only."""
    log = tmp_path / "log"
    log.write_text(OLD + "/dev/sdz wait 1000 0\n/dev/sdz read 0 4096\n")
    planned = plan(read_iolog=log, replay_time_scale=50)
    (stream,) = planned.streams
    assert stream["trace"] == {"files": [str(log)]}
    assert planned.mapped["replay_time_scale"] == replay.WAITS_AS_THEY_ARE
    assert replay.WAITS not in planned.differences
    for later in ({"startdelay": 2}, {"stonewall": None}, {"wait_for": "a"}):
        assert replay.WAITS in plan(read_iolog=log, **later).differences
        closed = plan(read_iolog=log, replay_no_stall=1, **later)
        assert replay.WAITS not in closed.differences
    new = plan(read_iolog=log_in(tmp_path), startdelay=2, replay_time_scale=50)
    assert new.streams[0]["trace"]["speed"] == 0.5 and replay.WAITS not in new.differences


def test_a_report_has_the_options_of_the_file(tmp_path: Path) -> None:
    text = f"[/dev/sdx]\nioengine=psync\ndirect=1\nread_iolog={log_in(tmp_path)}\n"
    options = {
        **{"iodepth": "8", "iodepth_batch": "1", "iodepth_batch_complete_min": "1"},
        **{"iodepth_low": "0", "thinktime_blocks": "4", "thinktime_blocks_type": "issue"},
        **{"kb_base": "1000", "new_group": "1", "exitall": "1", "exit_what": "group"},
        **{"runtime": "5,6", "startdelay": "0", "zero_buffers": "1", "bs": "8k"},
        **{"group_reporting": "1", "replay_time_scale": "100"},
    }
    text += "".join(f"{name}={value}\n" for name, value in options.items())
    converted = imported(tmp_path, text)
    told = converted.mapped | converted.not_needed
    assert told.keys() == {"ioengine", "direct", "read_iolog", *options}
    assert told["iodepth"] == "nothing: ioengine psync has one I/O at a time, as in fio"
    assert told["runtime"] == "run.time; fio takes '5,6' for 5000000us"
    assert told["thinktime_blocks"] == "no effect without thinktime, as in fio"
    assert told["new_group"] == NOT_NEEDED["new_group"]
    assert told["startdelay"] == told["replay_time_scale"] == defaults.OFF
    for name in ("iodepth_batch_complete_min=2", "iodepth_low=1"):
        with pytest.raises(UsageError, match=replay.NOT_KEPT):
            imported(tmp_path, text.replace("psync", "libaio") + name + "\n")


@pytest.mark.parametrize("kind", ["read", "trim", "randtrim"])
def test_a_log_goes_through_the_page_cache_whatever_rw_is(kind: str, tmp_path: Path) -> None:
    text = f"[j]\nioengine=libaio\nrw={kind}\nread_iolog={log_in(tmp_path)}\n"
    with pytest.raises(UsageError, match="direct: it asks for the page cache"):
        imported(tmp_path, text + "direct=0\n")
    accepted = imported(tmp_path, text + "direct=0\n", accept_direct=True)
    assert fio_job.CACHE in accepted.differences
    assert fio_job.CACHE in imported(tmp_path, text).differences
    assert fio_job.CACHE not in imported(tmp_path, text + "direct=1\n").differences


@pytest.mark.parametrize(
    "options",
    [
        {"bs": "32m"},
        {"bs": "32m,64m"},
        {"bs": "32m", "rw": "read:8k"},
        {"size": "4z"},
    ],
)
def test_places_and_sizes_that_count_for_nothing_change_nothing(
    options: dict[str, Any], tmp_path: Path
) -> None:
    log = log_in(tmp_path)
    bare = {"read_iolog": log, "replay_no_stall": 1, "iodepth": 8, "iodepth_batch": 4}
    plain, planned = plan(**bare), plan(**bare, **options)
    assert planned.streams == plain.streams and planned.run == plain.run
    assert planned.streams[0]["trace"]["closed"] == 8 and planned.run["batch"] == 4
    assert planned.differences == plain.differences


@pytest.mark.parametrize("options", [{}, {"replay_no_stall": 1}])
def test_a_scale_of_0_is_refused(options: dict[str, Any], tmp_path: Path) -> None:
    log = log_in(tmp_path)
    with pytest.raises(UsageError, match="replay_time_scale: '0'"):
        plan(read_iolog=log, replay_time_scale=0, **options)
    words = ("--name=a", "--ioengine=null", f"--read_iolog={log}", "--replay_time_scale=0")
    assert fio(*words).returncode != 0


@pytest.mark.parametrize(("contents", "devices"), [(OLD, ["/dev/sdz"]), ("\0\1\2", []), (None, [])])
def test_devices_are_those_of_a_log_of_fio(
    contents: str | None, devices: list[str], tmp_path: Path
) -> None:
    if contents is not None:
        (tmp_path / "log").write_text(contents)
    planned = plan(read_iolog=tmp_path / "log", filename="/dev/sda")
    assert planned.files == devices
    assert (replay.UNREAD.format(tmp_path / "log") in planned.differences) is not bool(devices)
    assert "the log names the devices" in planned.mapped["filename"]


def test_a_log_is_that_of_the_folder_of_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log_in(tmp_path)
    monkeypatch.chdir(tmp_path)
    assert plan(read_iolog="l.iolog").streams[0]["trace"]["files"] == [str(tmp_path / "l.iolog")]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("thinktime=5", "thinktime: the times of the log"),
        ("verify=md5", "verify: blocks of a log are not stamped"),
        ("verify_pattern=0xff", "verify: blocks of a log are not stamped; .* verify_pattern"),
        ("numjobs=2", "numjobs: each clone replays the log"),
        ("hipri=1", "hipri: I/Os of a log are not polled"),
        ("max_latency=5", f"max_latency: {replay.NOT_KEPT}"),
        ("zonemode=zbd", f"zonemode: {replay.NOT_KEPT}"),
        ("replay_skip=write", "replay_skip: convert the trace"),
        ("read_iolog=a:b", "read_iolog: 'a:b' is not a single file"),
        ("read_iolog=a\0b", "read_iolog: a path has no NUL byte"),
        ("read_iolog=-", "read_iolog: '-' is not a single file"),
        ("[k]\nrw=read\ndirect=1", r"\[j\] read_iolog: a run replays one log, and \[k\] starts"),
    ],
)
def test_what_a_replay_cannot_have_is_refused(text: str, why: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=why):
        imported(tmp_path, HEAD + f"read_iolog=x\n{text}\n")


def test_replays_are_steps_among_others(tmp_path: Path) -> None:
    path = tmp_path / "job.fio"
    rest = "[k]\nstonewall\ndirect=1\nrw=read\nsize=1m\nfilename=/dev/sdb\n"
    path.write_text(HEAD + f"read_iolog={log_in(tmp_path)}\n" + rest)
    patterns = [step.workload.stream[0].pattern for step in convert.load_steps(path)]
    assert patterns == ["trace", "sequential"]


@pytest.mark.parametrize(
    "words",
    [
        ("--rw=randread", "--bs=8k", "--size=8k", "--number_ios=1", "--offset=64k"),
        ("--time_based", "--runtime=3", "--loops=3"),
        ("--rate_iops=1", "--fsync=1", "--norandommap"),
        ("--rate=1k", "--bssplit=8k/100", "--io_size=4k", "--rwmixread=100", "--fdatasync=1"),
    ],
)
def test_fio_does_what_the_log_says(words: tuple[str, ...], tmp_path: Path) -> None:
    log = log_in(tmp_path, "a", "b")
    for name in "ab":
        (tmp_path / name).write_bytes(bytes(1 << 20))
    done = fio(
        *("--name=j", f"--read_iolog={log}", "--ioengine=sync", "--output-format=json"),
        *words,
        folder=tmp_path,
    )
    (job,) = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
    assert (job["read"]["total_ios"], job["write"]["total_ios"]) == (1, 2)
    names = {word.removeprefix("--").partition("=")[0] for word in words} - {"runtime"}
    planned = plan(read_iolog=log, **dict.fromkeys(names, "1"))
    assert names <= replay.USELESS
    assert {planned.not_needed[name] for name in names} == {replay.NO_EFFECT}
