# SPDX-License-Identifier: GPL-2.0
"""Streams with rates of their own."""

from __future__ import annotations

import pytest

from spekctl.errors import UsageError
from spekctl.workload import file
from spekctl.workload.config import RunConfig
from spekctl.workload.resolve import Options, Target, resolve

HEAD = '[workload]\nname = "w"\nsummary = "a test"\n'
STREAM = '[[stream]]\nname = "s"\nsize = "4KiB"\n'
OTHER = '[[stream]]\nname = "t"\nsize = "4KiB"\n'


def resolved(text: str, **options: object) -> RunConfig:
    disk = Target("/dev/x", 8, 0, 1 << 30, 512, 5)
    return resolve(file.parse(text), Options(available_cpus=(0,), **options), [disk])  # type: ignore[arg-type]


def test_a_rate_is_an_arrival_process_of_the_stream() -> None:
    config = resolved(HEAD + STREAM + 'rate = 12.5\nread = "70%"\n')
    (arrival,), (stream,) = config.arrivals, config.streams
    assert (arrival.name, arrival.law, arrival.rate_milli) == ("s", "poisson", 12_500)
    assert (stream.name, stream.arrival, stream.read_ppm) == ("s", 0, 700_000)


def test_reads_and_writes_have_rates_of_their_own() -> None:
    text = HEAD + STREAM + 'read_rate = 70\nwrite_rate = 30\nfua = true\npriority = "rt"\n'
    config = resolved(text)
    assert [(arrival.name, arrival.rate_milli) for arrival in config.arrivals] == [
        ("s-read", 70_000),
        ("s-write", 30_000),
    ]
    reads, writes = config.streams
    assert (reads.name, reads.arrival, reads.read_ppm, reads.fua) == ("s-read", 0, 1_000_000, 0)
    assert (writes.name, writes.arrival, writes.read_ppm, writes.fua) == ("s-write", 1, 0, 1)
    assert reads.priority == writes.priority == "rt"
    assert config.writes and config.offered_rate == 100


def test_streams_without_one_keep_their_arrivals() -> None:
    config = resolved(HEAD + STREAM + "rate = 5\n" + OTHER)
    assert [arrival.name for arrival in config.arrivals] == ["default", "s"]
    assert [stream.arrival for stream in config.streams] == [1, 0]
    loop = '[[arrival]]\nname = "a"\ndepth = 9\n'
    config = resolved(HEAD + loop + STREAM + "rate = 5\n" + OTHER)
    assert [arrival.name for arrival in config.arrivals] == ["a", "s"]
    assert [stream.arrival for stream in config.streams] == [1, 0]


def test_rate_of_the_run_scales_all_of_them() -> None:
    text = HEAD + STREAM + "read_rate = 70\nwrite_rate = 30\n"
    assert [arrival.rate_milli for arrival in resolved(text, rate=1000).arrivals] == [
        700_000,
        300_000,
    ]


WRONG = {
    "rate = 1\nread_rate = 1\nwrite_rate = 1\n": "rate excludes read_rate and write_rate",
    "read_rate = 1\n": "read_rate and write_rate belong together",
    "write_rate = 1\n": "read_rate and write_rate belong together",
    'rate = 1\nshare = "100%"\n': "has no 'share'",
    'rate = 1\narrival = "a"\n': "has no 'arrival'",
    'read_rate = 1\nwrite_rate = 1\nread = "50%"\n': "'read' follows from read_rate",
    'read_rate = 1\nwrite_rate = 1\noperation = "discard"\n': "operation discard has no reads",
    "rate = 0\n": "arrival 's': a rate must be a number above 0",
}


@pytest.mark.parametrize("line", WRONG)
def test_what_is_wrong_gets_one_sentence(line: str) -> None:
    with pytest.raises(UsageError) as no:
        file.parse(HEAD + STREAM + line)
    assert WRONG[line] in no.value.message


def test_rates_do_not_scale_by_bsu() -> None:
    with pytest.raises(UsageError, match="scale = bsu: the rates follow from the scale"):
        file.parse(HEAD + 'scale = "bsu"\n' + STREAM + "rate = 1\n")


def test_names_must_have_room() -> None:
    text = HEAD + STREAM.replace('"s"', f'"{"s" * 28}"') + "read_rate = 1\nwrite_rate = 1\n"
    with pytest.raises(UsageError, match="is not a name"):
        file.parse(text)
