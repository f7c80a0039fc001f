# SPDX-License-Identifier: GPL-2.0
"""What spek-daq does with a batch that does not reach the prober."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from lib.daq.build import DAQ, INCLUDES, SANITIZE

SOURCES = ("sender", "push", "queue", "pace", "say", "error", "meter", "calibrate", "number")


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    program = tmp_path_factory.mktemp("sender") / "driver"
    packages = ["pkg-config", "--cflags", "--libs", "libnl-genl-3.0"]
    libnl = subprocess.run(packages, capture_output=True, text=True, check=True).stdout.split()
    sources = [Path(__file__).with_name("sender_driver.c"), *(DAQ / f"{one}.c" for one in SOURCES)]
    options = [*SANITIZE, "-D_GNU_SOURCE", *INCLUDES, "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["gcc", *options, "-o", program, *sources, *libnl, "-lm"], check=True)
    return program


@pytest.mark.parametrize(
    "fault",
    [
        "unsent",  # no buffer for the request
        "nomem",  # the prober has no memory for its answer, so it has stored nothing
        "unread",  # no memory to read the answer, which still comes first
    ],
)
def test_a_batch_that_memory_is_short_for_is_sent_again(driver: Path, fault: str) -> None:
    done = subprocess.run([driver, fault], capture_output=True, text=True, check=True)
    assert done.stderr == ""
    assert done.stdout.splitlines() == [
        f"push {fault}",
        "push ok",
        "connected, 0 queued, no gap",
    ]


def test_the_answer_to_a_batch_is_not_taken_for_that_to_the_next(driver: Path) -> None:
    done = subprocess.run([driver, "unread", "gone"], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["push unread", "push gone", "lost, 1 queued, no gap"]


def test_a_batch_for_a_feed_that_is_gone_stays_queued(driver: Path) -> None:
    done = subprocess.run([driver, "gone"], capture_output=True, text=True, check=True)
    assert "queueing samples until the prober is back" in done.stderr
    assert done.stdout.splitlines() == ["push gone", "lost, 1 queued, no gap"]
