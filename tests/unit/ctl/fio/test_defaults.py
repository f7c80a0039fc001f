# SPDX-License-Identifier: GPL-2.0
"""Options that are given and change nothing, by fio's own defaults."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.fio_jobs import fio, issued_by_fio, plan

from spekctl.fio import defaults
from spekctl.fio import job as fio_job
from spekctl.fio.jobfile import Job
from spekctl.fio.options import INFORMATION, REFUSED

ENGINES = ("libaio", "io_uring", "io_uring_cmd", "sg")
# Of a fio later than Debian 12's, which does not tell their defaults.
LATER = frozenset(
    (
        *("dataplacement", "dp_scheme", "fdp", "plids", "plid_select", "priohint", "num_range"),
        *("flow_watermark", "thinkcycles", "random_sequence_stride", "cmdprio_hint", "deac"),
        *("write_mode", "read_mode", "verify_mode", "verify_bytchk", "pi_act", "pi_chk", "apptag"),
        *("apptag_mask", "md_per_io_size", "sprandom", "spr_num_regions", "spr_op", "spr_cs"),
        *("recover_zbd_write_error", "write_zone_remainder"),
    )
)
# Imported with a difference, unless they are off.
DIFFERENT = (
    *("num_range", "zone_reset_threshold", "zone_reset_frequency", "write_mode", "read_mode"),
    *("readfua", "writefua", "sg_write_mode", "stream_id", "cmd_type"),
    *("replay_time_scale", "replay_no_stall", "read_iolog_chunked"),
)
# Those whose value is a text, or has no value that is off.
NO_DEFAULT = frozenset(
    (
        *("directory", "opendir", "replay_redirect", "replay_skip", "merge_blktrace_file"),
        *("merge_blktrace_scalars", "merge_blktrace_iters"),
        *("profile", "cgroup", "cgroup_weight", "cmdprio_bssplit", "cmdprio_class"),
    )
)


def told(option: str) -> dict[str, str]:
    """What fio says about an option: its type, default and range."""
    for words in (f"--cmdhelp={option}", *(f"--enghelp={engine},{option}" for engine in ENGINES)):
        lines = [line.partition(":") for line in fio(words).stdout.splitlines()]
        fields = {key.strip(): value.strip() for key, colon, value in lines if colon}
        if "type" in fields:
            return fields
    return {}


@pytest.mark.parametrize(
    "option", ["fsync", "fdatasync", "runtime", "startdelay", "rate_iops", "thinktime", "offset"]
)
def test_an_option_that_is_off_goes_nowhere(option: str) -> None:
    words = {"rw": "randwrite", "size": "1m"}
    off, unset = plan(**words, **{option: "0"}), plan(**words)
    assert off.mapped.pop(option) == defaults.OFF
    assert (off.streams, off.arrivals, off.run) in [
        (unset.streams, unset.arrivals, unset.run),
        ([{**stream, "start": 0} for stream in unset.streams], unset.arrivals, unset.run),
    ]
    assert (off.amount, off.mapped) == (unset.amount, unset.mapped)
    given = plan(**words, **{option: "4k"} if option == "offset" else {option: "5"})
    assert given.mapped[option] != defaults.OFF


def test_defaults_are_those_of_fio() -> None:
    options = {*REFUSED, *fio_job._ONE_VALUE, *INFORMATION, *DIFFERENT}
    assert set(defaults.DEFAULTS) <= options
    unknown = {option for option in options if not told(option)}
    assert unknown <= LATER
    for name in options - LATER:
        usual = told(name)["default"]
        if usual != "no default":
            assert defaults.DEFAULTS[name] == usual, name
        elif name not in NO_DEFAULT:
            # Without a default a number that may be 0 is off with it, and so is a boolean.
            assert defaults.DEFAULTS[name] == "0", name
            assert told(name).get("range", "min=0").startswith("min=0"), name
        else:
            assert name not in defaults.DEFAULTS


@pytest.mark.parametrize("name", defaults.DEFAULTS)
def test_an_option_at_its_default_is_not_refused(name: str) -> None:
    value = defaults.DEFAULTS[name]
    assert fio_job.refusals(Job("j", {"ioengine": "libaio", name: value}), False) == []
    planned = plan(rw="randwrite", **{name: value})
    assert planned.mapped[name] == defaults.OFF
    if value == "0":
        assert plan(rw="randwrite", **{name: "0x0"}).mapped[name] == defaults.OFF


@pytest.mark.parametrize("name", defaults.NEEDS)
def test_an_option_without_the_one_that_it_refines_is_not_refused(name: str) -> None:
    (needed, *_) = defaults.NEEDS[name]
    for off in ({}, {needed: defaults.DEFAULTS.get(needed, "0")}):
        job = Job("j", {"ioengine": "libaio", name: "7", **off})
        assert not any(text.startswith(f"{name}: ") for text in fio_job.refusals(job, False)), off
    assert "no effect without" in plan(rw="randwrite", **{name: 7}).mapped[name]


def test_an_option_that_does_something_stays() -> None:
    for options in (
        {"flow": "8"},
        {"cmdprio_percentage": "20", "cmdprio_class": "1"},
        {"trim_percentage": "5", "trim_backlog": "64"},
        {"readfua": None},
        {"num_range": "2"},
        {"sync_file_range": "wait_before:8"},
        {"replay_scale": "2", "read_iolog": "x"},
    ):
        kept, notes = defaults.effective(Job("j", dict(options)))
        assert (kept.options, notes) == (options, {})


def test_an_amount_of_0_is_not_given() -> None:
    for name in ("size", "io_size", "filesize"):
        planned = plan(rw="read", runtime=5, **{name: 0})
        assert planned.mapped[name] == defaults.ALL and "range" not in planned.streams[0]


def test_a_job_of_which_fio_sends_no_io_is_refused(tmp_path: Path) -> None:
    assert not issued_by_fio(tmp_path, "--rw=write --size=64k --create_only=1", 1 << 20)
    assert issued_by_fio(tmp_path, "--rw=write --size=64k --create_only=0", 1 << 20)
    (reason,) = fio_job.refusals(Job("j", {"direct": "1", "create_only": "1"}), False)
    assert reason == "create_only: fio creates files and sends no I/O; leave it out to run the job"
    assert fio_job.refusals(Job("j", {"direct": "1", "create_only": "0"}), False) == []


def test_a_folder_of_files_is_refused() -> None:
    (reason,) = fio_job.refusals(Job("j", {"direct": "1", "opendir": "/srv"}), False)
    assert reason.startswith("opendir: spek loads block devices, not files")
