# SPDX-License-Identifier: GPL-2.0-or-later
"""Starts the workers of a plan's hosts over SSH, by the ssh of the system.

That knows what the user has set up: names of hosts, jump hosts, agents, Kerberos. It asks nothing:
a host whose key is not known, or that wants a password, is not started, and a sentence says so.
Nothing but the command line travels; the keys of the fleet are on the hosts already.
"""

from __future__ import annotations

import contextlib
import math
import shlex
import subprocess
import threading
import time
from collections.abc import Mapping

from spekctl.errors import UsageError
from spekctl.fleet.plan import Host, Plan

SSH = "ssh"
CONNECT_S = 10
# For workers to end with their controller; those that hang are left to their leash.
END_S = 5.0
# What is kept of a host's standard error.
SAID_MAX = 4096
SSH_FAILED = 255
NOT_STARTED = (126, 127)

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

    def __init__(self, host: Host, command: list[str], program: str) -> None:
        self._host = host
        self._program = program
        self._said = ""
        try:
            # A session of its own: Ctrl-C is for the controller, and there is no terminal to ask.
            self._process = subprocess.Popen(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise UsageError(f"cannot start {command[0]}: {error.strerror}") from error
        self._reader = threading.Thread(target=self._read, name="ssh", daemon=True)
        self._reader.start()

    def _read(self) -> None:
        """Keep the end of what it says, until it says nothing more."""
        assert self._process.stderr is not None
        while line := self._process.stderr.readline(SAID_MAX):
            text = line.decode("utf-8", "replace")
            clean = "".join(char if char.isprintable() else " " for char in text).strip()
            if clean:
                self._said = f"{self._said}\n{clean}"[-SAID_MAX:]

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def said(self) -> str:
        """Its last sentence."""
        if not self.is_running:
            # A process that it has left behind may hold the pipe open.
            self._reader.join(1.0)
        return self._said.rpartition("\n")[2].removeprefix("spekctl: ")

    def trouble(self) -> str:
        """Why it has ended; empty while it runs."""
        if self.is_running:
            return ""
        code, said = self._process.returncode, self.said()
        if code == SSH_FAILED:
            for sign, meaning in _MEANING.items():
                if sign in self._said:
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
        if not self._reader.is_alive() and self._process.stderr is not None:
            self._process.stderr.close()


class Launcher:
    """The hosts of a plan that have `ssh`."""

    def __init__(self, plan: Plan, address: str, wait_ns: int, ssh: str = SSH) -> None:
        """@address: where they join; @wait_ns: how long they wait there."""
        self._workers: dict[str, _Worker] = {}
        try:
            for host in plan.hosts:
                if host.ssh:
                    command = command_of(plan, host, address, wait_ns, ssh)
                    self._workers[host.name] = _Worker(host, command, plan.ssh.program)
        except BaseException:
            self.close()
            raise

    def troubles(self) -> dict[str, str]:
        """The hosts whose worker has ended, or never was, and why."""
        troubles = {name: worker.trouble() for name, worker in self._workers.items()}
        return {name: text for name, text in troubles.items() if text}

    def pending(self, joined: Mapping[str, str]) -> bool:
        """Whether a host that was started may still join."""
        return any(
            worker.is_running for name, worker in self._workers.items() if name not in joined
        )

    def said(self, name: str) -> str:
        """The last sentence of a host; empty if there is none."""
        worker = self._workers.get(name)
        return worker.said() if worker is not None else ""

    def close(self) -> None:
        """To be called once the controller does not listen any more, so that the workers end."""
        end_s = time.monotonic() + END_S
        for worker in self._workers.values():
            worker.end(end_s - time.monotonic())


def command_of(plan: Plan, host: Host, address: str, wait_ns: int, ssh: str = SSH) -> list[str]:
    """The command line that starts the worker of a host."""
    seconds = math.ceil(wait_ns / 1e9)
    words = [plan.ssh.program, "fleet", "join", address, "--keys", plan.ssh.keys]
    remote = " ".join(shlex.quote(word) for word in [*words, "--wait", f"{seconds}s"])
    options = [word for name, value in OPTIONS.items() for word in ("-o", f"{name}={value}")]
    return [ssh, *options, "--", host.ssh, f"exec {remote}"]
