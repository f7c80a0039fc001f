# SPDX-License-Identifier: GPL-2.0
# generated from prober/uapi/spek_prober.yaml, run `make gen`
# mypy: disable-error-code="import-untyped, import-not-found, misc"
"""Netlink family spek_prober: constants, enums and message classes for pyroute2."""

from enum import IntEnum
from typing import Any, ClassVar

from pyroute2.netlink import NLA_F_NESTED, genlmsg, nla

FAMILY = "spek_prober"
VERSION = 1
GROUP_PROBES = "probes"
TOTAL = 4294967295
MIN_INTERVAL_NS = 1000000
MAX_INTERVAL_NS = 3600000000000
DEFAULT_RING_ROWS = 4096
MIN_RING_ROWS = 2
MAX_RING_ROWS = 1048576
MAX_RING_BYTES = 268435456
MAX_TASKS = 1024


class Cmd(IntEnum):
    """Commands."""

    PROBE_START = 1
    PROBE_STOP = 2
    PROBE_DEL = 3
    PROBE_GET = 4
    SAMPLE_GET = 5
    PROBE_NTF = 6


class ProbeState(IntEnum):
    """State of the probe."""

    IDLE = 0
    RUNNING = 1
    STOPPING = 2
    DONE = 3


class Reason(IntEnum):
    """Why a probe ended."""

    NONE = 0
    STOPPED = 1
    OWNER_GONE = 2
    UNLOAD = 3


class Table(IntEnum):
    """Tables of a row."""

    CPU = 0
    SWITCHES = 1
    TASK = 2


class CpuColumn(IntEnum):
    """Columns of table cpu, in order. Times are ns and mean what /proc/stat means by them;
    without CONFIG_VIRT_CPU_ACCOUNTING on a CPU, all but idle and iowait grow in steps of the
    kernel's tick.
    """

    USER = 0
    NICE = 1
    SYSTEM = 2
    IDLE = 3
    IOWAIT = 4
    IRQ = 5
    SOFTIRQ = 6
    STEAL = 7
    GUEST = 8
    GUEST_NICE = 9
    INTERRUPTS = 10
    DEVICE_INTERRUPTS = 11
    SOFTIRQS = 12
    SOFTIRQ_HI = 13
    SOFTIRQ_TIMER = 14
    SOFTIRQ_NET_TX = 15
    SOFTIRQ_NET_RX = 16
    SOFTIRQ_BLOCK = 17
    SOFTIRQ_IRQ_POLL = 18
    SOFTIRQ_TASKLET = 19
    SOFTIRQ_SCHED = 20
    SOFTIRQ_HRTIMER = 21
    SOFTIRQ_RCU = 22


class SwitchColumn(IntEnum):
    """Columns of table switches, in order."""

    SWITCHES = 0


class TaskColumn(IntEnum):
    """Columns of table task, in order. They keep their last values when the task has ended. Of a
    task that is on a CPU, times are as of the last tick.
    """

    RUNTIME = 0
    USER = 1
    SYSTEM = 2
    VOLUNTARY = 3
    INVOLUNTARY = 4
    ENDED = 5


class TaskNla(nla):
    """Attributes of the set task, as a nest."""

    prefix = "SPEK_PROBER_A_TASK_"
    nla_map = ((1, "SPEK_PROBER_A_TASK_PID", "uint32", 0),)
    keys: ClassVar[dict[str, str]] = {
        "pid": "SPEK_PROBER_A_TASK_PID",
    }
    multi: ClassVar[frozenset[str]] = frozenset()
    enums: ClassVar[dict[str, type[IntEnum]]] = {}


class ColumnNla(nla):
    """Attributes of the set column, as a nest."""

    prefix = "SPEK_PROBER_A_COLUMN_"
    nla_map = (
        (1, "SPEK_PROBER_A_COLUMN_NAME", "asciiz", 0),
        (2, "SPEK_PROBER_A_COLUMN_UNIT", "asciiz", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "name": "SPEK_PROBER_A_COLUMN_NAME",
        "unit": "SPEK_PROBER_A_COLUMN_UNIT",
    }
    multi: ClassVar[frozenset[str]] = frozenset()
    enums: ClassVar[dict[str, type[IntEnum]]] = {}


class TableNla(nla):
    """Attributes of the set table, as a nest."""

    nest_column = ColumnNla
    prefix = "SPEK_PROBER_A_TABLE_"
    nla_map = (
        (1, "SPEK_PROBER_A_TABLE_ID", "uint32", 0),
        (2, "SPEK_PROBER_A_TABLE_NAME", "asciiz", 0),
        (3, "SPEK_PROBER_A_TABLE_COLUMN", "nest_column", NLA_F_NESTED),
        (4, "SPEK_PROBER_A_TABLE_ENTITIES", "cdata", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "id": "SPEK_PROBER_A_TABLE_ID",
        "name": "SPEK_PROBER_A_TABLE_NAME",
        "column": "SPEK_PROBER_A_TABLE_COLUMN",
        "entities": "SPEK_PROBER_A_TABLE_ENTITIES",
    }
    multi: ClassVar[frozenset[str]] = frozenset({"column"})
    enums: ClassVar[dict[str, type[IntEnum]]] = {
        "id": Table,
    }


class BlockNla(nla):
    """Attributes of the set block, as a nest."""

    prefix = "SPEK_PROBER_A_BLOCK_"
    nla_map = (
        (1, "SPEK_PROBER_A_BLOCK_TABLE", "uint32", 0),
        (2, "SPEK_PROBER_A_BLOCK_ENTITIES", "cdata", 0),
        (3, "SPEK_PROBER_A_BLOCK_CELLS", "cdata", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "table": "SPEK_PROBER_A_BLOCK_TABLE",
        "entities": "SPEK_PROBER_A_BLOCK_ENTITIES",
        "cells": "SPEK_PROBER_A_BLOCK_CELLS",
    }
    multi: ClassVar[frozenset[str]] = frozenset()
    enums: ClassVar[dict[str, type[IntEnum]]] = {
        "table": Table,
    }


class ProbeMsg(genlmsg):
    """Attributes of the set probe, as a message."""

    nest_table = TableNla
    nest_task = TaskNla
    prefix = "SPEK_PROBER_A_PROBE_"
    nla_map = (
        (1, "SPEK_PROBER_A_PROBE_PAD", "none", 0),
        (2, "SPEK_PROBER_A_PROBE_ID", "uint32", 0),
        (3, "SPEK_PROBER_A_PROBE_STATE", "uint32", 0),
        (4, "SPEK_PROBER_A_PROBE_REASON", "uint32", 0),
        (5, "SPEK_PROBER_A_PROBE_INTERVAL_NS", "uint64", 0),
        (6, "SPEK_PROBER_A_PROBE_RING_ROWS", "uint32", 0),
        (7, "SPEK_PROBER_A_PROBE_ROW_BYTES", "uint32", 0),
        (8, "SPEK_PROBER_A_PROBE_DETACHED", "uint32", 0),
        (9, "SPEK_PROBER_A_PROBE_TASK", "nest_task", NLA_F_NESTED),
        (10, "SPEK_PROBER_A_PROBE_OWNER_PID", "uint32", 0),
        (11, "SPEK_PROBER_A_PROBE_OWNER_NAME", "asciiz", 0),
        (12, "SPEK_PROBER_A_PROBE_THREAD_PID", "uint32", 0),
        (13, "SPEK_PROBER_A_PROBE_STARTED_NS", "uint64", 0),
        (14, "SPEK_PROBER_A_PROBE_START_RAW_NS", "uint64", 0),
        (15, "SPEK_PROBER_A_PROBE_START_REAL_NS", "uint64", 0),
        (16, "SPEK_PROBER_A_PROBE_ENDED_NS", "uint64", 0),
        (17, "SPEK_PROBER_A_PROBE_END_RAW_NS", "uint64", 0),
        (18, "SPEK_PROBER_A_PROBE_END_REAL_NS", "uint64", 0),
        (19, "SPEK_PROBER_A_PROBE_NOW_NS", "uint64", 0),
        (20, "SPEK_PROBER_A_PROBE_ROWS", "uint64", 0),
        (21, "SPEK_PROBER_A_PROBE_OLDEST", "uint64", 0),
        (22, "SPEK_PROBER_A_PROBE_MISSED", "uint64", 0),
        (23, "SPEK_PROBER_A_PROBE_LATE_SUM_NS", "uint64", 0),
        (24, "SPEK_PROBER_A_PROBE_LATE_MAX_NS", "uint64", 0),
        (25, "SPEK_PROBER_A_PROBE_COST_SUM_NS", "uint64", 0),
        (26, "SPEK_PROBER_A_PROBE_COST_MAX_NS", "uint64", 0),
        (27, "SPEK_PROBER_A_PROBE_TABLE", "nest_table", NLA_F_NESTED),
        (28, "SPEK_PROBER_A_PROBE_MODULE_VERSION", "asciiz", 0),
    )
    keys: ClassVar[dict[str, str]] = {
        "id": "SPEK_PROBER_A_PROBE_ID",
        "state": "SPEK_PROBER_A_PROBE_STATE",
        "reason": "SPEK_PROBER_A_PROBE_REASON",
        "interval_ns": "SPEK_PROBER_A_PROBE_INTERVAL_NS",
        "ring_rows": "SPEK_PROBER_A_PROBE_RING_ROWS",
        "row_bytes": "SPEK_PROBER_A_PROBE_ROW_BYTES",
        "detached": "SPEK_PROBER_A_PROBE_DETACHED",
        "task": "SPEK_PROBER_A_PROBE_TASK",
        "owner_pid": "SPEK_PROBER_A_PROBE_OWNER_PID",
        "owner_name": "SPEK_PROBER_A_PROBE_OWNER_NAME",
        "thread_pid": "SPEK_PROBER_A_PROBE_THREAD_PID",
        "started_ns": "SPEK_PROBER_A_PROBE_STARTED_NS",
        "start_raw_ns": "SPEK_PROBER_A_PROBE_START_RAW_NS",
        "start_real_ns": "SPEK_PROBER_A_PROBE_START_REAL_NS",
        "ended_ns": "SPEK_PROBER_A_PROBE_ENDED_NS",
        "end_raw_ns": "SPEK_PROBER_A_PROBE_END_RAW_NS",
        "end_real_ns": "SPEK_PROBER_A_PROBE_END_REAL_NS",
        "now_ns": "SPEK_PROBER_A_PROBE_NOW_NS",
        "rows": "SPEK_PROBER_A_PROBE_ROWS",
        "oldest": "SPEK_PROBER_A_PROBE_OLDEST",
        "missed": "SPEK_PROBER_A_PROBE_MISSED",
        "late_sum_ns": "SPEK_PROBER_A_PROBE_LATE_SUM_NS",
        "late_max_ns": "SPEK_PROBER_A_PROBE_LATE_MAX_NS",
        "cost_sum_ns": "SPEK_PROBER_A_PROBE_COST_SUM_NS",
        "cost_max_ns": "SPEK_PROBER_A_PROBE_COST_MAX_NS",
        "table": "SPEK_PROBER_A_PROBE_TABLE",
        "module_version": "SPEK_PROBER_A_PROBE_MODULE_VERSION",
    }
    multi: ClassVar[frozenset[str]] = frozenset({"task", "table"})
    enums: ClassVar[dict[str, type[IntEnum]]] = {
        "state": ProbeState,
        "reason": Reason,
    }


class SampleMsg(genlmsg):
    """Attributes of the set sample, as a message."""

    nest_block = BlockNla
    prefix = "SPEK_PROBER_A_SAMPLE_"
    nla_map = (
        (1, "SPEK_PROBER_A_SAMPLE_PAD", "none", 0),
        (2, "SPEK_PROBER_A_SAMPLE_PROBE", "uint32", 0),
        (3, "SPEK_PROBER_A_SAMPLE_SINCE", "uint64", 0),
        (4, "SPEK_PROBER_A_SAMPLE_SEQ", "uint64", 0),
        (5, "SPEK_PROBER_A_SAMPLE_DROPPED", "uint64", 0),
        (6, "SPEK_PROBER_A_SAMPLE_TICK", "uint64", 0),
        (7, "SPEK_PROBER_A_SAMPLE_DUE_NS", "uint64", 0),
        (8, "SPEK_PROBER_A_SAMPLE_START_NS", "uint64", 0),
        (9, "SPEK_PROBER_A_SAMPLE_END_NS", "uint64", 0),
        (10, "SPEK_PROBER_A_SAMPLE_FINAL", "uint32", 0),
        (11, "SPEK_PROBER_A_SAMPLE_MORE", "uint32", 0),
        (12, "SPEK_PROBER_A_SAMPLE_BLOCK", "nest_block", NLA_F_NESTED),
    )
    keys: ClassVar[dict[str, str]] = {
        "probe": "SPEK_PROBER_A_SAMPLE_PROBE",
        "since": "SPEK_PROBER_A_SAMPLE_SINCE",
        "seq": "SPEK_PROBER_A_SAMPLE_SEQ",
        "dropped": "SPEK_PROBER_A_SAMPLE_DROPPED",
        "tick": "SPEK_PROBER_A_SAMPLE_TICK",
        "due_ns": "SPEK_PROBER_A_SAMPLE_DUE_NS",
        "start_ns": "SPEK_PROBER_A_SAMPLE_START_NS",
        "end_ns": "SPEK_PROBER_A_SAMPLE_END_NS",
        "final": "SPEK_PROBER_A_SAMPLE_FINAL",
        "more": "SPEK_PROBER_A_SAMPLE_MORE",
        "block": "SPEK_PROBER_A_SAMPLE_BLOCK",
    }
    multi: ClassVar[frozenset[str]] = frozenset({"block"})
    enums: ClassVar[dict[str, type[IntEnum]]] = {}


MESSAGES: dict[int, Any] = {
    Cmd.PROBE_START: ProbeMsg,
    Cmd.PROBE_STOP: ProbeMsg,
    Cmd.PROBE_DEL: ProbeMsg,
    Cmd.PROBE_GET: ProbeMsg,
    Cmd.SAMPLE_GET: SampleMsg,
    Cmd.PROBE_NTF: ProbeMsg,
}


def message(data: Any, offset: int = 0) -> Any:
    """Make the message object for the bytes at offset; pyroute2 takes it for a class.

    pyroute2 knows one class for each family, but the attributes depend on the command,
    which is the first byte after the 16 bytes of struct nlmsghdr.
    """
    cls = MESSAGES.get(data[offset + 16], genlmsg)
    return cls(data, offset=offset)
