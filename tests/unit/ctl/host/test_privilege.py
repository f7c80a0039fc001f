# SPDX-License-Identifier: GPL-2.0
"""Giving root up for good."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import jinja2
import pytest

import spekctl
from spekctl.host import privilege


@pytest.mark.parametrize(
    "environment", [{}, {"SUDO_UID": "0"}, {"SUDO_UID": "x"}, {"SUDO_UID": "4294967290"}]
)
def test_without_a_caller_it_is_nobody(environment: dict[str, str]) -> None:
    assert privilege.user_to_be(environment).pw_name == "nobody"


@pytest.mark.parametrize("name", ["SUDO_UID", "PKEXEC_UID"])
def test_the_caller_of_sudo_gets_the_server(name: str) -> None:
    daemon = pwd.getpwnam("daemon")
    assert privilege.user_to_be({name: str(daemon.pw_uid)}) == daemon


CODE = """
import os
from spekctl.host import privilege
user = privilege.user_to_be({})
os.environ |= {"HOME": "/root", "USER": "root", "XDG_RUNTIME_DIR": "/run/user/0", "LANG": "C.UTF-8"}
privilege.drop(user)
assert set(os.getresuid()) == {user.pw_uid} and set(os.getresgid()) == {user.pw_gid}
for call in (os.setuid, os.seteuid, os.setgid):
    try:
        call(0)
    except PermissionError:
        continue
    raise SystemExit(f"{call} worked")
assert "CapEff:\\t0000000000000000" in open("/proc/self/status").read()
names = os.environ["HOME"], os.environ["USER"], os.environ["LOGNAME"]
assert names == (user.pw_dir, user.pw_name, user.pw_name)
assert os.path.expanduser("~") == user.pw_dir
assert "XDG_RUNTIME_DIR" not in os.environ and os.environ["LANG"] == "C.UTF-8"
print("dropped")
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give root up: run it as root")
def test_nothing_is_left_of_root() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("dropped\n", "")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may become anybody: run it as another user")
def test_others_cannot_become_anybody() -> None:
    from spekctl.errors import SpekError

    with pytest.raises(SpekError, match="cannot become daemon"):
        privilege.drop(pwd.getpwnam("daemon"))


def test_what_requests_import_is_looked_for() -> None:
    folders = privilege.libraries()
    for needed in (os.__file__, spekctl.__file__, jinja2.__file__):
        assert Path(str(needed)).parent in folders
    assert all(folder.exists() for folder in folders)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can ask as another user")
def test_what_another_user_cannot_read_is_named() -> None:
    """A package below a directory that is closed to others, as those in root's home are."""
    base = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        base.chmod(0o755)
        (base / "open").mkdir()
        (base / "open" / "module.py").write_text("")
        (base / "home" / "package").mkdir(parents=True)
        for folder in (base / "open", base / "home" / "package"):
            folder.chmod(0o755)
        (base / "open" / "module.py").chmod(0o644)
        (base / "home").chmod(0o700)
        places = [base / "open", base / "open" / "module.py"]
        closed = base / "home" / "package"
        assert as_nobody(lambda: privilege.unreadable(places)) is None
        assert as_nobody(lambda: privilege.unreadable([*places, closed])) == str(closed)
        (base / "open" / "module.py").chmod(0o600)
        assert as_nobody(lambda: privilege.unreadable(places)) == str(places[1])
    finally:
        shutil.rmtree(base)


def as_nobody(ask: Callable[[], Path | None]) -> str | None:
    """The answer of a child that has given up root."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            privilege.drop(pwd.getpwnam(privilege.NOBODY))
            os.write(writer, str(ask() or "").encode())
        finally:
            os._exit(0)
    os.close(writer)
    with open(reader) as answer:
        text = answer.read()
    os.waitpid(child, 0)
    return text or None
