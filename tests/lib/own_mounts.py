# SPDX-License-Identifier: GPL-2.0
"""A mount namespace for a test: as root, in a user namespace, or with sudo."""

from __future__ import annotations

import functools
import os
import subprocess

import pytest


@functools.cache
def _prefix() -> tuple[str, ...]:
    """argv that runs a command as root in a mount namespace; empty if this user cannot."""
    ways: list[tuple[str, ...]]
    if os.geteuid() == 0:
        ways = [("unshare", "--mount")]
    else:
        ways = [
            ("unshare", "--map-root-user", "--mount"),
            ("sudo", "-n", "unshare", "--mount"),
        ]
    # Some systems permit the namespace, but no mount in it.
    return next((way for way in ways if _works([*way, "mount", "-t", "tmpfs", "none", "/mnt"])), ())


def _works(command: list[str]) -> bool:
    try:
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def in_own_mounts() -> list[str]:
    """argv that runs a command as root in a mount namespace of its own. Skips the test if this
    user cannot have one."""
    if not _prefix():
        pytest.skip("mounts need CAP_SYS_ADMIN, user namespaces, or sudo without a password")
    return list(_prefix())
