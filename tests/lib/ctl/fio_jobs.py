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
from lib.core.config import core_of
from lib.core.spekcore import NEVER, Generator
from lib.ctl.resolved import DISK

from spekctl.fio import convert, job
from spekctl.fio.jobfile import Job
from spekctl.fio.plan import Plan
from spekctl.vm.cache import cache_dir, cached, digest_of
from spekctl.workload.imported import Imported
from spekctl.workload.options import Options
from spekctl.workload.resolve import resolve

JOBS = Path(__file__).parents[2] / "unit/ctl/fio/jobs"
NAMES = sorted(path.stem for path in JOBS.glob("*.fio"))
HEAD = "[j]\ndirect=1\nioengine=libaio\nfilename=/dev/sdx\n"


# Words after which what a job does depends on how long its I/Os take.
TIMED = re.compile("time|delay|rate|latency|async")


class FailedError(Exception):
    """A run of fio that is not kept."""

    def __init__(self, done: subprocess.CompletedProcess[str]) -> None:
        super().__init__(done.stderr)
        self.done = done


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

    It is kept until fio is another program: each start takes a tenth of a second of a processor.
    """

    def write(path: Path) -> None:
        path.write_text(json.dumps(make()))

    name = digest_of(Path("/"), [], version(program()), *words)
    return json.loads(cached(cache_dir("fio") / name, write).read_text())


def fio(
    *words: str | Path, folder: Path | None = None, always_same: bool = False
) -> subprocess.CompletedProcess[str]:
    """fio itself. What it says is kept if it is told of no file and no time, or is @always_same."""
    texts = [*map(str, words)]
    if not always_same and (folder or any("/" in text or TIMED.search(text) for text in texts)):
        return run_fio(texts, folder)

    def say() -> tuple[str, str]:
        done = run_fio(texts, folder)
        if done.returncode:
            raise FailedError(done)
        return done.stdout, done.stderr

    try:
        out, err = of_fio(say, *texts)
    except FailedError as failed:
        return failed.done
    return subprocess.CompletedProcess(texts, 0, out, err)


def run_fio(words: Sequence[str], folder: Path | None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [program(), *words],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
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


def places(tmp_path: Path, text: str) -> list[list[tuple[str, int]]]:
    """(direction, first byte) of each I/O of fio itself, for each clone, in the order of the first
    ones; nothing is touched."""
    clones = of_fio(lambda: logged(tmp_path, text), "places", text)
    return [[(way, first) for way, first in clone] for clone in clones]


def logged(tmp_path: Path, text: str) -> list[list[tuple[str, int]]]:
    path, log = tmp_path / "job.fio", tmp_path / "log"
    options = {"filename=/dev/sdx": "thread=0", "ioengine=libaio": "ioengine=null"}
    options["direct=1"] = f"write_iolog={log}"
    path.write_text("\n".join(options.get(line, line) for line in text.splitlines()) + "\n")
    log.unlink(missing_ok=True)
    done = run_fio([str(path)], None)
    assert done.returncode == 0, done.stderr
    clones: list[list[tuple[str, int]]] = []
    for line in log.read_text().splitlines():
        words = line.split()
        if words[-1] == "open":
            clones.append([])
        elif words[2:3] in (["read"], ["write"]):
            clones[-1].append((words[2], int(words[3])))
    return sorted(clones, key=lambda clone: clone[0][1])


# Direction, first byte and length of an I/O.
Io = tuple[str, int, int]
SERVICE_NS = 1000  # of each I/O of an imported job
BUFFER_BYTES = 8192  # of a log in fio


def sequence_by_fio(folder: Path, words: str, size: int) -> list[Io]:
    """The I/Os of a job of fio itself, by its own log, on a file of @size bytes.

    Clones write one log, each what its buffer holds at a time: lines of theirs are whole only if
    the buffer holds all of them.
    """
    ios = of_fio(lambda: _sequence(folder, words, size), "sequence", words, str(size))
    return [(way, first, length) for way, first, length in ios]


def _sequence(folder: Path, words: str, size: int) -> list[Io]:
    log = folder / "log"
    (folder / "device").write_bytes(bytes(size))
    log.unlink(missing_ok=True)
    how = ("--name=a", "--thread", "--ioengine=psync", "--filename=device")
    done = run_fio([*how, f"--write_iolog={log.name}", *words.split()], folder)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in log.read_text().splitlines()]
    if "--numjobs=" in words:
        assert len(log.read_bytes()) <= lines.count(["fio", "version", "3", "iolog"]) * BUFFER_BYTES
    return [
        (line[2], int(line[3]), int(line[4]))
        for line in lines
        if line[2:3] in (["read"], ["write"])
    ]


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
