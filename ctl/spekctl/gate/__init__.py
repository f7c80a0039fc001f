# SPDX-License-Identifier: GPL-2.0-or-later
"""Verdicts on results: against limits, and of one set of runs against another.

judged.py    results as they are read for a verdict
metrics.py   the figures of a result that can be judged: names, units, which way is better
values.py    figures as text
limits.py    `spekctl gate`: a file of limits, and whether results keep them
likeness.py  what has to be equal for results to be comparable
ranks.py     two samples compared by ranks, exactly
compare.py   `spekctl compare`: same, better, worse or undecided
cases.py     both verdicts as test cases
formats/     test cases as KTAP, JUnit XML, LAVA signals, KCIDB JSON and `key: value`

Readers of documents only: nothing here runs anything.
"""
