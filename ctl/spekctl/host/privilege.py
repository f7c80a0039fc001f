# SPDX-License-Identifier: GPL-2.0-or-later
"""Drops root: the server must not have it."""

from __future__ import annotations

import importlib.util
import os
import pwd
import sysconfig
from collections.abc import Iterable, Mapping
from pathlib import Path

from spekctl.errors import SpekError

NOBODY = "nobody"
# Imported by the first request that needs them.
_LATER = ("spekctl", "msgspec", "jinja2", "markupsafe", "youplot", "numpy", "pyarrow")
# Folders of a user, in place of those in the home.
_PLACES = (
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
)


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
    """Become @user for good: all groups and all three user ids, and the environment of a user, by
    which libraries look for files of theirs."""
    try:
        os.initgroups(user.pw_name, user.pw_gid)
        os.setresgid(user.pw_gid, user.pw_gid, user.pw_gid)
        os.setresuid(user.pw_uid, user.pw_uid, user.pw_uid)
    except OSError as error:
        raise SpekError(f"cannot become {user.pw_name}: {error.strerror}") from error
    if 0 in (*os.getresuid(), *os.getresgid(), *os.getgroups()):
        raise SpekError(f"{user.pw_name} has rights of root; start the server as another user")
    os.environ.update(HOME=user.pw_dir, LOGNAME=user.pw_name, USER=user.pw_name)
    for name in _PLACES:
        os.environ.pop(name, None)


def libraries() -> list[Path]:
    """What requests import: Python's own library, and the packages that are installed. To be asked
    as root, since others may not even see that they are there."""
    paths = sysconfig.get_paths()
    places = [Path(paths[name]) for name in ("stdlib", "platstdlib")]
    for name in _LATER:
        spec = importlib.util.find_spec(name)
        if spec is None:
            continue
        places += map(Path, spec.submodule_search_locations or ())
        if spec.origin is not None:
            places.append(Path(spec.origin))
    return [place for place in dict.fromkeys(places) if place.exists()]


def unreadable(places: Iterable[Path]) -> Path | None:
    """The first of these that this process, as whom it runs by now, cannot read."""
    for place in places:
        # Nobody but root can tell a file from a directory where the way to it is closed.
        if not os.access(place, os.R_OK) or (place.is_dir() and not os.access(place, os.X_OK)):
            return place
    return None
