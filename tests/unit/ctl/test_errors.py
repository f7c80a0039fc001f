# SPDX-License-Identifier: GPL-2.0
"""Failures and their exit codes."""

from __future__ import annotations

import errno

import pytest

from spekctl.errors import EXIT_CODE_HELP, ExitCode, SpekError, UsageError, error_from_errno


def test_every_exit_code_is_explained() -> None:
    assert set(EXIT_CODE_HELP) == set(ExitCode)
    assert all(EXIT_CODE_HELP.values())


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.EPERM, ExitCode.PERMISSION),
        (errno.EBUSY, ExitCode.REFUSED),
        (errno.EINVAL, ExitCode.USAGE),
        (errno.EIO, ExitCode.RUN_FAILED),
    ],
)
def test_a_refusal_of_the_kernel_has_an_exit_code(number: int, code: ExitCode) -> None:
    error = error_from_errno(number, "a sentence", "run-new")
    assert error.exit_code is code
    assert (error.message, error.errno, error.operation) == ("a sentence", number, "run-new")


def test_another_sentence_keeps_what_was_blamed() -> None:
    error: SpekError = UsageError("queue depth exceeds the limit", errno=errno.ERANGE)
    error.blamed = ("streams", 2)
    error.say("stream log: queue depth exceeds the limit")
    assert str(error) == error.message == "stream log: queue depth exceeds the limit"
    assert error.blamed == ("streams", 2) and error.errno == errno.ERANGE
