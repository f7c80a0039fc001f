# SPDX-License-Identifier: GPL-2.0
"""From workload, options and devices to numbers; and the module's own core accepts them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from lib.core.config import core_of
from lib.ctl.resolved import DISK, GIB, HEAD, MIB, STREAM, run_config

from spekctl import units
from spekctl.errors import UsageError
from spekctl.workload import file, model
from spekctl.workload.config import ResolvedStream


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("size", [178 * MIB, 256 * MIB + 512, GIB, 10 * GIB + 7 * 512, 1 << 44])
@pytest.mark.parametrize("name", file.shipped_names())
def test_the_core_accepts_every_shipped_workload(name: str, size: int, workers: int) -> None:
    options = {"bsu": 3} if name == "spc1" else {}
    config = run_config(name, replace(DISK, bytes=size), workers=workers, **options)
    core_of(config).check(workers)


def test_spc1_geometry_is_that_of_the_reference() -> None:
    """ASU-1 of 11796480 blocks (45 GiB): hot spots at 1769472, 8257536 and 5544345 blocks."""
    config = run_config("spc1", replace(DISK, bytes=100 * GIB), bsu=1)
    assert config.asus[0].bytes == 45 * GIB
    by_name = {stream.name: stream for stream in config.streams}
    starts = [by_name[name].range_start // 4096 for name in ("1-2", "1-4", "2-2")]
    assert starts == [1769472, 8257536, 5544345]
    assert by_name["1-2"].range_bytes // 4096 == 11796480 // 20
    runs = by_name["1-3"]
    assert runs.range_start // 4096 == 11796480 // 5
    assert runs.restart_bytes // 4096 == 11796480 * 2 // 5
    assert runs.run_bytes // 4096 == 11796480 // 10
    assert runs.run_align_bytes == 16 * 4096
    writes = by_name["3-1"]
    assert (writes.range_start, writes.read_ppm) == (0, 0)
    assert writes.restart_bytes // 4096 == config.asus[2].bytes // 4096 * 7 // 10


def test_spc1_rate_is_50_for_each_bsu() -> None:
    config = run_config("spc1", bsu=7)
    assert config.arrivals[0].law == "poisson"
    assert config.offered_rate == 350
    assert {stream.replicas for stream in config.streams} == {7}
    assert run_config("spc1", bsu=7, iops_per_bsu=5).offered_rate == 35


def test_spc1_fixed_differs_as_the_reference_says() -> None:
    streams = {stream.name: stream for stream in run_config("spc1", bsu=1, hrrw="fixed").streams}
    assert {streams[name].walk_style for name in ("1-2", "1-4", "2-2")} == {"fixed"}
    assert streams["2-1"].align_bytes == 8192
    assert streams["1-3"].run_align_bytes == 4096


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({}, "spc1 needs its load: --bsu N"),
        ({"bsu": 0}, "--bsu must be 1 to"),
        ({"bsu": -1}, "--bsu must be 1 to"),
        ({"bsu": 1, "rate": 5}, "--bsu and --rate exclude each other"),
        ({"rate": 1000}, "so about --bsu 20"),
        ({"bsu": 1, "workers": 5}, "but spekctl may use 0-3"),
        ({"bsu": 1, "workers": 0}, "--workers must be 1 to 256"),
        ({"bsu": 1, "cpus": [9]}, "CPU 9 is offline or not allowed to spekctl; it may use 0-3"),
        ({"bsu": 1, "cpus": [1], "workers": 2}, "but --cpus names 1"),
        ({"bsu": 1, "time_ns": 0}, "--time must be more than 0"),
        ({"bsu": 1, "ramp_ns": 1, "ramp_count": 1}, "--ramp and --ramp-count exclude"),
        ({"bsu": 1, "count": 0}, "--count must be 1 to"),
        ({"bsu": 1, "seed": -1}, "--seed must be 0 to"),
        ({"bsu": 1, "max_outstanding": 0}, "--max-outstanding must be 1 to 65536"),
        ({"bsu": 1, "batch": 257}, "--batch must be 1 to 256"),
    ],
)
def test_wrong_options_get_one_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        run_config("spc1", **options)
    assert sentence in refusal.value.message


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"bsu": 1}, "does not scale by BSU"),
        ({"iops_per_bsu": 1}, "does not scale by BSU"),
        ({"hrrw": "fixed"}, "has no random walk"),
        ({"depth": -1}, "--depth must be 1 to 65536, not -1"),
        ({"depth": 65537}, "--depth must be 1 to 65536"),
        ({"rate": 0.0}, "must be a number above 0"),
        ({"rate": -5.0}, "must be a number above 0"),
        ({"rate": float("nan")}, "must be a number above 0"),
    ],
)
def test_wrong_options_of_an_ordinary_workload(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        run_config("random-read-4k", **options)
    assert sentence in refusal.value.message


def test_rate_makes_a_closed_loop_poisson_and_keeps_other_laws() -> None:
    arrival = run_config("random-read-4k", rate=1234.5).arrivals[0]
    assert (arrival.law, arrival.rate_milli) == ("poisson", 1_234_500)
    constant = HEAD + STREAM + '[[arrival]]\nname = "a"\nlaw = "constant"\nrate = 5\n'
    arrival = run_config(constant, rate=1000).arrivals[0]
    assert (arrival.law, arrival.rate_milli) == ("constant", 1_000_000)
    arrival = run_config("burst", rate=6400).arrivals[0]
    assert (arrival.law, arrival.burst_length, arrival.burst_interval_ns) == ("burst", 64, 10**7)


def test_rate_scales_several_open_processes_alike() -> None:
    text = HEAD + "".join(
        f'[[arrival]]\nname = "a{n}"\nlaw = "poisson"\nrate = {n}\n'
        f'[[stream]]\nname = "s{n}"\nsize = "4KiB"\narrival = "a{n}"\n'
        for n in (1, 3)
    )
    assert [arrival.rate_milli for arrival in run_config(text, rate=100).arrivals] == [
        25_000,
        75_000,
    ]
    with pytest.raises(UsageError, match="--depth cannot say which"):
        run_config(text, depth=3)


def test_depth_makes_a_closed_loop() -> None:
    arrival = run_config("burst", depth=9).arrivals[0]
    assert (arrival.law, arrival.depth) == ("closed", 9)
    assert run_config("spc1", depth=9).arrivals[0].depth == 9


def test_bursts_without_a_pause_are_a_closed_loop() -> None:
    text = HEAD + STREAM + '[[arrival]]\nname = "a"\nlaw = "burst"\nlength = 5\ninterval = "0"\n'
    arrival = run_config(text).arrivals[0]
    assert (arrival.law, arrival.depth) == ("closed", 5)


def test_room_for_what_is_outstanding() -> None:
    assert run_config("random-read-4k").max_outstanding == 32
    assert run_config("random-read-4k", rate=10).max_outstanding == 1024
    assert run_config("random-read-4k", rate=10, max_outstanding=3).max_outstanding == 3
    big = HEAD + STREAM.replace("4KiB", "16MiB")
    assert run_config(big, rate=10).max_outstanding == 64
    long = HEAD + STREAM + '[[arrival]]\nname = "a"\nlaw = "burst"\nlength = 5000\ninterval="1s"\n'
    assert run_config(long).max_outstanding == 5000


def test_the_command_line_wins_over_the_file() -> None:
    text = HEAD + STREAM + '[run]\ncount = 5\nramp_count = 6\ninterval = "0"\nbatch = 4\n'
    config = run_config(text)
    assert (config.time_ns, config.count, config.ramp_count) == (0, 5, 6)
    assert (config.interval_ns, config.batch) == (0, 4)
    config = run_config(text, time_ns=7, ramp_ns=8, interval_ns=10**9, batch=9)
    assert (config.time_ns, config.count, config.ramp_ns, config.ramp_count) == (7, 0, 8, 0)
    assert (config.interval_ns, config.batch) == (10**9, 9)


def test_defaults_are_a_minute_one_worker_and_seed_1() -> None:
    config = run_config("random-read-4k")
    assert (config.time_ns, config.cpus, config.seed) == (60 * 10**9, [0], 1)
    assert run_config("random-read-4k", cpus=[2, 1]).cpus == [2, 1]
    assert run_config("random-read-4k", workers=2).cpus == [0, 1]


def test_writing_needs_both_the_workload_and_the_permission() -> None:
    assert not run_config("random-read-4k", write=True).write
    assert not run_config("random-write-4k").write
    assert run_config("random-write-4k", write=True).write


def test_devices_are_told_apart_by_number() -> None:
    with pytest.raises(UsageError, match="/dev/x and /dev/y are the same device"):
        run_config("random-read-4k", DISK, replace(DISK, path="/dev/y"))
    assert run_config("random-read-4k").targets[0].diskseq == 5


WRONG_FOR_THE_DEVICE = {
    "range beyond the asu": ('start = "60%"\nrange = "50%"\n', "beyond its asu"),
    "range in bytes": ('range = "20GiB"\n', "beyond its asu"),
    "start not aligned": ("start = 512\n", "not a multiple of its align, 4 KiB"),
    "block larger than the range": ('align = 512\nrange = "2KiB"\n', "does not fit into its range"),
    "runs longer than the range": (
        'pattern = "runs"\nrange = "10%"\nrun_length = "20%"\n',
        "does not fit into its range",
    ),
    "restart too far": (
        'pattern = "runs"\nrestart = "90%"\nrun_length = "20%"\n',
        "restart and run_length together",
    ),
}


@pytest.mark.parametrize("case", sorted(WRONG_FOR_THE_DEVICE))
def test_what_does_not_fit_the_device_is_refused(case: str) -> None:
    extra, sentence = WRONG_FOR_THE_DEVICE[case]
    text = HEAD + STREAM + extra
    with pytest.raises(UsageError) as refusal:
        run_config(text)
    assert sentence in refusal.value.message


def test_blocks_smaller_than_the_logical_block_are_refused() -> None:
    text = HEAD + STREAM.replace("4KiB", "512")
    with pytest.raises(UsageError, match=r"not a multiple of the logical block of /dev/x, 4096"):
        run_config(text, replace(DISK, logical_block=4096))


def test_stripes_are_powers_of_two() -> None:
    pair = [DISK, replace(DISK, minor=1)]
    for stripe in (0, 1000, 256, 96 << 10):
        with pytest.raises(UsageError, match="power of two"):
            run_config("random-read-4k", *pair, stripe_bytes=stripe)


def test_strided_streams_align_to_their_stride() -> None:
    text = HEAD + STREAM + 'pattern = "strided"\nstride = "6KiB"\n'
    stream = run_config(text).streams[0]
    assert (stream.align_bytes, stream.stride_bytes) == (2048, 6144)


def test_runs_that_are_under_way_together_are_replicas() -> None:
    text = HEAD + STREAM + 'pattern = "runs"\nrun_length = "10%"\n'
    assert run_config(text).streams[0].replicas == 1
    assert run_config(text + "replicas = 9\n").streams[0].replicas == 9
    with pytest.raises(UsageError, match="replicas must be 1 to"):
        run_config(text + "replicas = 0\n")
    with pytest.raises(UsageError, match="replicas"):
        run_config(HEAD + STREAM + "replicas = 2\n")


def test_operations_without_data_write_and_keep_their_addresses() -> None:
    text = HEAD + '[[stream]]\nname = "s"\nsize = "1MiB"\npattern = "once"\noperation = "discard"\n'
    (stream,) = run_config(text).streams
    assert (stream.operation, stream.read_ppm, stream.fua, stream.pattern) == (
        "discard",
        0,
        0,
        "once",
    )
    assert [size.bytes for size in stream.sizes] == [1 << 20]


def test_a_flush_has_a_block_of_the_device() -> None:
    (stream,) = run_config(HEAD + '[[stream]]\nname = "s"\noperation = "flush"\n').streams
    assert (stream.operation, stream.read_ppm, stream.pattern) == ("flush", 0, "uniform")
    assert [size.bytes for size in stream.sizes] == [stream.align_bytes]


def test_writes_of_a_mix_have_forced_unit_access() -> None:
    (stream,) = run_config(
        HEAD + '[[stream]]\nname = "s"\nsize = 4096\nread = "70%"\nfua = true\n'
    ).streams
    assert (stream.operation, stream.read_ppm, stream.fua) == ("transfer", 700_000, 1)


@pytest.mark.parametrize(
    ("text", "meant"),
    [(None, ("none", 0)), ("rt:0", ("rt", 0)), ("be", ("be", 4)), ("idle", ("idle", 0))],
)
def test_priorities_have_a_class_and_a_level(text: str | None, meant: tuple[str, int]) -> None:
    line = "" if text is None else f'priority = "{text}"\n'
    flush = '[[stream]]\nname = "f"\noperation = "flush"\n'
    for stream in run_config(HEAD + STREAM + line + flush + line).streams:
        assert (stream.priority, stream.priority_level) == meant


def test_write_hints_are_not_set_unless_given() -> None:
    stream = HEAD + STREAM + 'read = "0%"\n'
    assert run_config(stream).streams[0].write_hint == "not-set"
    assert run_config(stream + 'write_hint = "none"\n').streams[0].write_hint == "none"


def test_a_closed_loop_has_a_limit_and_keeps_it_at_another_depth() -> None:
    text = HEAD + STREAM + '[[arrival]]\nname = "a"\ndepth = 3\nlimit = 1500.5\nburst = 9\n'
    for depth in (None, 7):
        (loop,) = run_config(text, depth=depth).arrivals
        assert (loop.law, loop.depth) == ("closed", depth or 3)
        assert (loop.rate_milli, loop.burst_length) == (1_500_500, 9)
    assert run_config(text).offered_rate is None
    (opened,) = run_config(text, rate=100).arrivals
    assert (opened.law, opened.rate_milli, opened.burst_length) == ("poisson", 100_000, 0)


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ("", (0, 0, 0, "")),
        ('compressible = "0%"\n', (1, 0, 0, "")),
        ('compressible = "33%"\nduplicate = "10%"\n', (1, 330_000, 100_000, "")),
        ('duplicate = "100%"\n', (1, 0, 1_000_000, "")),
        ('fill = "0XDEADbeef"\n', (1, 1_000_000, 0, "deadbeef")),
        ('fill = "0xff"\ncompressible = "50%"\n', (1, 500_000, 0, "ff")),
    ],
)
def test_streams_have_data_of_their_own_if_they_say_so(
    lines: str, expected: tuple[int, int, int, str]
) -> None:
    stream = run_config(HEAD + STREAM + 'read = "0%"\n' + lines).streams[0]
    assert (stream.own_data, stream.compressible_ppm, stream.duplicate_ppm, stream.fill) == expected


def test_verified_data_exclude_those_of_streams() -> None:
    stream = HEAD + STREAM + 'read = "50%"\nduplicate = "1%"\n'
    with pytest.raises(UsageError, match="stream 's': --verify writes its own data: remove 'com"):
        run_config(stream, verify=True)


def test_only_the_writes_of_a_divided_stream_have_its_data() -> None:
    lines = 'read_rate = 10\nwrite_rate = 10\ncompressible = "50%"\n'
    streams = run_config(HEAD + STREAM + lines).streams
    assert [(stream.name, stream.own_data) for stream in streams] == [("s-read", 0), ("s-write", 1)]


def test_a_value_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """When the file is read; a run is made of what was found then."""
    parsed: list[str] = []
    for name in ("parse_percent", "parse_size"):
        real = getattr(units, name)

        def counted(text: Any, real: Any = real) -> Any:
            parsed.append(text)
            return real(text)

        monkeypatch.setattr(units, name, counted)
    text = HEAD + STREAM + 'read = "12.5%"\nsequential = "25%"\ncompressible = "37.5%"\n'
    run_config(text + '[[stream]]\nname = "t"\nsize = 512\npattern = "strided"\nstride = "24KiB"\n')
    assert [parsed.count(text) for text in ("12.5%", "25%", "37.5%", "24KiB")] == [1, 1, 1, 1]


def test_a_key_becomes_the_member_that_it_names() -> None:
    """One line in the model is all that a stream's key needs where no device matters."""
    members = {field.name for field in msgspec.structs.fields(ResolvedStream)}
    named = {key.member for key in model.KEYS.values() if key.member}
    assert {"fua", "seq_ppm", "stride_bytes"} <= named <= members
