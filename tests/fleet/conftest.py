# SPDX-License-Identifier: GPL-2.0
"""Tests on several guests."""

from __future__ import annotations

from fleet.rig import rig

__all__ = ["rig"]
