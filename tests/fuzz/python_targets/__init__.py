# SPDX-License-Identifier: GPL-2.0
"""Everything in Python that takes what others have written: files, options, logs, messages.

A target takes bytes and may raise SpekError, whose message is one sentence; anything else that
it raises is a finding. So is a SpekError of the wrong kind: what is wrong with an input is a
UsageError.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from spekctl.errors import SpekError, UsageError

Target = Callable[[bytes], None]


def _file(data: bytes, name: str) -> Path:
    # Who started the process removes it: libFuzzer ends without Python's doing.
    path = Path(os.environ["FUZZ_FOLDER"], name)
    path.write_bytes(data)
    return path


def workload(data: bytes) -> None:
    """A workload file, and what a run makes of it."""
    from spekctl.workload import file as module

    path = _file(data, "fuzz.toml")
    module.load(str(path))


def resolve(data: bytes) -> None:
    """A workload file resolved for devices, as run does it before the kernel is asked."""
    from fuzz.python_targets.plan import resolve_text

    resolve_text(data)


def limits(data: bytes) -> None:
    """A file of limits, and a result against them."""
    from lib.ctl.verdicts import measured

    from spekctl.gate import limits as module
    from spekctl.gate.judged import Run

    limits = module.load(_file(data, "fuzz.toml"))
    module.judge(limits, [Run(Path("fuzz.json"), measured(0))])


def fio(data: bytes) -> None:
    """A job file of fio, or a parameter file of vdbench."""
    from spekctl.fio import convert as fio_convert
    from spekctl.vdbench import convert as vdbench_convert

    if data.startswith(b"sd="):
        vdbench_convert.load_steps(_file(data, "fuzz.parm"))
    else:
        fio_convert.load_steps(_file(data, "fuzz.fio"))


def rails(data: bytes) -> None:
    """A rails file, read, changed and written."""
    from spekctl.power.rails import RailsFile

    file = RailsFile(_file(data, "rails.toml"))
    rails = file.rails
    file.source  # noqa: B018 # a property that reads
    if rails:
        file.rail(rails[0].name)
        file.change(rails[0].name, zero_uv=1)
        file.write()


def units(data: bytes) -> None:
    """Each parser of options."""
    from spekctl import units as module
    from spekctl.workload import endings

    text = data.decode("utf-8", "replace")
    parsers: list[Callable[[str], object]] = [
        module.parse_duration_ns, module.parse_size, module.parse_percent, module.parse_cpu_list,
        module.parse_numbers, module.parse_watts, endings.parse_until, endings.parse_threshold,
    ]  # fmt: skip
    for parse in parsers:
        try:
            parse(text)
        except UsageError as error:
            _sentence(error)


def logs(data: bytes) -> None:
    """A per-I/O log; the header, then rows."""
    from spekctl.log import file as log_file

    log = log_file.open_log(_file(data, "fuzz.parquet"))
    for batch in log.batches(rows=1024):
        if batch.num_rows > 1 << 20:
            break


def log_header(data: bytes) -> None:
    """The header alone: few bytes that are mutated are of a Parquet file's header otherwise."""
    from spekctl.log import file as log_file

    log_file._header(Path("fuzz.parquet"), {log_file.KEY: data})


def documents(data: bytes) -> None:
    """Results, curves and states: every JSON file that spekctl reads back."""
    from fuzz.python_targets.documents import read_all

    read_all(_file(data, "fuzz.json"))


def energy(data: bytes) -> None:
    """Numbers from which energy figures are computed."""
    from fuzz.python_targets.documents import read_energy

    read_energy(_file(data, "fuzz.toml"))


def sense(data: bytes) -> None:
    """What a SCSI device has said, in words."""
    from spekctl.kernel.records import SenseInfo
    from spekctl.kernel.sense import sentence

    sentence(SenseInfo(*(*data[:4], 0, 0, 0, 0)[:4]))


def trace_text(data: bytes) -> None:
    """Traces that are text; the first byte chooses the format."""
    from fuzz.python_targets import traces

    traces.read(_file(data, "trace"), traces.TEXT, data)


def trace_binary(data: bytes) -> None:
    """Binary traces; the first byte chooses the format."""
    from fuzz.python_targets import traces

    traces.read(_file(data, "trace"), traces.BINARY, data)


def helper(data: bytes) -> None:
    """Requests to the program with root's rights, one a line."""
    from fuzz.python_targets import messages

    messages.read_requests(data)


def helper_said(data: bytes) -> None:
    """What that program says to the one that has started it."""
    from fuzz.python_targets import messages

    messages.read_helper(data)


def host(data: bytes) -> None:
    """What the controller of a fleet asks a host, one verb and message a line."""
    from fuzz.python_targets import messages

    messages.ask_host(data)


def host_said(data: bytes) -> None:
    """What a host says to the controller of its fleet."""
    from fuzz.python_targets import messages

    messages.hear_host(data)


TARGETS: dict[str, Target] = {
    target.__name__: target
    for target in (
        workload,
        resolve,
        limits,
        fio,
        rails,
        units,
        logs,
        log_header,
        documents,
        energy,
        sense,
        trace_text,
        trace_binary,
        helper,
        helper_said,
        host,
        host_said,
    )
}
LONGEST_SENTENCE = 4000


def _sentence(error: SpekError) -> None:
    assert error.message.strip(), "a failure without a sentence"
    assert len(error.message) < LONGEST_SENTENCE, "a failure whose sentence is a book"


def run(target: Target, data: bytes) -> None:
    """One input. Raises what the target may not raise."""
    try:
        target(data)
    except UsageError as error:
        _sentence(error)
