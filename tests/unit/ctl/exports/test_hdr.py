# SPDX-License-Identifier: GPL-2.0
"""HdrHistogram's own library reads what spekctl writes."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl import results
from lib.ctl.fleets import three
from msgspec.structs import replace

from spekctl.documents import histogram
from spekctl.exports import hdr, measured
from spekctl.exports.measured import Way
from spekctl.fleet.merge import merge
from spekctl.kernel.records import Histogram

LEGEND = '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"'


def test_a_line_for_each_time_and_direction() -> None:
    lines = hdr.encode(results.build()).decode().splitlines()
    assert lines[4] == LEGEND and lines[1] == "#[Histogram log format version 1.3]"
    tags = [line.split(",")[0] for line in lines[5:]]
    assert tags == [
        f"Tag={time}.{way}" for way in ("read", "write") for time in ("slip", "service", "response")
    ]
    assert all(line.split(",")[2] == "4.000" for line in lines[5:])


def test_names_of_several_lines_stay_in_the_comment() -> None:
    result = results.build()
    header = replace(result.workload.workload, name="one\nTag=response.read,0,1,1,x\r\ntwo")
    machine = replace(result.environment, spekctl_version="1\n2")
    edited = replace(
        result, workload=replace(result.workload, workload=header), environment=machine
    )
    lines, plain = hdr.encode(edited).decode().splitlines(), hdr.encode(result).decode()
    assert lines[0] == (
        "#[one Tag=response.read,0,1,1,x two: response, service and slip in ns; spek 1 2]"
    )
    assert lines[1:] == plain.splitlines()[1:]


def test_the_library_finds_the_same_counts_and_percentiles(tmp_path: Path) -> None:
    log = pytest.importorskip("hdrh.log", reason="pip install 'spekctl[test]'")
    hdrh = pytest.importorskip("hdrh.histogram")
    result = results.build()
    path = tmp_path / "out.hlog"
    path.write_bytes(hdr.encode(result))
    reader = log.HistogramLogReader(str(path), hdrh.HdrHistogram(1, 1 << 41, 3))
    histograms = {}
    while (interval := reader.get_next_interval_histogram()) is not None:
        histograms[interval.get_tag()] = interval
    assert reader.get_start_time_sec() == pytest.approx(
        (result.start.realtime_ns + 10**9) / 1e9, abs=1.1
    )
    reads = measured.times(measured.cells(result, Way.READ), "response")
    assert reads is not None and len(histograms) == 6
    theirs = histograms["response.read"]
    assert theirs.get_total_count() == histogram.count_of(reads) == 70
    for percent in (1, 10, 50, 90, 99, 100):
        value = histogram.percentile(reads, percent * 10_000)
        assert theirs.values_are_equivalent(int(theirs.get_value_at_percentile(percent)), value), (
            percent
        )


def test_every_bucket_survives() -> None:
    """All buckets of spek, from 0 ns on, with counts of all lengths."""
    hdrh = pytest.importorskip("hdrh.histogram", reason="pip install 'spekctl[test]'")
    import base64

    bits = 7
    counts = {index: 1 + index * index * index for index in range(histogram.last_bucket(bits) + 1)}
    top = (1 << histogram.HIST_MAX_BITS) - 1
    encoded = base64.b64encode(hdr._compressed(Histogram(bits, counts, 1, 0, top)))
    theirs = hdrh.HdrHistogram.decode(encoded)
    assert theirs.get_total_count() == sum(counts.values())
    for index, count in counts.items():
        assert theirs.get_count_at_value(histogram.bucket_value(index, bits)) == count


def test_the_log_of_a_fleet_has_the_times_of_all_hosts() -> None:
    fleet = merge(three())
    assert hdr.encode(fleet) != hdr.encode(three()[0])
    assert fleet.totals.all.times.response is not None
    assert fleet.totals.all.times.response.count == 720
