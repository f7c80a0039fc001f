# SPDX-License-Identifier: GPL-2.0
"""Which sources are measured."""

from __future__ import annotations

import subprocess

from bench.measuring import ROOT


def commit() -> str:
    """What is measured, as git names it."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty", "--abbrev=12"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or "unknown"
