# SPDX-License-Identifier: GPL-2.0-or-later
"""Measurements of many runs: planned, run step by step, kept in a folder, resumed.

A new campaign is a module or a folder here: a State, and a subclass of campaign.Campaign with
next_step, task and keep; sweep.py is the shortest. The files that it writes are each a Kind with
its text in documents/document.py; a report of its own is a struct in documents/ with its tables in
render/. commands/NAME.py takes the common options from commands/campaign.py and ends in
carry_out() there; a line of cli.COMMANDS names it.
"""
