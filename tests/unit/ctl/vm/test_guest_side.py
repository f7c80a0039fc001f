# SPDX-License-Identifier: GPL-2.0
"""The side of spekctl vm that runs in the guest."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from spekctl.vm import guest_side


def test_shares_below_tmp_are_found(tmp_path: Path) -> None:
    table = tmp_path / "mounts"
    table.write_text(
        "root / 9p ro 0 0\n"
        "one /tmp/x 9p rw 0 0\n"
        "inner /tmp/x/out 9p rw 0 0\n"
        "other /tmp/a\\040b/c\303\244 9p rw 0 0\n"
        "not /tmpfs 9p rw 0 0\n",
        encoding="latin-1",
    )
    assert guest_side.mounts_below(Path("/tmp"), table) == [Path("/tmp/x"), Path("/tmp/a b/cä")]


@pytest.mark.parametrize("has_terminal", [True, False])
def test_the_users_terminal_is_the_commands(has_terminal: bool) -> None:
    # Init gives us its console as a terminal if udev was slow to name the ports.
    users, tty = os.openpty()
    program = (
        "import os; from spekctl.vm import guest_side\n"
        f"guest_side.TTY = {os.ttyname(tty)!r}\n"
        "fd = guest_side.open_terminal([24, 80])\n"
        "os.tcsetpgrp(fd, os.getpgrp())\n"
        "assert os.ctermid() and os.open('/dev/tty', os.O_RDWR) >= 0\n"
    )
    argv = [sys.executable, "-c", program]
    if has_terminal:
        pid, console = pty.fork()
        if pid == 0:
            os.execv(argv[0], argv)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        os.close(console)
    else:
        status = subprocess.run(argv, check=False, start_new_session=True).returncode
    os.close(tty)
    os.close(users)
    assert status == 0


def test_a_network_card_is_found_by_its_mac(tmp_path: Path) -> None:
    for name, mac in (("lo", "00:00:00:00:00:00"), ("eth1", "52:54:00:63:00:02")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "address").write_text(f"{mac}\n")
    assert guest_side.card_of("52:54:00:63:00:02", tmp_path) == "eth1"
    assert guest_side.card_of("52:54:00:63:00:03", tmp_path) == ""


def test_files_that_name_a_guest_are_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hosts = tmp_path / "etc" / "nvme"
    hosts.mkdir(parents=True)
    (hosts / "discovery.conf").write_text("of the host\n")
    machine_wide = tmp_path / "hostid"
    machine_wide.write_text("the host's\n")
    (hosts / "hostid").symlink_to(machine_wide)
    place = tmp_path / "place"
    place.mkdir()
    mounts: list[tuple[str, ...]] = []

    def call(*command: str) -> None:
        if command[0] == "mount":
            mounts.append(command)
        else:
            subprocess.run(command, check=True)

    monkeypatch.setattr(guest_side, "call", call)
    guest_side.own_folder(hosts, {"hostnqn": "mine", "hostid": "7"}, place)

    own = place / "nvme"
    assert mounts == [("mount", "--bind", str(own), str(hosts))]
    assert {path.name: path.read_text() for path in own.iterdir()} == {
        "discovery.conf": "of the host\n",
        "hostnqn": "mine\n",
        "hostid": "7\n",
    }
    assert machine_wide.read_text() == "the host's\n"
    assert not (hosts / "hostnqn").exists()
