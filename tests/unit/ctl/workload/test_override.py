# SPDX-License-Identifier: GPL-2.0
"""A run without a file, and fields of a workload that the command line sets."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.fakes.kernel import FakeKernel

from spekctl.errors import ExitCode, UsageError
from spekctl.workload import file, override

RUN = ("run", "--device", "/dev/fake0", "--progress", "none", "--time", "3s")


def test_a_first_run_needs_no_file(spekctl: Spekctl, kernel: FakeKernel) -> None:
    words = "--read 70% --size 8KiB --pattern uniform --depth 16 --write"
    outcome = spekctl(*RUN, *words.split())
    assert outcome.code == 0
    config = kernel.config
    assert config is not None
    (stream,) = config.streams
    assert (stream.read_ppm, stream.pattern) == (700_000, "uniform")
    assert [(size.bytes, size.weight) for size in stream.sizes] == [(8192, 1)]
    assert [(arrival.law, arrival.depth) for arrival in config.arrivals] == [("closed", 16)]
    assert "options: closed loop of depth 16" in outcome.out


def test_a_dry_run_shows_it_as_a_file_that_says_the_same(
    spekctl: Spekctl, kernel: FakeKernel
) -> None:
    words = ("--read", "70%", "--size", "8KiB", "--set", "run.interval=2s", "--dry-run")
    out = spekctl(*RUN, *words).out
    text = out[: out.index("\nasu ")]
    assert 'size = "8KiB"' in text
    parsed = file.parse(text)
    assert parsed == file.one_stream({"read": "70%", "size": "8KiB"}, ["run.interval=2s"])
    assert "run-new" not in kernel.calls


def test_a_pattern_takes_its_keys_after_colons(spekctl: Spekctl, kernel: FakeKernel) -> None:
    assert spekctl(*RUN, "--pattern", "strided:64KiB:8KiB").code == 0
    assert kernel.config is not None
    (stream,) = kernel.config.streams
    assert (stream.pattern, stream.stride_bytes, stream.jitter_bytes) == ("strided", 65536, 8192)


@pytest.mark.parametrize(
    "pattern",
    ["zipf:1.1", "zipf:0.9:25%", "pareto:0.2", "normal:10%:30%", "zoned:60%/10%:40%/1MiB"],
)
def test_a_law_is_a_table(pattern: str, spekctl: Spekctl, kernel: FakeKernel) -> None:
    assert spekctl(*RUN, "--pattern", pattern).code == 0
    assert kernel.config is not None
    (stream,) = kernel.config.streams
    assert (stream.pattern, stream.spread) == ("table", int(pattern in ("zipf:1.1", "pareto:0.2")))
    assert sum(weight for _, weight in stream.parts) == 2**40
    shown = spekctl(*RUN, "--pattern", pattern, "--dry-run").out
    assert f"table of {len(stream.parts)}" in shown
    assert file.parse(shown[: shown.index("\nasu ")]).stream[0].pattern == pattern.split(":")[0]


def test_spread_is_set_as_a_word(spekctl: Spekctl, kernel: FakeKernel) -> None:
    assert spekctl(*RUN, "--pattern", "zipf:1.1", "--set", "stream.main.spread=false").code == 0
    assert kernel.config is not None and kernel.config.streams[0].spread == 0


@pytest.mark.parametrize("name", file.shipped_names())
def test_every_workload_survives_being_shown(name: str) -> None:
    assert file.parse(override.to_toml(file.load(name))) == file.load(name)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((), "name a workload (`spekctl workloads` lists them), or describe one: --read 70%"),
        (
            ("random-read-4k", "--size", "8KiB"),
            "to change random-read-4k, give --set stream.NAME.size=8KiB",
        ),
        (("--read", "70"), "'70' is not a percentage; write for example 70% or 3.5%"),
        (("--size", "8KB"), "write 8KiB for powers of 1024"),
        (("--pattern", "strided"), "pattern strided needs 'stride'"),
        (("--pattern", "unifrom"), "there is no pattern 'unifrom'; did you mean 'uniform'?"),
        (
            ("oltp", "--pattern", "strided:1MiB"),
            "give --set stream.NAME.pattern=strided --set stream.NAME.stride=1MiB",
        ),
    ],
)
def test_what_describes_no_workload_is_refused(
    words: tuple[str, ...], sentence: str, spekctl: Spekctl, kernel: FakeKernel
) -> None:
    outcome = spekctl(*RUN, *words)
    assert outcome.code == ExitCode.USAGE
    assert sentence in outcome.sentence


@pytest.mark.parametrize(
    ("setting", "sentence"),
    [
        ("stream.main.size", "write FIELD=VALUE, for example stream.main.size=16KiB"),
        ("=3", "write FIELD=VALUE"),
        ("strem.main.size=4k", "there is no field 'strem'; did you mean 'stream'?"),
        ("stream.main.sise=4k", "there is no field 'stream.main.sise'; did you mean 'size'?"),
        ("stream.mian.size=4k", "there is no stream 'mian'; did you mean 'main'?"),
        ("stream.xyz.size=4k", "there is no stream 'xyz'; known are main; * means all"),
        ("stream.size=4k", "there is no stream 'size'; known are main; * means all"),
        ("stream=4k", "name the stream: stream.NAME.FIELD; known are main; * means all"),
        ("stream.main=4k", "'stream.main' is a section; say which field of it"),
        ("run=4k", "'run' is a section; say which field of it: time, count"),
        ("stream.main.size.bytes=4k", "'stream.main.size' has no fields"),
        ("stream.main.size=4KB", "could mean 1000 or 1024; write 4KiB"),
        ("stream.main.size=1000", "the block size '1000' is not a multiple of 512 bytes"),
        ("stream.main.read=70", "'70' is not a percentage"),
        ("stream.main.pattern=randm", "unknown value 'randm'; it is one of"),
        ("run.time=5", "'5' has no unit"),
        ("run.batch=many", "expected a whole number, got the string"),
        ("arrival.default.depth=0", "depth must be 1 to 65536, not 0"),
        ("arrival.main2.depth=3", "there is no arrival 'main2'; did you mean 'main'?"),
        ("workload.name=", "the key 'name' is missing"),
    ],
)
def test_a_wrong_setting_gets_a_sentence_that_names_it(
    setting: str, sentence: str, spekctl: Spekctl, kernel: FakeKernel
) -> None:
    if setting.startswith("arrival.default"):
        outcome = spekctl(*RUN, "--size", "4KiB", "--set", setting)
    else:
        outcome = spekctl(*RUN, "random-read-4k", "--set", setting)
    assert outcome.code == ExitCode.USAGE
    assert sentence in outcome.sentence
    assert f"--set {setting}" in outcome.sentence
    assert "run-new" not in kernel.calls


def test_fields_of_every_section_can_be_set(spekctl: Spekctl, kernel: FakeKernel) -> None:
    changes = (
        "stream.main.size=16KiB", "stream.main.read=100%", "run.ramp_count=3", "run.interval=2s",
        "asu.all.size=50%", "arrival.main.depth=5",
    )  # fmt: skip
    words = [word for change in changes for word in ("--set", change)]
    assert spekctl(*RUN, "random-read-4k", *words).code == 0
    config = kernel.config
    assert config is not None
    assert config.streams[0].sizes[0].bytes == 16384
    assert (config.ramp_count, config.interval_ns) == (3, 2 * 10**9)
    assert config.asus[0].bytes == 1 << 29
    assert config.arrivals[0].depth == 5


def test_names_with_dots_and_all_streams_are_found() -> None:
    text = """
[workload]
name = "w"
summary = "s"
[[stream]]
name = "a"
size = "4k"
[[stream]]
name = "a.size"
size = "4k"
"""
    data = tomllib.loads(text)
    override.apply(data, ["stream.a.size.size=8k", "stream.*.read=50%"])
    assert [stream["size"] for stream in data["stream"]] == ["4k", "8k"]
    assert [stream["read"] for stream in data["stream"]] == ["50%", "50%"]


def test_a_mix_of_sizes_is_written_as_in_a_file_and_an_empty_value_leaves_out() -> None:
    mix = 'stream.main.sizes=[{size = "4k", share = "50%"}, {size = "8k", share = "50%"}]'
    loaded = file.load("random-read-4k", ["stream.main.size=", mix])
    assert loaded.stream[0].size is None
    assert [size.share for size in loaded.stream[0].sizes] == ["50%", "50%"]


def test_a_broken_file_is_not_blamed_on_the_settings(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[workload]\nname = "w"\nsummary = "s"\n')
    with pytest.raises(UsageError) as caught:
        file.load(str(path), ["run.time=3s"])
    assert str(path) in caught.value.message and "--set" not in caught.value.message


def test_the_block_size_of_show_is_that_of_a_stream(spekctl: Spekctl) -> None:
    out = spekctl("show", "random-read-4k", "--set", "stream.main.size=64KiB").out
    assert "64KiB" in out
