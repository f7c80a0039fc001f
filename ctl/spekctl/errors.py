# SPDX-License-Identifier: GPL-2.0-or-later
"""What can go wrong, as one sentence for the user and one exit code for scripts."""

from __future__ import annotations

import contextlib
import errno as errno_names
from collections.abc import Iterator
from enum import IntEnum


class ExitCode(IntEnum):
    """Exit codes of spekctl; part of its contract."""

    OK = 0
    RUN_FAILED = 1
    USAGE = 2
    PERMISSION = 3
    REFUSED = 4
    NO_KERNEL_SIDE = 5
    DATA_ERRORS = 6
    LIMIT_MISSED = 7
    UNDECIDED = 8
    HOST_LOST = 9
    GUEST_TIMEOUT = 124
    GUEST_FAILED = 125
    INTERRUPTED = 130
    TERMINATED = 143


EXIT_CODE_HELP: dict[ExitCode, str] = {
    ExitCode.OK: "success",
    ExitCode.RUN_FAILED: "a run ended early, with I/O errors or without any I/O (its result states"
    " the cause), a trace lacked records, which could not be read or were lost while it was"
    " recorded, or a failure that no other code covers",
    ExitCode.USAGE: "invalid input: an option, a workload, a file, a device that does not exist,"
    " or a start time in the past",
    ExitCode.PERMISSION: "not permitted: spek needs root (CAP_SYS_ADMIN)",
    ExitCode.REFUSED: "refused: the device is in use, holds data, or is read-only; "
    "no I/O was sent to it. compare: the results are of unlike machines or workloads,"
    " or a run failed",
    ExitCode.NO_KERNEL_SIDE: "the kernel module is not loaded, or is too old for this spekctl",
    ExitCode.DATA_ERRORS: "verification failed: blocks did not hold the data last written to them."
    " augment check: the log or a superblock is torn, damaged or unreadable",
    ExitCode.LIMIT_MISSED: "all runs completed, but a test missed one of its limits,"
    " --stop-when ended a run, or a run did not reach the steady state of --until. compare: worse."
    " fleet: a clock left max_skew during a run",
    ExitCode.UNDECIDED: "compare: too few runs, or they scatter too much for a verdict. "
    "gate: a result lacks a figure that has a limit. augment check: a device is missing",
    ExitCode.HOST_LOST: "fleet: a host was lost; the result, if any, is incomplete and names it",
    ExitCode.GUEST_TIMEOUT: "vm: the guest was killed at its time limit",
    ExitCode.GUEST_FAILED: "vm: the guest could not be set up, did not boot, or crashed",
    ExitCode.INTERRUPTED: "interrupted by Ctrl-C; the result so far, if any, was delivered",
    ExitCode.TERMINATED: "terminated by SIGTERM; the result so far, if any, was delivered",
}


class SpekError(Exception):
    """A failure with its sentence. Subclasses fix the exit code."""

    exit_code = ExitCode.RUN_FAILED

    def __init__(self, message: str, *, errno: int = 0, operation: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.errno = errno
        self.operation = operation
        # Which part of a request the kernel blames: key of a repeated attribute, and which one.
        self.blamed: tuple[str, int] | None = None

    def say(self, message: str) -> None:
        """Replace the sentence and keep everything else."""
        self.message = message
        self.args = (message,)


class UsageError(SpekError):
    """Wrong input; nothing was tried."""

    exit_code = ExitCode.USAGE


class OverwriteError(UsageError):
    """The output is a file that the command reads."""


class NotFoundError(UsageError):
    """The run does not exist, or no longer exists: its owner may delete it at any time."""


class NotPermittedError(SpekError):
    """The caller lacks a capability."""

    exit_code = ExitCode.PERMISSION


class RefusedError(SpekError):
    """Refused for safety, or because the device is in use."""

    exit_code = ExitCode.REFUSED


class CalledOffError(SpekError):
    """Interrupted by the user before the start; the exit code names the signal."""

    def __init__(self, message: str, exit_code: ExitCode) -> None:
        super().__init__(message)
        self.exit_code = exit_code


class HostLostError(SpekError):
    """A host of a fleet does not answer."""

    exit_code = ExitCode.HOST_LOST


class NoKernelSideError(SpekError):
    """The module is missing."""

    exit_code = ExitCode.NO_KERNEL_SIDE


class GuestError(SpekError):
    """The guest could not be started, or failed."""

    exit_code = ExitCode.GUEST_FAILED


class GuestTimeoutError(GuestError):
    """The guest was killed at its time limit."""

    exit_code = ExitCode.GUEST_TIMEOUT


_BY_ERRNO: dict[int, type[SpekError]] = {
    errno_names.EPERM: NotPermittedError,
    errno_names.EACCES: NotPermittedError,
    errno_names.EROFS: RefusedError,
    errno_names.EBUSY: RefusedError,
    errno_names.EINVAL: UsageError,
    errno_names.ERANGE: UsageError,
    errno_names.ENOENT: NotFoundError,
    errno_names.ENODEV: UsageError,
    errno_names.ENXIO: UsageError,
    errno_names.ENOTBLK: UsageError,
    errno_names.EOPNOTSUPP: UsageError,
    errno_names.E2BIG: UsageError,
    errno_names.ETIME: UsageError,
}


def error_from_errno(errno: int, message: str, operation: str) -> SpekError:
    """The kernel's refusal as the exception that carries the right exit code."""
    kind = _BY_ERRNO.get(errno, SpekError)
    return kind(message, errno=errno, operation=operation)


@contextlib.contextmanager
def at(place: str) -> Iterator[None]:
    """Prefix the sentence of wrong input that is found inside with its place."""
    try:
        yield
    except UsageError as error:
        error.say(f"{place}: {error.message}")
        raise
