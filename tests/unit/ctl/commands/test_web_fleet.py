# SPDX-License-Identifier: GPL-2.0
"""spekctl web --fleet with hosts that are processes, from its start to the end of the server."""

from __future__ import annotations

import builtins
import errno
import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

import pytest
from lib.fakes.fleet_rig import SOON_S, Processes, listening, plan_of

from spekctl.commands import web
from spekctl.errors import ExitCode, UsageError
from spekctl.fleet import keys

NAMES = ["a", "b"]
CODE = """
import os, sys
# The server would become somebody who cannot read the files of this test.
os.geteuid = lambda: 1000
from spekctl import cli
sys.exit(cli.run(sys.argv[1:]))
"""


class Page:
    def __init__(self, url: str) -> None:
        self.origin, _, fragment = url.partition("/#token=")
        self.headers = {"Authorization": f"Bearer {fragment}", "Content-Type": "application/json"}

    def ask(self, place: str, body: Any) -> Any:
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.origin + place, data, self.headers)
        with urllib.request.urlopen(request, timeout=SOON_S) as answer:
            return json.loads(answer.read())

    def until(self, name: str, text: str = "") -> Any:
        """Data of the first event of this name with this text in it."""
        request = urllib.request.Request(self.origin + "/events", None, self.headers)
        with urllib.request.urlopen(request, timeout=SOON_S) as events:
            event = ""
            for line in events:
                field, _, value = line.decode().rstrip("\n").partition(": ")
                event = value if field == "event" else event
                if field == "data" and event == name and text in value:
                    return json.loads(value)
        raise AssertionError(f"no {name} with {text}")


def test_the_end_of_the_server_frees_the_devices_of_all_hosts(tmp_path: Path) -> None:
    with Processes(tmp_path, NAMES) as hosts:
        (tmp_path / "plan.toml").write_text(plan_of(NAMES, time="1h"))
        words = ["web", "--fleet", "plan.toml", "--keys", str(hosts.keys / "controller")]
        server = subprocess.Popen(
            [sys.executable, "-c", CODE, *words],
            cwd=tmp_path,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        )
        assert server.stdout is not None and server.stderr is not None
        try:
            page = Page(server.stdout.readline().strip())
            assert page.ask("/api/form", None)["fleet"] == "plan.toml"
            page.ask("/api/start", {"of_plan": True})
            address = page.until("note", "waiting for")["text"].rpartition(" ")[2]
            for name in NAMES:
                hosts.join(address, name)
            table = page.until("hosts", '"running"')
            assert [host["name"] for host in table["hosts"]] == NAMES
            # Nothing but the page itself: hosts are the agent's.
            assert len(listening(server.pid)) == 1
            server.send_signal(signal.SIGINT)
            _, err = server.communicate(timeout=SOON_S)
            assert server.returncode == ExitCode.INTERRUPTED and "Traceback" not in err
        finally:
            server.kill()
            server.wait()
        for name in NAMES:
            hosts.ended(name)
            hosts.check_free(name)


def test_a_server_that_cannot_read_the_keys_says_who_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As when root, who owns them, starts it."""
    keys.make(tmp_path / "keys", NAMES, 30)
    (tmp_path / "plan.toml").write_text(plan_of(NAMES))
    whole = open

    def closed(path: Any, *mode: Any, **more: Any) -> Any:
        if str(path).endswith("key.pem"):
            raise PermissionError(errno.EACCES, "Permission denied")
        return whole(path, *mode, **more)

    web._check_readable(tmp_path / "plan.toml", tmp_path / "keys/controller")
    monkeypatch.setattr(builtins, "open", closed)
    with pytest.raises(UsageError, match=r"key\.pem: Permission denied; the server runs as "):
        web._check_readable(tmp_path / "plan.toml", tmp_path / "keys/controller")
    with pytest.raises(UsageError, match="there is no "):
        web._check_readable(tmp_path / "plan.toml", tmp_path / "none")
    # No user of the system has this number, as in containers that choose one.
    monkeypatch.setattr(os, "geteuid", lambda: (1 << 31) - 7)
    with pytest.raises(UsageError, match=r"the server runs as user 2147483641, who must own"):
        web._check_readable(tmp_path / "plan.toml", tmp_path / "keys/controller")
