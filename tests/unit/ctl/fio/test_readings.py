# SPDX-License-Identifier: GPL-2.0
"""Values that fio reads in another way than they look: fio's parser itself is asked."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import pytest
from lib.ctl.fio_jobs import HEAD, fio, imported, plan, tables

from spekctl.errors import UsageError
from spekctl.fio import job as fio_job
from spekctl.fio import readings
from spekctl.fio.jobfile import Job
from spekctl.fio.options import VERIFIED

NULL = "[j]\nioengine=null\nfilename=x\n"


def parsed(tmp_path: Path, option: str) -> list[int]:
    """The numbers that fio takes the values of an option for, in their order."""
    (tmp_path / "job.fio").write_text(f"{NULL}{option}\n")
    done = fio("--parse-only", "--debug=parse", tmp_path / "job.fio", folder=tmp_path)
    assert done.returncode == 0, done.stdout
    name = option.partition("=")[0]
    own = re.findall(r"__handle_option=(\w+).*\n.*ret=0, out=(\d+)", done.stdout)
    return [int(number) for option_name, number in own if option_name == name]


@pytest.mark.parametrize(
    ("option", "place"),
    [
        ("runtime=1h30m", 0),
        ("runtime=10min", 0),
        ("runtime=60sec", 0),
        ("runtime=1:30", 0),
        ("runtime=1.5", 0),
        ("ramp_time=10s,20s", 0),
        ("startdelay=1h2m", 0),
        ("thinktime=5 ms", 0),
        ("thinktime=1ms500us", 0),
        ("latency_window=1m30s", 0),
        ("iodepth=4:8", 0),
        ("iodepth=1k", 0),
        ("numjobs=4,8", 0),
        ("loops=2k", 0),
        ("size=1.5g", -1),
        ("size=20 g", -1),
        ("size=1g-2g", -1),
        ("size=4GBx", -1),
        ("offset=1kib-3kib", -1),
        ("zonesize=0x10k", 0),
        ("runtime=10s-20s", 0),
        ("runtime=0x10", 0),
        ("bs=0x10k", 0),
    ],
)
def test_one_of_several_values_counts_as_in_fio(tmp_path: Path, option: str, place: int) -> None:
    name, _, text = option.partition("=")
    options: dict[str, str | None] = {name: text}
    notes = readings.apply(options)
    # Times are microseconds in fio as well.
    assert (options[name] or "").removesuffix("us") == str(parsed(tmp_path, option)[place])
    assert notes == {name: f"fio takes '{text}' for {options[name]}"}


@pytest.mark.parametrize("option", ["bs=4k-64k", "bs=4k:8k", "rate_iops=1k-2k", "bs=4k-8k,16k"])
def test_each_direction_has_its_value_as_in_fio(tmp_path: Path, option: str) -> None:
    name, _, text = option.partition("=")
    options: dict[str, str | None] = {name: text}
    readings.apply(options)
    assert options[name] == ",".join(map(str, parsed(tmp_path, option)))


@pytest.mark.parametrize(
    "option",
    [
        *("runtime=90", "runtime=2H", "bs=4k,8k", "bs=,8k", "bs=4k,", "size=10%", "size=4z"),
        *("startdelay=5-10", "thinktime=1ms,5ms", "size=(1+2)g", "iodepth=0x10", "rwmixread=70"),
    ],
)
def test_a_plain_value_stays(option: str) -> None:
    name, _, text = option.partition("=")
    options: dict[str, str | None] = {name: text}
    assert readings.apply(options) == {}
    assert options == {name: text}


def counts(tmp_path: Path, options: str) -> dict[tuple[str, int], int]:
    """How many I/Os of each direction and size fio does within 4 MiB."""
    log = tmp_path / "log"
    (tmp_path / "job.fio").write_text(f"{NULL}size=4m\nwrite_iolog={log}\n{options}")
    done = fio(tmp_path / "job.fio", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in log.read_text().splitlines()]
    kinds = [(line[2], int(line[4])) for line in lines if line[2:3] in (["read"], ["write"])]
    return {kind: kinds.count(kind) for kind in kinds}


@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        ("rw=randrw\nbs=4k-64k\n", {("read", 4096), ("write", 65536)}),
        ("rw=randread\nbsrange=16k-8k\nbs_unaligned=0\n", {("read", 8192), ("read", 16384)}),
        ("rw=randrw\nrwmixread=70%\n", {("read", 4096)}),
        ("rw=randrw\nrwmixwrite=70%\n", {("read", 4096)}),
    ],
)
def test_the_streams_have_the_sizes_and_directions_of_fio(
    tmp_path: Path, options: str, sizes: set[tuple[str, int]]
) -> None:
    assert set(counts(tmp_path, options)) == sizes
    mine = tables(imported(tmp_path, HEAD + options))["stream"]
    listed = {
        ("read" if stream["read"] == "100%" else "write", int(size))
        for stream in mine
        for size in [entry["size"] for entry in stream.get("sizes", [])] or [stream["size"]]
    }
    assert listed == sizes


def test_a_share_with_a_sign_makes_all_ios_random_as_in_fio(tmp_path: Path) -> None:
    options = "rw=randread\npercentage_random=50%\nnorandommap\n"
    log = tmp_path / "log"
    (tmp_path / "job.fio").write_text(f"{NULL}size=4m\nwrite_iolog={log}\n{options}")
    assert fio(tmp_path / "job.fio", folder=tmp_path).returncode == 0
    places = [int(line.split()[3]) for line in log.read_text().splitlines() if " read " in line]
    follow = sum(after == before + 4096 for before, after in itertools.pairwise(places))
    # One half of 1024 I/Os would follow the one before.
    assert len(places) == 1024 and follow < 64
    (only,) = tables(imported(tmp_path, HEAD + options))["stream"]
    assert "pattern" not in only and "sequential" not in only


def test_a_size_above_100_per_cent_is_the_whole_device(tmp_path: Path) -> None:
    assert counts(tmp_path, "filesize=4m\nsize=200%\n") == {("read", 4096): 1024}
    whole = imported(tmp_path, f"{HEAD}size=200%\n")
    assert whole.workload.run.passes == 1
    assert whole.mapped["size"].endswith("; fio takes '200%' for the whole device")


def test_a_value_that_is_no_number_is_refused(tmp_path: Path) -> None:
    for option, sentence in (
        ("size=large", "size: 'large' is not a number"),
        ("iodepth=-4x", "iodepth: '-4x' is negative"),
        ("dedupe_percentage=50%", "dedupe_percentage: fio has no per cent sign here"),
    ):
        with pytest.raises(UsageError, match=sentence):
            imported(tmp_path, f"{HEAD}{option}\n")


def test_a_pattern_to_verify_is_verified(tmp_path: Path) -> None:
    """str_verify_pattern_cb() of fio sets verify=pattern, unless the job gives verify."""
    planned = plan(rw="write", size="1m", verify_pattern="0xff")
    assert planned.verifies and "--verify" in planned.command_line
    assert planned.mapped["verify"].startswith("--verify; fio takes verify_pattern alone")
    assert planned.not_needed["verify_pattern"] == VERIFIED
    off = plan(rw="write", size="1m", verify_pattern="0xff", verify=0)
    assert not off.verifies and "--verify" not in off.command_line
    assert plan(rw="read", verify_pattern="0xff").verifies
    words = ("--name=a", "--filename=f", "--rw=write", "--size=64k", "--output-format=json")
    for more, reads in (([], 16), (["--verify=0"], 0)):
        done = fio(*words, "--verify_pattern=0xff", *more, folder=tmp_path)
        (job,) = json.loads(done.stdout[done.stdout.index("{") :])["jobs"]
        assert (job["write"]["total_ios"], job["read"]["total_ios"]) == (16, reads)


def test_options_that_refine_verify_count_beside_a_pattern() -> None:
    options: dict[str, str | None] = {"direct": "1", "verify_state_load": "1"}
    assert fio_job.refusals(Job("j", options), False) == []
    (reason,) = fio_job.refusals(Job("j", {**options, "verify_pattern": "0xff"}), False)
    assert reason.startswith("verify_state_load: give the run that writes --verify-state FILE")


def test_the_state_of_written_blocks_is_saved_by_an_option_of_the_run() -> None:
    saved = plan(rw="write", size="1m", verify="crc32c", verify_state_save=1)
    assert saved.not_needed["verify_state_save"].startswith("`spekctl run --verify-state FILE`")
    unchecked = plan(rw="write", size="1m", verify_state_save=1)
    assert unchecked.not_needed["verify_state_save"] == "no block of this run is checked"
