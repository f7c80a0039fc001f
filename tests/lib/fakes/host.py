# SPDX-License-Identifier: GPL-2.0
"""A host without a kernel, as a process: speaks the protocol of `spekctl host --stdio`, and replays
rows. `python host.py '{"rows": 1000, "streams": 60, ...}'`; see Script for what it can be told."""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
import signal
import sys
import threading
import time

import msgspec

from spekctl import __version__
from spekctl.documents.result_parts import LogResult
from spekctl.host import protocol, wire
from spekctl.host.protocol import (
    AnyRequest,
    DryRun,
    Ended,
    ListDevices,
    Log,
    Metrics,
    Note,
    Plan,
    Rows,
    Start,
    Started,
    State,
    Status,
)
from spekctl.host.wire import Answer, Fault, Hello, Stop
from spekctl.kernel.records import Phase, RunState
from spekctl.run.candidates import Candidate
from spekctl.run.progress import Clock, DirectionFigures, Figures


class Script(msgspec.Struct):
    """What the host does. @text stands in every text that a device or a workload can supply."""

    rows: int = 5
    streams: int = 1
    pause_s: float = 0.02  # between rows
    burst: int = 1  # rows that come together
    text: str = "FAKE"
    first: str = ""  # the first line instead of hello; "exit" for none
    dies_after: int = -1  # rows
    result: str = ""  # path of a result
    log: str = ""  # path of a log, which is sent if a job asks for one
    log_part: int = 10_000
    code: int = 0
    note: str = ""
    protocol: int = wire.PROTOCOL
    refuses: str = ""  # sentence with which a start is refused
    swapped: bool = False  # the disk at /dev/fake0 is another one once it has been listed


def device(script: Script, number: int, state: str, in_use: str = "") -> Candidate:
    return Candidate(
        path=f"/dev/fake{number}",
        bytes=1 << 30,
        logical_block=512,
        model=script.text,
        id=f"S{number}",
        serial=f"S{number}",
        wwn="",
        driver="fake",
        partition_of=None,
        read_only=False,
        in_use=in_use,
        open_for_writing=[],
        data=[script.text],
        state=state,
    )


def direction(iops: float) -> DirectionFigures:
    ns = int(100_000 + iops)
    return DirectionFigures(int(iops), iops, iops / 256, ns, 4 * ns, 9 * ns)


def row(script: Script, number: int) -> Figures:
    rate = 5000 + 1000 * math.sin(number / 7)
    each = rate / script.streams
    return Figures(
        at_s=number + 1.0,
        phase=Phase.MEASURE,
        read=direction(0.7 * rate),
        write=direction(0.3 * rate),
        outstanding=8,
        backlog=number % 3,
        errors=0,
        worker_cpu=0.5,
        worker_switches_per_io=0.1,
        machine=None,
        watts=7.5,
        streams=tuple(each * (1 + number / 100) for number in range(script.streams)),
    )


class FakeHost:
    """One run at a time, in a thread."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.lock = threading.Lock()
        self.stop = threading.Event()
        self.run: threading.Thread | None = None
        self.lists = 0

    @property
    def first_id(self) -> str:
        """Of the disk at /dev/fake0."""
        return "S7" if self.script.swapped and self.lists else "S0"

    def send(self, message: object) -> None:
        with self.lock, contextlib.suppress(OSError):
            sys.stdout.buffer.write(wire.line(message))
            sys.stdout.buffer.flush()

    def serve(self) -> None:
        if self.script.first == "exit":
            print("sudo: a password is required", file=sys.stderr)
            sys.exit(1)
        if self.script.first:
            print(self.script.first, flush=True)
        self.send(Hello(self.script.protocol, __version__, protocol.VERBS))
        for line in sys.stdin.buffer:
            asked = msgspec.json.decode(line, type=AnyRequest)
            answer = self.answer(asked)
            if isinstance(answer, Fault):
                self.send(Answer(asked.id, error=answer))
            else:
                self.send(Answer(asked.id, msgspec.Raw(msgspec.json.encode(answer))))
            if isinstance(asked, Start) and self.run is not None and not self.run.ident:
                self.run.start()
        self.stop.set()

    def answer(self, asked: AnyRequest) -> object:
        running = self.run is not None and (self.run.ident is None or self.run.is_alive())
        match asked:
            case ListDevices():
                first = device(self.script, 0, "reading; writing with --destroy (it holds data)")
                first = dataclasses.replace(first, id=self.first_id)
                self.lists += 1
                return [
                    first,
                    device(self.script, 1, f"no: {self.script.text}", self.script.text),
                ]
            case DryRun() | Start():
                job = asked.job
                shown = job.ids.get("/dev/fake0")
                if shown not in (None, self.first_id):
                    return Fault(4, f"/dev/fake0 is another device now: {shown} was chosen")
                if self.script.refuses:
                    return Fault(4, self.script.refuses)
                if isinstance(asked, Start):
                    if "S0" not in job.destroy and job.options.get("write"):
                        return Fault(4, "/dev/fake0 holds data; to overwrite it, give --destroy S0")
                    self.stop.clear()
                    wish = str(job.options.get("log", ""))
                    self.run = threading.Thread(target=self.replay, args=(wish,), daemon=True)
                name = job.workload or "options"
                toml = f"# {self.script.text}\n" + "\n".join(job.settings)
                return Plan(name, toml, bool(job.options.get("write")), ["run", name], [])
            case Stop():
                self.stop.set()
                return None
            case Status():
                return State(running, [], probe=f"probe 4 of {self.script.text}")
            case Metrics():
                return "# EOF\n" if asked.openmetrics else ""

    def replay(self, log: str) -> None:
        """@log: name of the log that the job asks for; empty: none."""
        script = self.script
        names = [f"{script.text}{number}" for number in range(script.streams)]
        title = f"{script.text} on /dev/fake0"
        self.send(Started(title, script.text, names, ["run", script.text]))
        if script.note:
            self.send(Note(script.note))
        for first in range(0, script.rows, script.burst):
            if script.dies_after >= 0 and first >= script.dies_after:
                os.kill(os.getpid(), signal.SIGKILL)
            if self.stop.is_set():
                break
            last = min(first + script.burst, script.rows)
            news = [row(script, number) for number in range(first, last)]
            share = last / script.rows
            clock = Clock(Phase.MEASURE, RunState.RUNNING, last, script.rows - last, share)
            self.send(Rows(clock, news))
            time.sleep(script.pause_s)
        stopped = self.stop.is_set()
        result = msgspec.Raw(b"null")
        if script.result:
            with open(script.result, "rb") as file:
                contents = msgspec.json.decode(file.read())
            if log:
                contents["log"] = self.send_log(log)
            result = msgspec.Raw(msgspec.json.encode(contents))
        code = 130 if stopped else script.code
        text = "the run was stopped early" if stopped else f"the run completed {script.text}"
        self.send(Ended(code, text, result))

    def send_log(self, name: str) -> LogResult:
        with open(self.script.log, "rb") as file:
            data = file.read()
        for start in range(0, len(data), self.script.log_part):
            self.send(Log(data[start : start + self.script.log_part]))
        return LogResult(name, len(data), 1, 0, 1, 0, 4096, True, "")


if __name__ == "__main__":
    FakeHost(msgspec.json.decode(sys.argv[1], type=Script)).serve()
