# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts on results. Readers of documents only: nothing here runs anything."""
