# SPDX-License-Identifier: GPL-2.0
"""The prober's client: columns by name, rows put together from messages, differences."""

from __future__ import annotations

import struct
from dataclasses import fields
from typing import Any

import pytest

from spekctl.kernel import prober
from spekctl.kernel.gen import spek_prober as uapi
from spekctl.kernel.prober import CpuAndSwitches, Prober

ABSENT = 2**64 - 1
WIDTH = len(uapi.CpuColumn)


class FakeLink:
    """Answers dumps from a list of rows, as the kernel would; each row is a list of messages."""

    def __init__(self, rows: list[list[dict[str, Any]]], dropped: int = 0) -> None:
        self.rows = rows
        self.dropped = dropped

    def dump(self, command: int, probe: int, since: int = 0) -> list[dict[str, Any]]:
        assert command == uapi.Cmd.SAMPLE_GET
        messages = [message for row in self.rows for message in row if message["seq"] >= since]
        return [{**message, "dropped": self.dropped} for message in messages]


def block(table: int, entities: dict[int, list[int]]) -> dict[str, Any]:
    cells = [cell for row in entities.values() for cell in row]
    return {
        "table": table,
        "entities": struct.pack(f"={len(entities)}I", *entities),
        "cells": struct.pack(f"={len(cells)}Q", *cells),
    }


def message(seq: int, *blocks: dict[str, Any], more: int = 0) -> dict[str, Any]:
    head = {"probe": 1, "seq": seq, "tick": seq, "due_ns": seq * 10, "start_ns": seq * 10 + 1}
    return {**head, "end_ns": seq * 10 + 2, "final": 0, "more": more, "blocks": list(blocks)}


def cpu_row(value: int, switches: int = 7) -> list[dict[str, Any]]:
    return [
        block(uapi.Table.CPU, {0: [value] * WIDTH, uapi.TOTAL: [2 * value] * WIDTH}),
        block(uapi.Table.SWITCHES, {0: [switches], uapi.TOTAL: [switches]}),
    ]


def connect(monkeypatch: pytest.MonkeyPatch, link: FakeLink) -> Prober:
    monkeypatch.setattr(prober, "Link", lambda *arguments: link)
    return Prober()


def test_counters_of_cpus_are_those_of_both_tables() -> None:
    columns = [*uapi.CpuColumn, *uapi.SwitchColumn]
    assert [field.name for field in fields(CpuAndSwitches)] == [
        column.name.lower() for column in columns
    ]


def test_row_in_parts_is_one_row(monkeypatch: pytest.MonkeyPatch) -> None:
    cpu, switches = cpu_row(5)
    tasks = {pid: [pid] * len(uapi.TaskColumn) for pid in range(10, 20)}
    parts = [
        message(3, cpu, more=1),
        message(3, switches, block(uapi.Table.TASK, dict(list(tasks.items())[:4])), more=1),
        message(3, block(uapi.Table.TASK, dict(list(tasks.items())[4:]))),
    ]
    rows, dropped = connect(monkeypatch, FakeLink([parts, [message(4, *cpu_row(6))]])).rows(1)

    assert dropped == 0
    assert [row.seq for row in rows] == [3, 4]
    assert rows[0].total.user_ns == 10
    assert rows[0].cpus[0].switches == 7
    assert list(rows[0].tasks) == list(range(10, 20))
    assert rows[0].tasks[15].involuntary == 15


def test_absent_is_none_and_stays_out_of_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    first = [message(0, *cpu_row(5))]
    second = [message(1, *cpu_row(9, switches=ABSENT))]
    batch = connect(monkeypatch, FakeLink([first, second])).samples(1)

    (sample,) = batch.samples
    assert sample.row.total.switches is None
    assert sample.total.switches is None
    assert sample.cpus[0].idle_ns == 4
    assert sample.total.idle_ns == 8
    assert sample.duration_ns == 10


def test_cpu_in_one_row_only_is_in_no_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = block(uapi.Table.CPU, {uapi.TOTAL: [9] * WIDTH})
    link = FakeLink([[message(0, *cpu_row(4))], [message(1, alone)], [message(2, *cpu_row(8))]])
    first, second = connect(monkeypatch, link).samples(1).samples

    assert first.cpus == second.cpus == {}
    assert first.total.user_ns == 1


def test_cursor_goes_on_where_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    link = FakeLink([[message(seq, *cpu_row(seq))] for seq in range(4)], dropped=2)
    client = connect(monkeypatch, link)
    first = client.samples(1)
    assert first.last is not None and first.last.seq == 3
    assert client.samples(1, first.last).samples == ()
    link.rows.append([message(6, *cpu_row(6))])
    again = client.samples(1, first.last)

    assert [sample.row.seq for sample in again.samples] == [6]
    assert again.samples[0].cpus[0].user_ns == 3
    assert again.dropped == 2


class DescribedLink(FakeLink):
    """A prober that has tables with names: one disk and the memory."""

    def ask(self, command: int) -> dict[str, Any]:
        assert command == uapi.Cmd.PROBE_GET
        tables = [
            (
                uapi.Table.MEMORY,
                "memory",
                [uapi.TOTAL],
                [("free-bytes", 1), ("paged-in-bytes", 0)],
            ),
            (uapi.Table.DISK, "disk", [5], [("reads", 0), ("read-time-ns", 0)]),
        ]
        described = [
            {
                "id": number,
                "name": name,
                "entities": struct.pack(f"={len(entities)}I", *entities),
                "columns": [{"name": column, "level": level} for column, level in columns],
                **({"entity_names": ["sda"]} if name == "disk" else {}),
            }
            for number, name, entities, columns in tables
        ]
        return {"module_version": "1", "state": "running", "id": 1, "tables": described}


def test_tables_with_names_become_differences_and_levels(monkeypatch: pytest.MonkeyPatch) -> None:
    def row(seq: int, free: int, reads: int) -> list[dict[str, Any]]:
        memory = block(uapi.Table.MEMORY, {uapi.TOTAL: [free, 100 * seq]})
        disk = block(uapi.Table.DISK, {5: [reads, ABSENT if seq == 2 else 10 * reads]})
        power = block(uapi.Table.POWER, {256: [seq, seq, 0]})
        return [message(seq, *cpu_row(seq), memory, disk, power)]

    link = DescribedLink([row(0, 9, 4), row(1, 7, 6), row(2, 8, 9)])
    first, second = connect(monkeypatch, link).samples(1).samples

    assert first.others == {
        "memory": {"total": {"free_bytes": 7, "paged_in_bytes": 100}},
        "disk": {"sda": {"reads": 2, "read_time_ns": 20}},
    }
    assert second.others["disk"] == {"sda": {"reads": 3, "read_time_ns": None}}
    assert second.row.power[256].energy_nj == 2


def test_disk_that_has_gone_is_in_no_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    with_disk = [message(0, *cpu_row(1), block(uapi.Table.DISK, {5: [1, 1]}))]
    link = DescribedLink([with_disk, [message(1, *cpu_row(2))]])
    (sample,) = connect(monkeypatch, link).samples(1).samples
    assert sample.others == {"memory": {}, "disk": {}}
