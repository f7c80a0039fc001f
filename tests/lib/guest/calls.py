# SPDX-License-Identifier: GPL-2.0
"""Who calls a kernel function, how often, and through what."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from lib.guest.trace import trace_instance

from spekctl.vm.guest_side import TRACEFS

Stack = tuple[str, ...]  # from the caller to the outermost one, each with its offset and module


def _write(name: str, value: object) -> None:
    (TRACEFS / name).write_text(f"{value}\n")


def _stacks(trace: str, function: str) -> Iterator[Stack]:
    for part in trace.split("<stack trace>")[1:]:
        lines = itertools.takewhile(lambda line: line.startswith(" => "), part.splitlines()[1:])
        stack = [line.removeprefix(" => ") for line in lines]
        # Above the function itself the tracer's own frames may show.
        own = [number for number, frame in enumerate(stack) if frame.split("+")[0] == function]
        yield tuple(stack[own[0] + 1 if own else 0 :])


@contextmanager
def stacks_of(function: str, pid: int | None = None) -> Iterator[list[Stack]]:
    """The list is filled at the end of the block; calls by one task only if @pid is given."""
    stacks: list[Stack] = []
    _write("current_tracer", "nop")
    _write("set_ftrace_filter", function)
    _write("set_ftrace_pid", "" if pid is None else pid)
    _write("current_tracer", "function")
    try:
        _write("options/func_stack_trace", 1)
        _write("options/sym-offset", 1)
        _write("trace", "")
        _write("tracing_on", 1)
        yield stacks
        _write("tracing_on", 0)
        stacks += _stacks((TRACEFS / "trace").read_text(), function)
    finally:
        _write("options/func_stack_trace", 0)
        _write("options/sym-offset", 0)
        _write("current_tracer", "nop")
        _write("set_ftrace_filter", "")
        _write("set_ftrace_pid", "")
        _write("trace", "")
        _write("tracing_on", 1)


def passes_module(stack: Stack, module: str) -> bool:
    """True if a function of that module is among the callers."""
    return any(f"[{module}]" in frame for frame in stack)


@contextmanager
def times_of(function: str) -> Iterator[list[int]]:
    """CLOCK_MONOTONIC of each call, to the end of its microsecond; filled at the end."""
    times: list[int] = []
    _write("current_tracer", "nop")
    _write("trace_clock", "mono")
    _write("set_ftrace_filter", function)
    _write("current_tracer", "function")
    try:
        _write("trace", "")
        _write("tracing_on", 1)
        yield times
        _write("tracing_on", 0)
        calls = re.finditer(rf"\s(\d+)\.(\d{{6}}): {function} <-", (TRACEFS / "trace").read_text())
        times += [int(call[1]) * 10**9 + int(call[2]) * 1000 + 999 for call in calls]
    finally:
        _write("current_tracer", "nop")
        _write("trace_clock", "local")
        _write("set_ftrace_filter", "")
        _write("trace", "")
        _write("tracing_on", 1)


CALLS_LINE = re.compile(r"{ common_pid: (.+?) *\[ *\d+\] +} hitcount: +(\d+)")
KPROBES = TRACEFS / "kprobe_events"  # what is written replaces all that are there
BY_TASK = "hist:keys=common_pid.execname"


@contextmanager
def calls_by_task(module: str, function: str) -> Iterator[Counter[str]]:
    """Calls of a function of a module by the name of the calling task; filled at the end."""
    calls: Counter[str] = Counter()
    instance = trace_instance("calls")
    event = instance / "events/called" / function
    try:
        KPROBES.write_text(f"p:called/{function} {module}:{function}\n")
        try:
            (event / "trigger").write_text(f"{BY_TASK}\n")
            yield calls
            text = (event / "hist").read_text()
            (_name, _hits, missed) = (TRACEFS / "kprobe_profile").read_text().split()
            assert (missed, text.rpartition("Dropped:")[2].split()[0]) == ("0", "0"), text
            calls.update({name: int(hits) for name, hits in CALLS_LINE.findall(text)})
            assert calls.total() == int(text.rpartition("Hits:")[2].split()[0]), text
        finally:
            (event / "trigger").write_text(f"!{BY_TASK}\n")
    finally:
        KPROBES.write_text("")
        instance.rmdir()
