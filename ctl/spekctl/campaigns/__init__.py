# SPDX-License-Identifier: GPL-2.0-or-later
"""Measurements of many runs: planned, run step by step, kept in a folder, resumed.

A new campaign is a module or a folder here: a State, and a subclass of campaign.Campaign with its
abstract methods; sweep.py is the shortest. Each file that it writes is a Kind with its text in
documents/document.py; a report of its own is a struct in documents/ with its tables in render/. Its
command, commands/NAME.py, takes the common options from commands/campaign.py and ends with
carry_out() there; cli.COMMANDS lists it. README.md here describes it to users.
"""
