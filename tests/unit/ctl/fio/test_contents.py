# SPDX-License-Identifier: GPL-2.0
"""The data that a job writes: what becomes of duplicates of another set than spek's."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.fio_jobs import HEAD, imported, plan

from spekctl.fio import contents


@pytest.mark.parametrize(
    ("options", "differs", "mapped"),
    [
        ("dedupe_mode=working_set\ndedupe_working_set_percentage=10\n", True, True),
        ("dedupe_global=1\n", True, True),
        ("dedupe_mode=repeat\ndedupe_global=0\n", False, True),
    ],
)
def test_a_set_of_duplicates_is_one_of_the_differences(
    tmp_path: Path, options: str, differs: bool, mapped: bool
) -> None:
    job = f"{HEAD}rw=randwrite\nsize=1g\n"
    converted = imported(tmp_path, f"{job}dedupe_percentage=30\n{options}")
    assert (contents.SET in converted.differences) == differs
    names = {line.partition("=")[0] for line in options.splitlines()}
    assert all(converted.mapped[name] == "stream.duplicate" for name in names) == mapped
    # Without duplicates there is nothing that they refine.
    without = imported(tmp_path, job + options)
    assert contents.SET not in without.differences
    assert all("no effect without dedupe_percentage" in without.mapped[name] for name in names)


def test_protection_information_is_that_of_the_block_layer() -> None:
    for rw in ("read", "randwrite"):
        given = plan(rw=rw, ioengine="io_uring_cmd", md_per_io_size=64, pi_chk="GUARD")
        assert contents.PROTECTION in given.differences
        assert given.mapped["pi_chk"].startswith("nothing: ")
    assert contents.PROTECTION not in plan(rw="read", md_per_io_size=0).differences
