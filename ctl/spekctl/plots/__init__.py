# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of logs, results, load curves and reports; matplotlib is imported on use only.

Each kind of picture is a module with the data that it shows (``Scatter``, ``Timeline``), readers
that make them from files, and ``draw``; ``style`` has what all share, ``source`` opens the files.
A new one is a module here and a command in commands/plot.py, which has its options and calls
``draw``; a line in ``usual`` there makes it the plot that `spekctl plot FILE` draws of a kind.
With an entry in MAKERS, tests/unit/ctl/plots/test_every_plot.py checks its units, overlaps and
bytes.
"""
