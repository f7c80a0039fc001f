# SPDX-License-Identifier: GPL-2.0
"""Job files of fio, fio itself, and what becomes of its jobs."""

from __future__ import annotations

import functools
import json
import re
import shutil
import subprocess
from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.build.sources import ROOT
from lib.core.config import core_of
from lib.core.spekcore import NEVER, Generator
from lib.ctl.resolved import DISK
from lib.kept import kept
from lib.waiting import LONG_S

from spekctl.fio import convert, job
from spekctl.fio.jobfile import Job
from spekctl.fio.plan import Plan
from spekctl.vm.cache import digest_of
from spekctl.workload.imported import Imported
from spekctl.workload.options import Options
from spekctl.workload.resolve import resolve

JOBS = Path(__file__).parents[2] / "unit/ctl/fio/jobs"
NAMES = sorted(path.stem for path in JOBS.glob("*.fio"))
HEAD = "[j]\ndirect=1\nioengine=libaio\nfilename=/dev/sdx\n"


# Words after which what a job does depends on how long its I/Os take.
TIMED = re.compile("time|delay|rate|latency|async")
DEVICE, LOG = "device", "log"


class NotKeptError(Exception):
    """An answer that another run of fio need not give."""

    def __init__(self, answer: Any) -> None:
        super().__init__()
        self.answer = answer


def program() -> str:
    path = shutil.which("fio")
    if path is None:
        pytest.skip("fio is not installed; .ci/packages test names it")
    return path


@functools.cache
def version(path: str) -> str:
    """Of the program, by its bytes."""
    return digest_of(Path("/"), [Path(path)])


def of_fio(make: Callable[[], Any], *words: str) -> Any:
    """What @make, which runs fio, makes of these @words and nothing else, as JSON has it.

    It is kept until fio or this file is another one: each start takes a tenth of a second of a
    processor. What depends on time, and the answer of a NotKeptError, is not kept.
    """

    def write(path: Path) -> None:
        path.write_text(json.dumps(make()))

    try:
        if any(TIMED.search(word) for word in words):
            return make()
        # What is kept is what this file has read in the output of fio.
        name = digest_of(ROOT, [Path(__file__)], version(program()), *words)
        return json.loads(kept("fio", name, write).read_text())
    except NotKeptError as error:
        return error.answer


def fio(
    *words: str | Path, folder: Path | None = None, device_bytes: int | None = None
) -> subprocess.CompletedProcess[str]:
    """fio itself. Its answer is cached unless it depends on time or on a file; DEVICE alone does
    not count as a file: with @device_bytes, it is created in @folder, full of zeroes."""
    texts = [*map(str, words)]
    if device_bytes is None and (folder or any("/" in text for text in texts)):
        return run_fio(texts, folder)

    def say() -> tuple[int, str, str]:
        if folder and device_bytes is not None:
            (folder / DEVICE).write_bytes(bytes(device_bytes))
        done = run_fio(texts, folder)
        answer = done.returncode, done.stdout, done.stderr
        if done.returncode:
            raise NotKeptError(answer)
        return answer

    status, out, err = of_fio(say, *texts, str(device_bytes))
    return subprocess.CompletedProcess(texts, status, out, err)


def run_fio(words: Sequence[str], folder: Path | None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program(), *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=LONG_S,
    )


def imported(tmp_path: Path, text: str, **options: Any) -> Imported:
    path = tmp_path / "job.fio"
    path.write_text(text)
    return convert.load(path, **options)


def tables(imported: Imported) -> dict[str, Any]:
    data = msgspec.to_builtins(imported.workload)
    assert isinstance(data, dict)
    return data


def stream(imported: Imported) -> dict[str, Any]:
    (only,) = tables(imported)["stream"]
    return {key: value for key, value in only.items() if key not in ("name", "arrival", "share")}


# Direction, first byte and length of an I/O.
Io = tuple[str, int, int]
SERVICE_NS = 1000  # of each I/O of an imported job
BUFFER_BYTES = 8192  # of a log in fio
CLONE = "fio version 3 iolog\n"  # which begins one


def places(folder: Path, text: str) -> list[list[tuple[str, int]]]:
    """(direction, first byte) of each I/O of fio itself, for each clone, in the order of the first
    ones; nothing is touched."""
    options = {"filename=/dev/sdx": "thread=0", "ioengine=libaio": "ioengine=null"}
    options["direct=1"] = f"write_iolog={LOG}"

    def run() -> subprocess.CompletedProcess[str]:
        lines = [options.get(line, line) for line in text.splitlines()]
        (folder / "job.fio").write_text("\n".join(lines) + "\n")
        return run_fio(["job.fio"], folder)

    clones = of_fio(lambda: _logged(folder, run, text), "places", text)
    return [[(way, first) for way, first, _ in clone] for clone in clones]


def sequence_by_fio(folder: Path, words: str, size: int) -> list[Io]:
    """The I/Os of a job of fio itself, by its own log, on a file of @size bytes; those of one clone
    after those of another."""
    how = ("--name=a", "--thread", "--ioengine=psync", f"--filename={DEVICE}")

    def run() -> subprocess.CompletedProcess[str]:
        (folder / DEVICE).write_bytes(bytes(size))
        return run_fio([*how, f"--write_iolog={LOG}", *words.split()], folder)

    clones = of_fio(lambda: _logged(folder, run, words), "sequence", words, str(size))
    return [(way, first, length) for clone in clones for way, first, length in clone]


def _logged(
    folder: Path, run: Callable[[], subprocess.CompletedProcess[str]], words: str
) -> list[list[Io]]:
    """The I/Os of each clone of a job of @words. A log is that of the job, and not of one run only,
    if another run writes the same."""
    log = folder / LOG
    logs = []
    for _ in range(1 if TIMED.search(words) else 2):
        log.unlink(missing_ok=True)
        done = run()
        assert done.returncode == 0, done.stderr
        logs.append(_clones(log.read_text()))
    if logs[0] != logs[-1]:
        raise NotKeptError(logs[0])
    return logs[0]


def _clones(log: str) -> list[list[Io]]:
    """The I/Os of each clone in a log, in the order of the first places.

    Clones write one log, each what its buffer holds at a time: lines of theirs are whole, and in a
    row, only if the buffer holds all of them.
    """
    head, *parts = re.split(f"^{CLONE}", log, flags=re.M)
    assert parts and not head
    assert len(parts) == 1 or max(map(len, parts)) + len(CLONE) <= BUFFER_BYTES
    lines = ([line.split() for line in part.splitlines()] for part in parts)
    clones = [
        [
            (line[2], int(line[3]), int(line[4]))
            for line in part
            if line[2:3] in (["read"], ["write"])
        ]
        for part in lines
    ]
    return sorted(clones, key=lambda clone: [place for _, place, _ in clone])


def issued_by_fio(folder: Path, words: str, size: int) -> Counter[Io]:
    """The I/Os of sequence_by_fio(), each with its number."""
    return Counter(sequence_by_fio(folder, words, size))


def issued_by_import(converted: Imported, size: int) -> Counter[Io]:
    """The I/Os of an imported job up to its end on a device of @size bytes, as the module's core
    generates them for one worker; each takes SERVICE_NS."""
    options = Options(available_cpus=(0,), write="--write" in converted.command_line)
    config = resolve(converted.workload, options, [replace(DISK, bytes=size)])
    assert config.count or all(arrival.count for arrival in config.arrivals)
    generator = Generator(core_of(config), 1)
    limit = config.count or generator.begin_counts()
    outstanding: deque[tuple[int, int]] = deque()
    seen: Counter[Io] = Counter()
    while seen.total() < limit:
        while outstanding and outstanding[0][0] <= generator.next_ns:
            done_ns, arrival = outstanding.popleft()
            generator.complete(arrival, done_ns)
        assert generator.next_ns != NEVER, f"{seen.total()} of {limit}"
        op = generator.next()
        outstanding.append((int(op.at_ns) + SERVICE_NS, int(op.arrival)))
        seen["write" if op.write else "read", int(op.addr), int(op.bytes)] += 1
    return seen


def plan(**options: Any) -> Plan:
    """What becomes of a job with these options."""
    words = {name: None if value is None else str(value) for name, value in options.items()}
    return job.plan_of(Job("j", {"ioengine": "libaio", "direct": "1", **words}))
