# SPDX-License-Identifier: GPL-2.0-or-later
"""Measurements of many runs: planned, run step by step, kept in a folder, resumed.

A new campaign is a module or a folder here: a State, and a subclass of benchmark.Benchmark, or
of campaign.Campaign, with its abstract methods. README.md describes campaigns to users, and what
a new one needs to developers.
"""
