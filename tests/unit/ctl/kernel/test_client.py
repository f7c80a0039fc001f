# SPDX-License-Identifier: GPL-2.0
"""The netlink seam: attributes go out as the contract says, answers come in as records."""

from __future__ import annotations

import errno
import struct
from enum import IntEnum
from typing import Any

import pytest
from lib.fakes.link import FakeLink, read_back

from spekctl.errors import SpekError
from spekctl.kernel import client, records
from spekctl.kernel.gen import spek
from spekctl.workload import file
from spekctl.workload.resolve import Options, Target, resolve

DISK = Target("/dev/x", 8, 16, 10 << 30, 512, 5)


def attributes(name: str, **options: Any) -> dict[str, Any]:
    """What a run of a shipped workload sends, after a round trip through real messages."""
    config = resolve(file.load(name), Options(available_cpus=(0, 1), **options), [DISK])
    return read_back(spek, spek.Cmd.RUN_NEW, client._run_attributes(config))


@pytest.mark.parametrize("name", file.shipped_names())
def test_a_workload_survives_the_wire(name: str) -> None:
    options: dict[str, Any] = {"bsu": 3} if name == "spc1" else {}
    config = resolve(file.load(name), Options(available_cpus=(0,), **options), [DISK])
    sent = attributes(name, **options)
    assert sent["name"] == name
    assert sent["targets"] == [{"major": 8, "minor": 16, "diskseq": 5}]
    assert sent["workers"] == [{"cpu": 0}]
    assert [asu["bytes"] for asu in sent["asus"]] == [asu.bytes for asu in config.asus]
    for stream, row in zip(config.streams, sent["streams"], strict=True):
        assert row["read_ppm"] == stream.read_ppm
        assert row["pattern"] == stream.pattern
        assert row.get("restart_bytes", 0) == stream.restart_bytes
        assert row["sizes"] == [
            {"bytes": size.bytes, "weight": size.weight} for size in stream.sizes
        ]


def test_read_only_runs_never_ask_to_write() -> None:
    assert "write" not in attributes("random-read-4k", write=True)
    assert "write" not in attributes("random-write-4k")
    assert attributes("random-write-4k", write=True)["write"] == 1


def test_an_interval_of_zero_is_the_kernels_default() -> None:
    assert attributes("random-read-4k")["interval_ns"] == 10**9
    assert "interval_ns" not in attributes("random-read-4k", interval_ns=0)


def client_of(*answers: dict[str, Any]) -> client.Client:
    opened = client.Client.__new__(client.Client)
    link: Any = FakeLink(*answers)
    opened._spek = spek
    opened._link = link
    opened._listener = None
    return opened


def test_histograms_are_put_together_from_their_parts() -> None:
    def part(first: int, *counts: int) -> dict[str, Any]:
        return {
            "phase": 1,
            "stream": 0,
            "direction": 1,
            "metric": 1,
            "sum_ns": 900,
            "min_ns": 3,
            "max_ns": 500,
            "hist_bits": 6,
            "hist_first": first,
            "hist": struct.pack(f"={len(counts)}Q", *counts),
        }

    counters = {
        "phase": 1,
        "stream": 0,
        "direction": 1,
        "ios": 6,
        "bytes": 24576,
        "requests": 6,
        "errors": 2,
        "error": [{"status": 5, "count": 2}],
    }
    (cell,) = client_of(counters, part(10, 1, 0, 2), part(300, 3)).stats(1)
    assert cell.direction is records.Direction.WRITE
    assert cell.errors_by_errno == {errno.EIO: 2}
    hist = cell.histograms[records.Metric.SERVICE]
    assert hist.counts == {10: 1, 12: 2, 300: 3}
    assert (hist.min_ns, hist.max_ns, hist.sum_ns) == (3, 500, 900)


@pytest.mark.parametrize("high", [0, 1, 2**64 - 1])
def test_sums_have_both_of_their_words(high: int) -> None:
    cell_of = {"phase": 1, "stream": 0, "direction": 0}
    times = {"metric": 0, "sum_ns": 5, "sum_high": high, "hist_bits": 6, "hist_first": 3}
    totals = {**cell_of, **times, "hist": struct.pack("=Q", 1)}
    of_cell = {
        "direction": 0,
        **{"response_sum_ns": 6, "response_sum_high": high},
        **{"service_sum_ns": 7, "service_sum_high": 1},
    }
    (cell,) = client_of(cell_of, totals).stats(1)
    (row,) = client_of({"cell": [of_cell], "streams": b""}).intervals(1, 0)
    sums = [
        cell.histograms[records.Metric.RESPONSE].sum_ns,
        row.read.response_sum_ns,
        row.read.service_sum_ns,
    ]
    assert sums == [2**64 * high + 5, 2**64 * high + 6, 2**64 + 7]


def test_an_older_module_has_no_upper_words() -> None:
    of_cell = {"direction": 0, "response_sum_ns": 2**64 - 1, "service_sum_ns": 8}
    (row,) = client_of({"cell": [of_cell], "streams": b""}).intervals(1, 0)
    assert (row.read.response_sum_ns, row.read.service_sum_ns) == (2**64 - 1, 8)


def test_an_interval_becomes_a_row() -> None:
    values = {
        "seq": 4,
        "phase": 1,
        "start_ns": 10,
        "end_ns": 20,
        "outstanding": 3,
        "backlog": 9,
        "cpu_ns": 5,
        "switches": 1,
        "coverage_ppm": 750_000,
        "cell": [{"direction": 1, "ios": 7, "response_p99_ns": 99}],
        "streams": struct.pack("=8Q", *range(8)),
    }
    (row,) = client_of(values).intervals(1, 4)
    assert (row.write.ios, row.write.response_p99_ns, row.read.ios) == (7, 99, 0)
    assert row.streams == [(0, 1, 2, 3), (4, 5, 6, 7)]
    assert (row.seq, row.phase) == (4, records.Phase.MEASURE)
    assert (row.worker_cpu_ns, row.coverage_ppm) == (5, 750_000)
    del values["cpu_ns"]
    (short,) = client_of(values).intervals(1, 4)
    assert short.worker_cpu_ns is None


def test_operations_are_put_in_order() -> None:
    pack = struct.Struct("=QQIIHHHH").pack
    parts = [
        {"first": 1, "ops": pack(20, 8192, 4096, 0, 1, 0, 0, 1)},
        {"first": 0, "ops": pack(10, 4096, 4096, 0, 0, 0, 0, 0)},
    ]
    assert [operation.at_ns for operation in client_of(*parts).operations(1, 0, 2)] == [10, 20]


def test_a_run_from_a_newer_module_is_understood() -> None:
    info = client_of(
        {
            "id": 3,
            "state": 1,
            "phase": 0,
            "backend": 2,
            "worker": [{"index": 0, "cpu": 1, "pid": 44}],
            "target": [{"major": 8, "minor": 0, "backend": 1}],
        }
    ).run_get(3)
    assert info.state is records.RunState.RUNNING
    assert info.workers[0].pid == 44
    assert (info.backend, info.targets[0].backend) == ("mq", "bio")


def test_what_devices_said_is_understood() -> None:
    said = {"key": 3, "asc": 17, "ascq": 0, "deferred": 0}
    info = client_of(
        {"id": 3, "state": 3, "first_sense": said, "sense": [{**said, "count": 5}]}
    ).run_get(3)
    assert info.first_sense == records.SenseInfo(3, 17, 0)
    assert info.senses == (records.SenseInfo(3, 17, 0, 0, 5),)


@pytest.mark.parametrize("name", ["run_start", "run_stop"])
def test_what_follows_from_a_request_is_heard(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The listener is there before the request: what is announced at once is not missed."""
    done: list[str] = []

    class Listener:
        def __init__(self, *arguments: Any) -> None:
            done.append("listen")

        def wait(self, timeout_s: float) -> None:
            done.append("wait")

    opened = client_of()
    monkeypatch.setattr(client, "Link", Listener)
    monkeypatch.setattr(opened._link, "tell", lambda *told, **values: done.append("tell"), False)
    getattr(opened, name)(1)
    opened.wait(1.0)
    assert done == ["listen", "tell", "wait"]


class OneByOne(FakeLink):
    """Each request has an answer of its own."""

    def ask(self, command: IntEnum, **values: Any) -> dict[str, Any]:
        answer = read_back(spek, command, self.answers.pop(0))
        self.asked.append((command.name, values))
        return answer


def claiming(*answers: dict[str, Any]) -> tuple[client.Client, OneByOne]:
    link = OneByOne(*answers)
    asked = client_of()
    asked._link = link  # type: ignore[assignment]
    asked._listener = SilentListener()  # type: ignore[assignment]
    return asked, link


class SilentListener:
    def wait(self, timeout_s: float) -> None:
        assert timeout_s < 1


OPENING, FAILED, READY = (
    {"id": 4, "state": int(state)}
    for state in (spek.ClaimState.OPENING, spek.ClaimState.FAILED, spek.ClaimState.READY)
)


def test_a_claim_is_waited_for_and_named_by_runs() -> None:
    asked, link = claiming({"id": 4}, OPENING, READY, {"id": 9}, {"id": 9, "state": 0})
    waits: list[None] = []
    config = resolve(file.load("random-read-4k"), Options(available_cpus=(0,)), [DISK])
    assert asked.claim_new(config.targets, True, lambda: waits.append(None)) == 4
    assert len(waits) == 1
    targets = [{"major": 8, "minor": 16, "diskseq": 5}]
    assert link.asked[0] == ("CLAIM_NEW", {"write": 1, "target": targets})
    assert asked.run_new(config, claim=4) == 9
    name, values = next(request for request in link.asked if request[0] == "RUN_NEW")
    assert read_back(spek, spek.Cmd[name], values)["claim"] == 4


def test_a_claim_that_failed_is_deleted_and_its_device_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    failed = {**FAILED, "failure_errno": errno.EBUSY, "failure": "In use.", "failure_index": 1}
    asked, _ = claiming({"id": 4}, failed)
    gone: list[int] = []
    monkeypatch.setattr(asked, "claim_del", gone.append)
    with pytest.raises(SpekError, match=r"In use\.") as caught:
        asked.claim_new([], False)
    assert (caught.value.errno, caught.value.blamed) == (errno.EBUSY, ("target", 1))
    assert gone == [4]


def test_a_claim_that_is_not_waited_for_is_deleted() -> None:
    asked, link = claiming({"id": 4}, OPENING)

    def stop() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        asked.claim_new([], False, stop)
    assert link.asked[-1] == ("CLAIM_DEL", {"id": 4})


def test_claims_are_records() -> None:
    (claim,) = client_of(
        {"id": 4, "state": 0, "write": 1, "runs": 1, "target": [{"major": 8, "minor": 0}]}
    ).claims()
    assert (claim.state, claim.runs, claim.targets[0].major) == (records.ClaimState.READY, 1, 8)
