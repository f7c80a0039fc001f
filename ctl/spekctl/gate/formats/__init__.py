# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts in the formats of their consumers."""
