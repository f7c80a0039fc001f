# SPDX-License-Identifier: GPL-2.0
"""What a guest and the plugin leave for a profile."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from spekctl import files
from spekctl.documents.profile import ProfiledRun
from spekctl.documents.result import Result
from spekctl.run.profiled import RUN
from spekctl.vm import marks

KALLSYMS = """\
ffffffff81000000 T _text
ffffffff81000100 t null_queue_rq
ffffffff81000200 D some_data
ffffffff81000300 T blk_mq_alloc_request
ffffffffc0000000 t account\t[spek]
"""
MODULES = "spek 131072 0 - Live 0xffffffffc0000000 (OE)\n"
QUEUE, ACCOUNT = 0xFFFFFFFF81000104, 0xFFFFFFFFC0000040  # addresses in functions of those


RUN_OF_1000 = ProfiledRun("random-read-4k", ["/dev/nullb0"], ["nullb"], "6.1.0", "#1", 1000)


def run_of(result: Result) -> ProfiledRun:
    """A profiled run of 1000 I/Os with the conditions of a result."""
    return ProfiledRun(
        workload=result.config.name,
        devices=[target.facts.path for target in result.targets],
        drivers=[target.facts.driver for target in result.targets],
        kernel=result.environment.kernel,
        kernel_version=result.environment.kernel_version,
        ios=1000,
    )


def write_counts(folder: Path, *counts: Mapping[int, int]) -> None:
    """Write what the plugin and the guest's kernel leave: @counts by address, at each mark."""
    for number, of_cpu in enumerate(counts):
        lines = [f"{address:x} {count}\n" for address, count in of_cpu.items()]
        (folder / f"profile.{number}").write_text("".join(lines))
    (folder / marks.KALLSYMS).write_text(KALLSYMS)
    (folder / marks.MODULES).write_text(MODULES)


def parts(folder: Path, *counts: Mapping[int, int], run: ProfiledRun = RUN_OF_1000) -> None:
    """Write all parts of a profile."""
    write_counts(folder, *counts)
    files.write(folder / RUN, files.encode(run))
