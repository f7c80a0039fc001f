# SPDX-License-Identifier: GPL-2.0
"""A program dmsetup that keeps its mappings in a file, and what it was called with."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

# Python without its site packages starts in a fraction of the time.
PROGRAM = """#!{python} -SE
import json, os, sys

folder = {folder!r}
path = os.path.join(folder, "state.json")
state = json.load(open(path))
words = sys.argv[1:]
state["calls"].append(words)


def end(text="", code=0):
    json.dump(state, open(path, "w"))
    (sys.stderr if code else sys.stdout).write(text)
    raise SystemExit(code)


def mapping(name):
    if name not in state["mappings"]:
        end("Device %s not found\\nCommand failed.\\n" % name, 1)
    return state["mappings"][name]


refused = state["refuse"].get(words[0])
if refused:
    end(refused + "\\nCommand failed.\\n", 1)
if words == ["targets"]:
    end("".join("%-16s v%s\\n" % (kind, state["version"]) for kind in state["targets"]))
if words[:4] == ["status", "--noflush", "--target", "spek-augment"]:
    lines = ""
    for name, each in state["mappings"].items():
        fields = each["status"].pop(0) if len(each["status"]) > 1 else each["status"][0]
        lines += "%s: 0 2048 spek-augment %s\\n" % (name, fields)
    end(lines or "No devices found\\n")
if words[0] == "table":
    end(mapping(words[1])["table"] + "\\n")
if words[:4] == ["info", "-c", "--noheadings", "-o"]:
    if words[4] == "name":
        end("".join(name + "\\n" for name in state["mappings"]) or "No devices found\\n")
    end(str(mapping(words[5])[words[4]]) + "\\n")
if words[:7] == ["info", "-c", "--noheadings", "--separator", ":", "-o", "major,minor"]:
    end("%d:%d\\n" % tuple(mapping(words[7])["number"]))
if words[0] == "create" and words[2] == "--uuid" and words[4] == "--table" and len(words) == 6:
    state["mappings"][words[1]] = dict(
        table=words[5], uuid=words[3], open=0, number=[253, 0], status=state["initial"]
    )
    open(os.path.join(folder, "mapper", words[1]), "w").close()
    end()
if words[0] == "remove":
    mapping(words[1])
    del state["mappings"][words[1]]
    end()
if words[0] == "message" and words[2] == "0":
    mapping(words[1])["messages"] = mapping(words[1]).get("messages", []) + [words[3:]]
    end(state["answers"].get(" ".join(words[3:]), ""))
end("dmsetup of the tests does not know: %s\\n" % words, 3)
"""
CLEAN = "normal 1 7 6 1 0 0/256 0 90 10 5 4 3 20 20 3 0 1 1 0 0 0 0"
DIRTY = "normal 1 7 6 1 12 20/256 65000 90 10 5 4 3 20 8 3 0 1 1 0 0 0 0"
FAILED = "failed 1 7 6 0 12 20/256 65000 90 10 5 4 3 20 8 3 4 1 1 0 0 0 12"


@dataclass
class FakeDm:
    """The program, in a folder of its own, and its state."""

    folder: Path
    initial: list[str] = field(default_factory=lambda: [CLEAN])

    def __post_init__(self) -> None:
        (self.folder / "mapper").mkdir(parents=True)
        program = self.folder / "dmsetup"
        program.write_text(PROGRAM.format(python=sys.executable, folder=str(self.folder)))
        program.chmod(0o755)
        self._write(
            {
                "targets": ["linear", "spek-augment"],
                "version": "1.2.0",
                "mappings": {},
                "calls": [],
                "refuse": {},
                "answers": {"lost 0": "-\n"},
                "initial": self.initial,
            }
        )

    def _write(self, state: dict[str, Any]) -> None:
        (self.folder / "state.json").write_text(json.dumps(state))

    @property
    def state(self) -> dict[str, Any]:
        state: dict[str, Any] = json.loads((self.folder / "state.json").read_text())
        return state

    def change(self, **fields: Any) -> None:
        """Change fields of the state."""
        self._write({**self.state, **fields})

    def refuse(self, command: str, sentence: str) -> None:
        """Fail a command."""
        self.change(refuse={**self.state["refuse"], command: sentence})

    def map(
        self, name: str, table: str, status: str | list[str] = CLEAN, uuid: str = "", opens: int = 0
    ) -> None:
        """Have a mapping; of several status lines each is told once, the last one for good."""
        lines = [status] if isinstance(status, str) else status
        each = {"table": table, "uuid": uuid, "open": opens, "number": [253, 0], "status": lines}
        self.change(mappings={**self.state["mappings"], name: each})

    def sent(self, command: str) -> list[list[str]]:
        """The calls of a command."""
        return [words for words in self.state["calls"] if words[0] == command]
