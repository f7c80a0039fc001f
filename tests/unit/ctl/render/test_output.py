# SPDX-License-Identifier: GPL-2.0
"""Standard output and standard error that cannot be written."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator

import pytest

from spekctl.render import output
from spekctl.render.output import Output


@contextlib.contextmanager
def stdout_to(fd: int) -> Iterator[Output]:
    """Output on this descriptor; what was standard output comes back."""
    kept, stream = os.dup(1), sys.stdout
    os.dup2(fd, 1)
    os.close(fd)
    try:
        with open(1, "w", closefd=False) as sys.stdout:
            yield Output()
    finally:
        sys.stdout = stream
        os.dup2(kept, 1)
        os.close(kept)


def test_a_reader_that_has_left_is_no_failure() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    with stdout_to(write_end) as stdout:
        assert not output.reader_left()
        print("x" * 100_000)
        stdout.flush()
        assert output.reader_left() and stdout.failure is None


def test_a_full_disk_is_a_failure() -> None:
    with stdout_to(os.open("/dev/full", os.O_WRONLY)) as stdout:
        print("x" * 100)
        with pytest.raises(OSError, match="No space left") as failure:
            stdout.flush()
        assert stdout.failure is failure.value and failure.value.errno == errno.ENOSPC
        # What is left in the buffer must not fail again when Python exits.
        stdout.abandon()
        stdout.flush()


def test_another_file_that_fails_is_not_standard_output() -> None:
    with stdout_to(os.open(os.devnull, os.O_WRONLY)) as stdout:
        with open("/dev/full", "wb", buffering=0) as full, pytest.raises(OSError):
            full.write(b"x")
        print("x")
        stdout.flush()
        assert stdout.failure is None


def test_messages_that_nobody_can_read_stop_nothing() -> None:
    with open("/dev/full", "w") as full:
        messages = output.patient(full)
        messages.write("x" * 100_000)
        messages.flush()
    messages = output.patient(None)
    messages.write("spekctl: \udcff\n")
    messages.flush()
