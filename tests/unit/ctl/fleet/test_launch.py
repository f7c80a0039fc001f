# SPDX-License-Identifier: GPL-2.0
"""Hosts that are started over SSH: what travels, what is never asked, and what went wrong."""

from __future__ import annotations

import os
import shlex
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lib.fakes import ssh
from lib.waiting import LONG_S, eventually

from spekctl.errors import UsageError
from spekctl.fleet import launch as launch_module
from spekctl.fleet import plan
from spekctl.fleet.launch import SAID_MAX, Launcher, _Logins, command_of
from spekctl.fleet.plan import Plan

ADDRESS = "tls://127.0.0.1:8786"
WAIT_NS = 60 * 10**9
SOON_S = LONG_S


def planned(*destinations: str, program: str = "spekctl") -> Plan:
    text = f"""
[fleet]
listen = "{ADDRESS}"
workload = "random-read-4k"
ssh = {{program = "{program}"}}
"""
    for place, destination in enumerate(destinations):
        text += f'[[host]]\nname = "h{place}"\nssh = "{destination}"\ndevices = ["/dev/sda"]\n'
    return plan.parse(text)


Launch = Callable[..., Launcher]


@pytest.fixture
def launch(tmp_path: Path) -> Iterator[Launch]:
    """Starts hosts by a fake ssh."""
    program = ssh.install(tmp_path / "ssh")
    launched: list[Launcher] = []

    def start(*destinations: str, **more: str) -> Launcher:
        launched.append(Launcher(planned(*destinations, **more), ADDRESS, WAIT_NS, str(program)))
        return launched[-1]

    yield start
    for launcher in launched:
        launcher.close()


def home(tmp_path: Path, destination: str, script: str) -> None:
    """A host whose spekctl is a script of the shell."""
    folder = tmp_path / "ssh" / destination
    folder.mkdir(parents=True)
    program = folder / "spekctl"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)


def fails(tmp_path: Path, destination: str, status: int, text: str) -> None:
    (tmp_path / "ssh").mkdir(exist_ok=True)
    (tmp_path / "ssh" / f"{destination}.fails").write_text(f"{status}\n{text}")


def troubles(launcher: Launcher, count: int) -> dict[str, str]:
    eventually(lambda: len(launcher.troubles()) == count, "they do not end", SOON_S)
    return launcher.troubles()


def test_the_command_line_is_all_that_travels(tmp_path: Path, launch: Launch) -> None:
    home(tmp_path, "me@a", 'echo "$@" > asked; pwd >> asked; cat >> asked')
    launcher = launch("me@a")
    troubles(launcher, 1)
    asked = (tmp_path / "ssh/me@a/asked").read_text().splitlines()
    assert asked == [
        f"fleet join {ADDRESS} --keys spek-keys --wait 60s",
        str(tmp_path / "ssh/me@a"),
    ]


def test_nothing_is_ever_asked_and_unknown_hosts_are_refused(
    tmp_path: Path, launch: Launch
) -> None:
    home(tmp_path, "a", "ps -o tty= -o sid= -o pid= -p $$ > asked")
    launcher = launch("a")
    troubles(launcher, 1)
    words = ssh.asked(tmp_path / "ssh", "a")
    for option in ("BatchMode=yes", "StrictHostKeyChecking=yes", "ForwardAgent=no"):
        assert option in words
    terminal, session, process = (tmp_path / "ssh/a/asked").read_text().split()
    assert (terminal, session) == ("?", process)


@pytest.mark.parametrize(
    ("status", "text", "sentence"),
    [
        (
            255,
            "No ED25519 host key is known for a and you have requested strict checking.\n"
            "Host key verification failed.\n",
            "its host key is not known, or another one than before; check it, and add it by"
            " connecting once by hand",
        ),
        (
            255,
            "me@a: Permission denied (publickey,password).\n",
            "it does not accept the keys of this user, and a password is not asked for; try `ssh a"
            " true`",
        ),
        (
            255,
            "ssh: connect to host a port 22: Connection refused\r\n",
            "ssh: connect to host a port 22: Connection refused",
        ),
        (
            127,
            "sh: 1: exec: spekctl: not found\n",
            "spekctl cannot be started there (sh: 1: exec: spekctl: not found); program in"
            " [fleet.ssh] has its path",
        ),
        (
            2,
            "a warning\nspekctl: there is no spek-keys/ca.pem\n",
            "there is no spek-keys/ca.pem",
        ),
        (0, "", "its worker has ended (status 0)"),
        (1, "\x1b[31mred\x07\n", "[31mred"),
    ],
)
def test_what_went_wrong_is_a_sentence(
    tmp_path: Path, launch: Launch, status: int, text: str, sentence: str
) -> None:
    fails(tmp_path, "a", status, text)
    launcher = launch("a")
    assert troubles(launcher, 1) == {"h0": sentence}
    assert not launcher.pending({})


def test_only_those_that_still_run_may_join(tmp_path: Path, launch: Launch) -> None:
    home(tmp_path, "b", "exec sleep 600")
    fails(tmp_path, "a", 255, "Host key verification failed.\n")
    launcher = launch("a", "b")
    assert list(troubles(launcher, 1)) == ["h0"]
    assert launcher.pending({}) and not launcher.pending({"h1": ADDRESS})
    assert launcher.said("h1") == launcher.said("nobody") == ""


def test_only_the_line_that_tells_of_it_is_a_login(
    tmp_path: Path, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a shell's profile says comes before it, and what a worker says after."""
    home(tmp_path, "a", "echo 'spekctl: not spek-in' >&2; echo spek-in")
    logins: list[str] = []
    end = launch_module._Logins.end

    def noted(self: Any, name: str) -> None:
        logins.append(name)
        end(self, name)

    monkeypatch.setattr(launch_module._Logins, "end", noted)
    launcher = launch("a")
    # The worker's own line of that text is a line like any other.
    assert troubles(launcher, 1) == {"h0": "spek-in"}
    assert logins == ["h0"]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (b"spek-in\n", (b"", b"spek-in\n", b"")),
        (b"motd\r\nspek-in\r\nspekctl: x\n", (b"motd\r\n", b"spek-in\r\n", b"spekctl: x\n")),
        (b"spek-in", (b"spek-in", b"", b"")),
        (b"no spek-in\nspek-in too\n", (b"no spek-in\nspek-in too\n", b"", b"")),
    ],
)
def test_the_line_of_a_login(said: bytes, expected: tuple[bytes, bytes, bytes]) -> None:
    assert launch_module._around_login(said) == expected


def test_a_host_that_says_a_lot_is_kept_short(tmp_path: Path, launch: Launch) -> None:
    home(tmp_path, "a", "yes 'spekctl: it talks' 2>/dev/null | head -n 50000 >&2")
    launcher = launch("a")
    assert troubles(launcher, 1) == {"h0": "it talks"}
    assert len(launcher._workers["h0"]._tail) <= SAID_MAX


def test_a_line_without_an_end_is_kept_short(tmp_path: Path, launch: Launch) -> None:
    home(tmp_path, "a", "head -c 1000000 /dev/zero | tr '\\0' x >&2")
    launcher = launch("a")
    assert len(troubles(launcher, 1)["h0"]) <= SAID_MAX


def test_what_does_not_end_is_ended(
    tmp_path: Path, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spekctl.fleet.launch.END_S", 0.1)
    home(tmp_path, "a", "echo $$ > pid; trap '' TERM; while :; do sleep 0.1; done")
    launcher = launch("a")
    file = tmp_path / "ssh/a/pid"
    eventually(lambda: file.exists() and file.read_text(), "it does not start", SOON_S)
    launcher.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int(file.read_text()), 0)


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two at a time, which log in when they like."""
    monkeypatch.setattr("spekctl.fleet.launch.AT_ONCE", 2)


def started(tmp_path: Path) -> list[str]:
    """The destinations that ssh was started with."""
    return sorted(file.stem for file in (tmp_path / "ssh").glob("*.json"))


@pytest.mark.usefixtures("few")
def test_hosts_log_in_few_at_a_time(tmp_path: Path, launch: Launch) -> None:
    names = [f"h{place}" for place in range(5)]
    for name in names:
        home(tmp_path, name, "exec sleep 600")
        (tmp_path / "ssh" / f"{name}.waits").touch()
    launcher = launch(*names)
    eventually(lambda: len(started(tmp_path)) == 2, "they are not started", SOON_S)
    turns: Any = launcher._logins._changed
    eventually(lambda: turns._waiters, "nobody waits for a turn", SOON_S)
    assert started(tmp_path) == ["h0", "h1"]
    # Those that wait for their turn may still join.
    assert launcher.pending({"h0": ADDRESS, "h1": ADDRESS}) and launcher.troubles() == {}
    (tmp_path / "ssh/h1.waits").unlink()
    eventually(lambda: len(started(tmp_path)) == 3, "the next one is not started", SOON_S)
    for name in ("h0", "h2", "h3", "h4"):
        (tmp_path / "ssh" / f"{name}.waits").unlink()
    eventually(lambda: started(tmp_path) == names, "not all are started", SOON_S)


@pytest.mark.usefixtures("few")
def test_a_host_that_fails_makes_room_for_the_next(tmp_path: Path, launch: Launch) -> None:
    names = [f"h{place}" for place in range(6)]
    for name in names:
        fails(tmp_path, name, 255, "Connection refused\n")
    launcher = launch(*names)
    assert set(troubles(launcher, 6).values()) == {"Connection refused"}
    assert not launcher.pending({})


@pytest.mark.usefixtures("few")
def test_hosts_that_hang_hold_up_the_others_for_a_while_only(
    tmp_path: Path, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spekctl.fleet.launch.LOGIN_S", 0.1)
    names = [f"h{place}" for place in range(4)]
    for name in names:
        home(tmp_path, name, "exec sleep 600")
        (tmp_path / "ssh" / f"{name}.waits").touch()
    launch(*names)
    eventually(lambda: started(tmp_path) == names, "they wait for ever", SOON_S)


@pytest.mark.usefixtures("few")
def test_hosts_that_hung_give_no_room_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that logs in after its time has made room already."""
    monkeypatch.setattr("spekctl.fleet.launch.LOGIN_S", 0.0)
    logins = _Logins(1)
    assert logins.begin("late") and logins.begin("in time")
    monkeypatch.setattr("spekctl.fleet.launch.LOGIN_S", 3600.0)
    assert logins.begin("third")
    logins.end("late")
    blocked = threading.Thread(target=logins.begin, args=("fourth",))
    blocked.start()
    logins.end("late")
    blocked.join(0.2)
    assert blocked.is_alive()
    logins.end("third")
    blocked.join(SOON_S)
    assert not blocked.is_alive()
    logins.close()
    assert not logins.begin("fifth")


@pytest.mark.usefixtures("few")
def test_those_that_have_not_had_their_turn_are_not_started_at_the_end(
    tmp_path: Path, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("spekctl.fleet.launch.LOGIN_S", 3600.0)
    names = [f"h{place}" for place in range(4)]
    for name in names:
        home(tmp_path, name, "exec sleep 600")
        (tmp_path / "ssh" / f"{name}.waits").touch()
    launcher = launch(*names)
    eventually(lambda: len(started(tmp_path)) == 2, "they are not started", SOON_S)
    assert launcher.waiting() == ["h2", "h3"]
    launcher.close()
    assert started(tmp_path) == ["h0", "h1"]


@pytest.mark.usefixtures("few")
def test_one_that_cannot_be_started_later_is_told(
    tmp_path: Path, launch: Launch, monkeypatch: pytest.MonkeyPatch
) -> None:
    home(tmp_path, "a", "exec sleep 600")
    home(tmp_path, "c", "exec sleep 600")
    start = subprocess.Popen

    def popen(command: list[str], **more: Any) -> Any:
        if "b" in command:
            raise OSError(11, "Resource temporarily unavailable")
        return start(command, **more)

    monkeypatch.setattr("spekctl.fleet.launch.subprocess.Popen", popen)
    launcher = launch("a", "b", "c")
    (told,) = troubles(launcher, 1).items()
    assert told[0] == "h1" and told[1].endswith("ssh: Resource temporarily unavailable")
    eventually(lambda: started(tmp_path) == ["a", "c"], "it ends the others", SOON_S)
    assert launcher.pending({})


def test_without_ssh_nothing_is_started() -> None:
    with pytest.raises(UsageError, match="cannot start /nowhere/ssh: No such file"):
        Launcher(planned("a"), ADDRESS, WAIT_NS, "/nowhere/ssh")


def test_words_of_the_plan_reach_the_hosts_as_they_are() -> None:
    work = planned("a", program="/opt/my spek/$(spekctl)")
    *_, destination, command = command_of(work, work.hosts[0], ADDRESS, 1)
    assert destination == "a"
    assert shlex.split(command)[:4] == ["echo", "spek-in;", "exec", "/opt/my spek/$(spekctl)"]
    assert shlex.split(command)[-1] == "1s"


SSHD = os.environ.get("SPEK_SSHD") or shutil.which("sshd", path="/usr/sbin:/usr/bin")


@pytest.fixture
def sshd(tmp_path: Path) -> Iterator[Path]:
    """A server on the loopback, and the ssh that knows its key and has one that it takes."""
    if SSHD is None:
        pytest.skip("there is no sshd; install openssh-server, or name one in SPEK_SSHD")
    for name in ("host", "user", "stranger"):
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(tmp_path / name)]
        subprocess.run(words, check=True)
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    (tmp_path / "sshd_config").write_text(
        f"ListenAddress 127.0.0.1:{port}\nHostKey {tmp_path}/host\nPidFile none\n"
        f"AuthorizedKeysFile {tmp_path}/user.pub\nStrictModes no\nPasswordAuthentication yes\n"
        "KbdInteractiveAuthentication no\nPermitRootLogin yes\nUsePAM no\n"
    )
    host_key = " ".join((tmp_path / "host.pub").read_text().split()[:2])
    (tmp_path / "known").write_text(f"[127.0.0.1]:{port} {host_key}\n")
    config = ""
    for name, key, known in (
        ("good", "user", "known"),
        ("stranger", "stranger", "known"),
        ("unknown", "user", "none"),
    ):
        config += f"Host {name}\nIdentityFile {tmp_path / key}\n"
        config += f"UserKnownHostsFile {tmp_path / known}\n"
    config += f"Host *\nHostName 127.0.0.1\nPort {port}\nIdentitiesOnly yes\n"
    (tmp_path / "config").write_text(config + "GlobalKnownHostsFile /dev/null\n")
    client = tmp_path / "client"
    client.write_text(f'#!/bin/sh\nexec ssh -F {tmp_path}/config "$@"\n')
    client.chmod(0o755)
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)
    words = [SSHD, "-D", "-e", "-f", str(tmp_path / "sshd_config")]
    log = open(tmp_path / "sshd.log", "w")  # noqa: SIM115
    with subprocess.Popen(words, stderr=log) as server:
        try:

            def listens() -> bool:
                assert server.poll() is None, (tmp_path / "sshd.log").read_text()
                with socket.socket() as probe:
                    return probe.connect_ex(("127.0.0.1", port)) == 0

            eventually(listens, "sshd does not listen", SOON_S)
            yield client
        finally:
            server.terminate()
            log.close()


def test_a_real_server_starts_it_or_ssh_says_why_not(sshd: Path, tmp_path: Path) -> None:
    program = tmp_path / "my spekctl"
    program.write_text(
        f'#!/bin/sh\necho "$@" > {tmp_path}/asked\necho "spekctl: it says so" >&2\nexit 9\n'
    )
    program.chmod(0o755)
    work = planned("good", "stranger", "unknown", program=str(program))
    launcher = Launcher(work, ADDRESS, WAIT_NS, str(sshd))
    try:
        said = troubles(launcher, 3)
    finally:
        launcher.close()
    assert said["h0"] == "it says so"
    assert said["h1"].startswith("it does not accept the keys of this user")
    assert said["h2"].startswith("its host key is not known")
    asked = (tmp_path / "asked").read_text()
    assert asked == f"fleet join {ADDRESS} --keys spek-keys --wait 60s\n"
