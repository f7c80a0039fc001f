# SPDX-License-Identifier: GPL-2.0
"""A netlink connection without a kernel."""

from __future__ import annotations

from enum import IntEnum
from types import ModuleType
from typing import Any

from spekctl.kernel import answers
from spekctl.kernel import link as kernel_link
from spekctl.kernel.gen import spek


def read_back(contract: Any, command: IntEnum, values: dict[str, Any]) -> dict[str, Any]:
    """@values after a round trip through a message of @command."""
    cls = contract.MESSAGES[command]
    message = cls()
    message["cmd"], message["version"] = int(command), contract.VERSION
    message["attrs"] = kernel_link._encode(cls, values)
    message.encode()
    return answers.answer(contract, bytes(message.data))


class FakeLink:
    """Answers dumps and requests from a list. @contract: of spek, unless another is given."""

    def __init__(self, *answers: dict[str, Any], contract: ModuleType = spek) -> None:
        self._contract = contract
        self.answers = list(answers)
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def dump(self, command: IntEnum, **values: Any) -> list[dict[str, Any]]:
        self.asked.append((command.name, values))
        return [read_back(self._contract, command, answer) for answer in self.answers]

    def ask(self, command: IntEnum, **values: Any) -> dict[str, Any]:
        self.asked.append((command.name, values))
        return read_back(self._contract, command, self.answers[0])

    def tell(self, command: IntEnum, **values: Any) -> None:
        self.asked.append((command.name, values))
