# SPDX-License-Identifier: GPL-2.0-or-later
"""Drops root: the server must not have it."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping

from spekctl.errors import SpekError

NOBODY = "nobody"


def user_to_be(environment: Mapping[str, str] = os.environ) -> pwd.struct_passwd:
    """The user who called sudo or pkexec, else nobody."""
    for name in ("SUDO_UID", "PKEXEC_UID"):
        text = environment.get(name, "")
        if text.isascii() and text.isdigit() and int(text) > 0:
            try:
                return pwd.getpwuid(int(text))
            except KeyError:
                break
    try:
        return pwd.getpwnam(NOBODY)
    except KeyError:
        raise SpekError(
            "the server must not run as root, and there is no user nobody; start it as an ordinary"
            " user"
        ) from None


def drop(user: pwd.struct_passwd) -> None:
    """Become @user for good: all groups and all three user ids."""
    try:
        os.initgroups(user.pw_name, user.pw_gid)
        os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
        os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)
    except OSError as error:
        raise SpekError(f"cannot become {user.pw_name}: {error.strerror}") from error
    if 0 in (*os.getresuid(), *os.getresgid(), *os.getgroups()):
        raise SpekError(f"{user.pw_name} has rights of root; start the server as another user")
