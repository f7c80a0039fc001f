# SPDX-License-Identifier: GPL-2.0
"""A netlink connection without a kernel."""

from __future__ import annotations

from enum import IntEnum
from types import ModuleType
from typing import Any

from spekctl.kernel import link as kernel_link
from spekctl.kernel.gen import spek


class FakeLink:
    """Answers dumps and requests from a list. @contract: of spek, unless another is given."""

    def __init__(self, *answers: dict[str, Any], contract: ModuleType = spek) -> None:
        self._contract = contract
        self.answers = list(answers)
        self.asked: list[tuple[str, dict[str, Any]]] = []

    def dump(self, command: IntEnum, **values: Any) -> list[dict[str, Any]]:
        self.asked.append((command.name, values))
        return [kernel_link.named(self._contract.MESSAGES[command], one) for one in self.answers]

    def ask(self, command: IntEnum, **values: Any) -> dict[str, Any]:
        self.asked.append((command.name, values))
        return kernel_link.named(self._contract.MESSAGES[command], self.answers[0])

    def tell(self, command: IntEnum, **values: Any) -> None:
        self.asked.append((command.name, values))
