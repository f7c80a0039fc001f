# SPDX-License-Identifier: GPL-2.0
from __future__ import annotations

import subprocess
from typing import Any

import pytest
from lib.build import budget


@pytest.mark.parametrize(
    ("version", "above"), [("12", {"b": 101.0, "c": 106.0}), ("14.2.0", {"c": 106.0})]
)
def test_another_compiler_may_take_more(
    monkeypatch: pytest.MonkeyPatch, version: str, above: dict[str, float]
) -> None:
    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 0, f"{version}\n")

    monkeypatch.setattr(subprocess, "run", run)
    budget.allowance.cache_clear()
    try:
        costs = {"a": 100.0, "b": 101.0, "c": 106.0}
        assert budget.above(costs, dict.fromkeys(costs, 100.0)) == above
    finally:
        budget.allowance.cache_clear()
