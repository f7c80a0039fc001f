# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts the workers of a plan's hosts over SSH, by the ssh of the system.

That knows what the user has set up: names of hosts, jump hosts, agents, Kerberos. It asks nothing:
a host whose key is not known, or that wants a password, is not started, and a sentence says so.
Nothing but the command line travels; the keys of the fleet are on the hosts already.

Few are started at a time: an sshd drops connections from the tenth on that has not logged in yet
(MaxStartups 10:30:100), and hosts behind one jump host share its sshd.
"""

from __future__ import annotations

import contextlib
import math
import os
import re
import shlex
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence

from spekctl.errors import UsageError
from spekctl.fleet.plan import Host, Plan

SSH = "ssh"
CONNECT_S = 10
# For workers to end with their controller; those that hang are left to their leash.
END_S = 5.0
# What is kept of a host's standard error.
SAID_MAX = 4096
# Hosts that are started and have not logged in yet.
AT_ONCE = 8
# A host that takes longer to log in does not hold up the next one.
LOGIN_S = 10.0
# The line by which a host reports its login.
LOGGED_IN = b"spek-in"
SSH_FAILED = 255
NOT_STARTED = (126, 127)
_LOGIN = re.compile(rb"^" + LOGGED_IN + rb"\r?\n", re.MULTILINE)

OPTIONS: Mapping[str, str] = {
    "BatchMode": "yes",
    "StrictHostKeyChecking": "yes",
    "ConnectTimeout": str(CONNECT_S),
    "ServerAliveInterval": "5",
    "ServerAliveCountMax": "3",
    "ControlMaster": "no",
    # Whoever opened another connection has checked its host key by other rules.
    "ControlPath": "none",
    "RemoteCommand": "none",
    "ClearAllForwardings": "yes",
    "ForwardAgent": "no",
    "ForwardX11": "no",
    "PermitLocalCommand": "no",
    "RequestTTY": "no",
    "LogLevel": "ERROR",
}

# What ssh says, and what it means for the user.
_MEANING = {
    "Host key verification failed": "its host key is not known, or another one than before; check"
    " it, and add it by connecting once by hand",
    "Permission denied": "it does not accept the keys of this user, and a password is not asked"
    " for; try `ssh {destination} true`",
}


class _Worker:
    """The ssh of one host."""

    def __init__(
        self, host: Host, command: list[str], program: str, on_login: Callable[[], None]
    ) -> None:
        """@on_login: called once, when it has logged in, or will not."""
        self._host = host
        self._program = program
        self._on_login = on_login
        self._is_in = False
        self._tail = b""
        try:
            # A session of its own: Ctrl-C is for the controller, and there is no terminal to ask.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        except OSError as error:
            raise UsageError(f"cannot start {command[0]}: {error.strerror}") from error
        self._reader = threading.Thread(target=self._read, name="ssh", daemon=True)
        try:
            self._reader.start()
        except RuntimeError as error:
            self._process.kill()
            self._process.wait()
            raise UsageError(f"cannot start {command[0]}: there is no thread for it") from error

    def _read(self) -> None:
        """Keep the end of what it says, until it says nothing more."""
        assert self._process.stdout is not None
        while part := os.read(self._process.stdout.fileno(), SAID_MAX):
            tail = (self._tail + part)[-SAID_MAX:]
            if not self._is_in:
                before, line, after = _around_login(tail)
                if line:
                    self._is_in, tail = True, before + after
                    self._on_login()
            self._tail = tail
        if not self._is_in:
            self._on_login()

    def _lines(self) -> list[str]:
        """The last lines of its output."""
        text = self._tail.decode("utf-8", "replace")
        lines = (
            "".join(char if char.isprintable() else " " for char in line).strip()
            for line in text.split("\n")
        )
        return [line for line in lines if line]

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def said(self) -> str:
        """Its last sentence."""
        if not self.is_running:
            # A process that it has left behind may hold the pipe open.
            self._reader.join(1.0)
        *_, last = ["", *self._lines()]
        return last.removeprefix("spekctl: ")

    def trouble(self) -> str:
        """Why it has ended; empty while it runs."""
        if self.is_running:
            return ""
        code, said = self._process.returncode, self.said()
        if code == SSH_FAILED:
            for sign, meaning in _MEANING.items():
                if any(sign in line for line in self._lines()):
                    return meaning.format(destination=shlex.quote(self._host.ssh))
        elif code in NOT_STARTED:
            return (
                f"{self._program} cannot be started there ({said or f'status {code}'}); program in"
                " [fleet.ssh] has its path"
            )
        return said or f"its worker has ended (status {code})"

    def end(self, patience_s: float) -> None:
        """Wait for its end; after that time it is ended."""
        try:
            self._process.wait(max(0.0, patience_s))
        except subprocess.TimeoutExpired:
            self._process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(1.0)
            if self.is_running:
                self._process.kill()
                self._process.wait()
        self._reader.join(1.0)
        if not self._reader.is_alive():
            assert self._process.stdout is not None
            self._process.stdout.close()


def _around_login(output: bytes) -> tuple[bytes, bytes, bytes]:
    """The output before the line that reports the login, that line, and the output after it; the
    last two are empty without it."""
    match = _LOGIN.search(output)
    if match is None:
        return output, b"", b""
    return output[: match.start()], match[0], output[match.end() :]


class _Logins:
    """Limits the hosts that have been started and have not logged in; a host that takes longer than
    LOGIN_S no longer counts."""

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._changed = threading.Condition()
        # Protected by @_changed.
        self._until_s: dict[str, float] = {}
        self._is_over = False

    def begin(self, name: str) -> bool:
        """Wait until a host may be started. False: none is started any more."""
        with self._changed:
            while not self._is_over:
                now_s = time.monotonic()
                for late in [name for name, end_s in self._until_s.items() if end_s <= now_s]:
                    del self._until_s[late]
                if len(self._until_s) < self._at_once:
                    self._until_s[name] = now_s + LOGIN_S
                    return True
                self._changed.wait(min(self._until_s.values()) - now_s)
            return False

    def end(self, name: str) -> None:
        """A host has logged in, or will not."""
        with self._changed:
            self._until_s.pop(name, None)
            self._changed.notify_all()

    def close(self) -> None:
        with self._changed:
            self._is_over = True
            self._changed.notify_all()


class Launcher:
    """The hosts of a plan that have `ssh`."""

    def __init__(self, plan: Plan, address: str, wait_ns: int, ssh: str = SSH) -> None:
        """@address: where they join; @wait_ns: how long they wait there."""
        self._plan = plan
        self._commands = {
            host.name: (host, command_of(plan, host, address, wait_ns, ssh))
            for host in plan.hosts
            if host.ssh
        }
        self._logins = _Logins(AT_ONCE)
        # Of this thread until the starter runs, then of that.
        self._workers: dict[str, _Worker] = {}
        self._failed: dict[str, str] = {}
        names = list(self._commands)
        self._starter = threading.Thread(
            target=self._start_all, args=(names[1:],), name="ssh starter", daemon=True
        )
        # If there is no ssh at all, the constructor says so.
        for name in names[:1]:
            self._start(name)
        self._starter.start()

    def _start(self, name: str) -> bool:
        """Start a host when its turn has come. False: its turn does not come any more."""
        if not self._logins.begin(name):
            return False
        host, command = self._commands[name]
        self._workers[name] = _Worker(
            host, command, self._plan.ssh.program, lambda: self._logins.end(name)
        )
        return True

    def _start_all(self, names: Sequence[str]) -> None:
        """In a thread: the hosts after the first one."""
        for name in names:
            try:
                if not self._start(name):
                    return
            except UsageError as error:
                self._failed[name] = error.message
                self._logins.end(name)

    def troubles(self) -> dict[str, str]:
        """The hosts whose worker has ended, or never was, and why."""
        troubles = {name: worker.trouble() for name, worker in self._workers.copy().items()}
        return self._failed | {name: text for name, text in troubles.items() if text}

    def pending(self, joined: Mapping[str, str]) -> bool:
        """Whether a host that was started, or will be, may still join."""
        return any(
            name not in self._failed
            and (name not in self._workers or self._workers[name].is_running)
            for name in self._commands
            if name not in joined
        )

    def waiting(self) -> Sequence[str]:
        """Those whose turn has not come yet."""
        return [
            name
            for name in self._commands
            if name not in self._workers and name not in self._failed
        ]

    def said(self, name: str) -> str:
        """The last sentence of a host; empty if there is none."""
        worker = self._workers.get(name)
        return worker.said() if worker is not None else ""

    def close(self) -> None:
        """To be called once the controller does not listen any more, so that the workers end."""
        self._logins.close()
        self._starter.join()
        end_s = time.monotonic() + END_S
        for worker in self._workers.values():
            worker.end(end_s - time.monotonic())


def command_of(plan: Plan, host: Host, address: str, wait_ns: int, ssh: str = SSH) -> list[str]:
    """The command line that starts the worker of a host; a line says before that it has logged in,
    in words that all shells know."""
    seconds = math.ceil(wait_ns / 1e9)
    words = [plan.ssh.program, "fleet", "join", address, "--keys", plan.ssh.keys]
    remote = " ".join(shlex.quote(word) for word in [*words, "--wait", f"{seconds}s"])
    options = [word for name, value in OPTIONS.items() for word in ("-o", f"{name}={value}")]
    return [ssh, *options, "--", host.ssh, f"echo {LOGGED_IN.decode()}; exec {remote}"]
