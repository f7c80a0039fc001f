# SPDX-License-Identifier: GPL-2.0-or-later
"""Readers of traces, a module for each family of formats."""
