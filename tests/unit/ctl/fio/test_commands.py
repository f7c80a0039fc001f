# SPDX-License-Identifier: GPL-2.0
"""Commands of fio's engines sg and io_uring_cmd."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lib.ctl.fio_jobs import imported, plan, stream

from spekctl.errors import UsageError
from spekctl.fio import commands
from spekctl.fio import job as fio_job
from spekctl.fio.jobfile import Job
from spekctl.fio.options import COMMANDS

SG = "[j]\nioengine=sg\nfilename=/dev/sdx\nbs=64k\n"
NVME = SG.replace("sg\n", "io_uring_cmd\n")


def refused(**options: Any) -> str:
    given: dict[str, str | None] = {name: str(value) for name, value in options.items()}
    return "; ".join(fio_job.refusals(Job("j", given), False))


@pytest.mark.parametrize("engine", ["sg", "io_uring_cmd"])
def test_forced_writes_are_fua(engine: str) -> None:
    planned = plan(ioengine=engine, rw="rw", writefua=1)
    assert [stream.get("fua") for stream in planned.streams] == [None, True]
    assert planned.mapped["writefua"] == "stream.fua" and commands.FORCED in planned.differences
    reads = plan(ioengine=engine, rw="read", writefua=1)
    assert "fua" not in reads.streams[0] and reads.mapped["writefua"].startswith("nothing")
    assert commands.FORCED not in reads.differences
    off = plan(ioengine=engine, rw="write", writefua=0)
    assert "fua" not in off.streams[0] and commands.FORCED not in off.differences


def test_reads_are_not_forced() -> None:
    for kind in ("read", "randread", "rw", "randrw"):
        assert f"readfua: {commands.NO_READS}" in refused(ioengine="sg", rw=kind, readfua=1)
    assert refused(ioengine="sg", rw="write", readfua=1) == ""
    assert plan(ioengine="sg", rw="write", readfua=1).mapped["readfua"].startswith("nothing")


def test_other_engines_have_no_such_options() -> None:
    for name in commands.NAMES:
        assert (
            refused(ioengine="libaio", direct=1, rw="write", **{name: 1}) == f"{name}: {COMMANDS}"
        )
    assert refused(ioengine="sg", rw="write", write_mode="zeroes") == f"write_mode: {COMMANDS}"


def test_commands_have_fua_by_an_option_of_their_own() -> None:
    for engine, device, told in (
        ("io_uring_cmd", "/dev/ng0n1", commands.COMMANDED),
        ("sg", "/dev/sda", commands.COMMANDED),
        ("sg", "/dev/sg0", commands.ONE_BY_ONE),
    ):
        planned = plan(ioengine=engine, filename=device, rw="write", sync=1)
        assert "fua" not in planned.streams[0] and planned.mapped["sync"] == told
    assert plan(ioengine="libaio", rw="write", sync=1).streams[0]["fua"] is True


@pytest.mark.parametrize(
    "text",
    [
        SG + "rw=write\nsg_write_mode=write_same_ndob\n",
        SG + "rw=write\nsg_write_mode=write_same\nzero_buffers=1\n",
        SG + "rw=write\nsg_write_mode=write_same\nzero_buffers=1\nscramble_buffers=0\n",
        SG + "rw=write\nsg_write_mode=same\nzero_buffers=1\nbuffer_compress_percentage=0\n",
        SG + "rw=write\nsg_write_mode=same\nbuffer_compress_percentage=100\n",
        SG + "rw=write\nsg_write_mode=same\nbuffer_pattern=0x0000\n",
        NVME + "rw=write\nwrite_mode=zeroes\n",
        NVME + "rw=write\nwrite_mode=zeroes\nwritefua=0\nbuffer_compress_percentage=50\n",
        SG + "rw=write\nsg_write_mode=write_same_ndob\nwritefua=1\n",
    ],
)
def test_zeroes_without_data_are_write_zeroes(text: str, tmp_path: Path) -> None:
    converted = imported(tmp_path, text + "size=1m\n")
    load = stream(converted)
    assert (load["operation"], load["size"], load["pattern"]) == (
        *("write-zeroes", 64 << 10),
        "sequential",
    )
    assert not load.keys() & {"fill", "compressible", "duplicate", "fua"}
    assert "read" not in load and converted.workload.run.count == 16
    assert "--write" in converted.command_line
    assert any("write-zeroes requests" in difference for difference in converted.differences)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"sg_write_mode": "write_same"}, "sg_write_mode: write_same repeats a block of data"),
        ({"sg_write_mode": "same", "buffer_pattern": "0x01"}, "same repeats a block of data"),
        (
            {"sg_write_mode": "write_same", "zero_buffers": 1, "dedupe_percentage": 50},
            "write_same repeats a block of data",
        ),
        (
            {"sg_write_mode": "same", "zero_buffers": 1, "buffer_compress_percentage": 50},
            "same repeats a block of data",
        ),
        (
            {"sg_write_mode": "same", "buffer_pattern": "0x01", "buffer_compress_percentage": 100},
            "same repeats a block of data",
        ),
        (
            {"sg_write_mode": "same", "zero_buffers": 1, "scramble_buffers": 1},
            "same repeats a block of data",
        ),
        ({"sg_write_mode": "verify"}, "sends no WRITE AND VERIFY commands"),
        ({"sg_write_mode": "write_and_verify"}, "sends no WRITE AND VERIFY commands"),
        ({"sg_write_mode": "verify_bytchk_00"}, "sg_write_mode: spek sends no VERIFY commands"),
        ({"sg_write_mode": "verify_bytchk_01"}, "sg_write_mode: spek sends no VERIFY commands"),
        ({"sg_write_mode": "verify_bytchk_11"}, "sg_write_mode: spek sends no VERIFY commands"),
        ({"sg_write_mode": "write_stream", "stream_id": 4}, "sends no WRITE STREAM commands"),
        ({"sg_write_mode": "zeroes"}, "'zeroes' is not a kind of writes"),
        ({"write_mode": "uncor"}, "write_mode: spek sends no Write Uncorrectable commands"),
        ({"write_mode": "verify"}, "write_mode: spek sends no Verify commands"),
        ({"write_mode": "write/40:zeroes/60"}, "mixes commands"),
        ({"write_mode": "zeroes", "rw": "randrw"}, "are jobs of their own"),
        ({"write_mode": "zeroes", "zonemode": "zbd"}, "a zone is written at its write pointer"),
        ({"write_mode": "zeroes", "writefua": 1}, f"writefua: {commands.NO_FORCED_ZEROES}"),
        ({"read_mode": "prefetch", "rw": "read"}, f"read_mode: {COMMANDS}"),
    ],
)
def test_other_commands_are_refused_by_the_name_of_the_option(
    options: dict[str, Any], why: str
) -> None:
    engine = "sg" if "sg_write_mode" in options else "io_uring_cmd"
    assert why in refused(**{"ioengine": engine, "rw": "write", **options})


@pytest.mark.parametrize("mode", ["zeroes", "uncor", "zone_append"])
def test_commands_of_nvme_are_not_sent_by_bsg(mode: str) -> None:
    """fio does not start such a job: "Not Support Write mode in BSG io_uring_cmd"."""
    given = {"ioengine": "io_uring_cmd", "cmd_type": "bsg", "write_mode": mode}
    for more in ({}, {"zonemode": "zbd"}):
        assert refused(rw="write", **given, **more) == (
            f"write_mode: {commands.NOT_OF_BSG.format(mode)}"
        )
    assert refused(rw="read", **given) == ""
    assert "sends no Verify commands" in refused(rw="write", **{**given, "write_mode": "verify"})


def test_a_mode_of_writes_has_no_effect_on_reads() -> None:
    for mode in ("verify_bytchk_01", "write_stream"):
        assert refused(ioengine="sg", rw="randread", sg_write_mode=mode, stream_id=3) == ""
        planned = plan(ioengine="sg", rw="randread", sg_write_mode=mode, stream_id=3)
        assert planned.streams[0]["read"] == "100%"
        assert "no effect" in planned.not_needed["sg_write_mode"]


def test_zeroes_are_not_stamped(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="verify: writes of zeroes are not stamped"):
        imported(tmp_path, NVME + "rw=write\nwrite_mode=zeroes\nverify=crc32c\nsize=1m\n")


def test_flushes_follow_writes_of_zeroes() -> None:
    planned = plan(ioengine="io_uring_cmd", rw="write", write_mode="zeroes", fsync=4)
    assert [(stream.get("operation"), stream["share"]) for stream in planned.streams] == [
        ("write-zeroes", 4),
        ("flush", 1),
    ]


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"rw": "write", "fsync": 4}, "flushes (fsync, fdatasync)"),
        ({"rw": "randtrim"}, "discards (rw)"),
        ({"rw": "write", "write_mode": "zeroes"}, "writes of zeroes (write_mode, sg_write_mode)"),
        ({"rw": "write", "zonemode": "zbd"}, "write pointers of zones (zonemode)"),
        ({"rw": "write", "atomic": 1}, "atomic writes (atomic)"),
        ({"rw": "rw", "sync": 1}, "writes with FUA (sync, writefua)"),
    ],
)
def test_what_is_neither_striped_nor_polled_is_refused(options: dict[str, Any], told: str) -> None:
    options = {"ioengine": "io_uring_cmd" if "write_mode" in options else "io_uring"} | options
    why = []
    for name, text in {"filename": "/dev/sda:/dev/sdb", "hipri": 1}.items():
        try:
            plan(**options, **{name: text})
        except UsageError as error:
            why.append(error.message)
    striped = "filename: streams are striped over several devices, and {} are not"
    polled = "hipri: I/O is polled for completions, but {} are not"
    expected = [striped] * ("FUA" not in told) + [polled] * ("atomic" not in told)
    assert [text.partition(";")[0] for text in why] == [text.format(told) for text in expected]


def test_plain_io_is_striped_and_polled() -> None:
    for kind in ("randrw", "write"):
        planned = plan(rw=kind, ioengine="io_uring", filename="/dev/sda:/dev/sdb", hipri=1)
        assert "--polled" in planned.command_line and len(planned.files) == 2
    # Only writes have FUA and flushes.
    planned = plan(rw="read", ioengine="io_uring", filename="/dev/sda", hipri=1, sync=1, fsync=4)
    assert "--polled" in planned.command_line


def test_placement_concerns_writes_only() -> None:
    options = {"ioengine": "io_uring_cmd", "fdp": 1, "plids": "0,1", "plid_select": "random"}
    assert refused(rw="randread", **options) == ""
    assert refused(rw="randtrim", **options) == ""
    assert "fdp" in plan(rw="randread", **options).not_needed
    for kind in ("write", "randrw"):
        assert "fdp, plids, plid_select: spek sends no placement" in refused(rw=kind, **options)
