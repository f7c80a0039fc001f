# SPDX-License-Identifier: GPL-2.0
"""Giving root up for good."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys

import pytest

from spekctl.web import privilege


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
from spekctl.web import privilege
user = privilege.user_to_be({})
privilege.drop(user)
assert set(os.getresuid()) == {user.pw_uid} and set(os.getresgid()) == {user.pw_gid}
for call in (os.setuid, os.seteuid, os.setgid):
    try:
        call(0)
    except PermissionError:
        continue
    raise SystemExit(f"{call} worked")
assert "CapEff:\\t0000000000000000" in open("/proc/self/status").read()
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
