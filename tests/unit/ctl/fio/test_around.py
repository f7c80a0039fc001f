# SPDX-License-Identifier: GPL-2.0
"""Commands and schedulers of fio around jobs of several steps."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.fio_jobs import fio, plan

from spekctl.fio import around, convert
from spekctl.workload.imported import Imported

HEAD = "[global]\ndirect=1\nrw=randread\nruntime=5\ntime_based\n"
WAITS = "[main]\nstonewall\n"


def steps(tmp_path: Path, text: str) -> list[Imported]:
    (tmp_path / "j.fio").write_text(HEAD + text)
    return convert.load_steps(tmp_path / "j.fio")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (f"[pre]\n{WAITS}exec_prerun=x\n", "[main] exec_prerun: its command"),
        (f"[pre]\nexec_postrun=x\n{WAITS}", "[pre] exec_postrun: its command"),
        (f"exec_prerun=x\n[pre]\n{WAITS}[last]\nstonewall\n", "[main], [last] exec_prerun: its"),
        (f"[pre]\n{WAITS}ioscheduler=none\n", "[main] ioscheduler: it has to be set"),
        (
            f"[pre]\nioscheduler=bfq\nexec_postrun=x\n{WAITS}ioscheduler=none\n",
            "[pre] exec_postrun: its command has to run between steps; [main] ioscheduler: it",
        ),
        # The other device has its scheduler from the second step on.
        (
            f"[pre]\nfilename=/dev/a\nioscheduler=none\n{WAITS}ioscheduler=none\nfilename=/dev/b\n",
            "[main] ioscheduler: it has to be set",
        ),
        # Phases of jobs that start together are steps as well.
        ("[pre]\n[main]\nstartdelay=2\nexec_prerun=x\n", "[main] exec_prerun: its command"),
    ],
)
def test_what_has_to_be_done_between_steps_is_named(tmp_path: Path, text: str, told: str) -> None:
    first, *later = steps(tmp_path, text)
    assert first.between.startswith(f"the steps of {tmp_path}/j.fio are not run by one command: ")
    assert told in first.between and first.between.endswith(around.APART)
    assert not any(step.between for step in later)


@pytest.mark.parametrize(
    "text",
    [
        "[main]\nexec_prerun=x\nexec_postrun=x\nioscheduler=none\n",
        f"[pre]\nexec_prerun=x\n{WAITS}exec_postrun=x\n",
        f"ioscheduler=none\n[pre]\n{WAITS}",
        # Both start together, each on its own device.
        "[pre]\nfilename=/dev/a\n[main]\nfilename=/dev/b\nexec_prerun=x\nexec_postrun=x\n",
        "[pre]\nstartdelay=2\n[main]\nruntime=9\nexec_prerun=x\nexec_postrun=x\n",
    ],
)
def test_what_is_done_before_the_first_step_or_after_the_last_is_not(
    tmp_path: Path, text: str
) -> None:
    assert not any(step.between for step in steps(tmp_path, text))


def test_a_job_of_several_steps_has_its_commands_around_all_of_them(tmp_path: Path) -> None:
    parts = steps(
        tmp_path, "[pre]\nstartdelay=2\n[main]\nruntime=9\nexec_prerun=x\nexec_postrun=x\n"
    )
    assert len(parts) == 3
    told = [
        [name for name in around.TEXTS if around.difference(name) in part.differences]
        for part in parts
    ]
    assert told == [["exec_prerun"], [], ["exec_postrun"]]


@pytest.mark.parametrize(
    ("option", "value", "with_it", "told"),
    [
        ("pre_read", 1, {}, around.PRE_READ),
        ("hipri_percentage", 50, {"hipri": 1}, around.POLLED),
        ("verify_backlog", 8, {"rw": "write", "verify": "crc32c"}, around.BACKLOG),
        ("ignore_error", "EIO", {}, around.LISTED),
        ("scramble_buffers", 0, {"rw": "write"}, around.SAME_DATA.format("block")),
        (
            *("scramble_buffers", 0, {"rw": "randrw", "iodepth": 4, "numjobs": 2}),
            around.SAME_DATA.format("8 blocks"),
        ),
    ],
)
def test_what_is_not_done_is_reported(
    option: str, value: object, with_it: dict[str, object], told: str
) -> None:
    assert told in plan(**with_it, **{option: value}).differences
    assert told not in plan(**with_it).differences


@pytest.mark.parametrize(
    "options",
    [
        {"pre_read": 0},
        {"hipri_percentage": 50},
        {"hipri": 1, "hipri_percentage": 100},
        {"verify_backlog": 8},
        {"verify": "crc32c", "rw": "write", "verify_backlog": 0},
        {"ignore_error": "EIO", "continue_on_error": "all"},
        {"scramble_buffers": 0},
        {"scramble_buffers": 1, "rw": "write"},
        {"scramble_buffers": 0, "rw": "write", "refill_buffers": 1},
        {"scramble_buffers": 0, "rw": "write", "zero_buffers": None},
        {"scramble_buffers": 0, "rw": "write", "buffer_pattern": "0xff"},
        {"scramble_buffers": 0, "rw": "write", "verify": "crc32c"},
    ],
)
def test_nothing_is_reported_of_options_without_effect(options: dict[str, object]) -> None:
    texts = (around.PRE_READ, around.POLLED, around.BACKLOG, around.LISTED, around.SAME_DATA[:40])
    assert not [text for text in plan(**options).differences if text.startswith(texts)]


@pytest.mark.parametrize(("options", "count"), [("", 256), ("--scramble_buffers=0", 4)])
def test_fio_writes_the_same_blocks_again_unless_it_scrambles_them(
    tmp_path: Path, options: str, count: int
) -> None:
    words = "--name=a --filename=f --rw=write --bs=4k --size=1m --ioengine=libaio --iodepth=4"
    assert fio(*words.split(), *options.split(), folder=tmp_path).returncode == 0
    data = (tmp_path / "f").read_bytes()
    assert len({data[place : place + 4096] for place in range(0, len(data), 4096)}) == count
