# SPDX-License-Identifier: GPL-2.0-or-later
"""Pictures of logs, results, load curves and reports; matplotlib is imported on use only.

Plots that a report shows too are described there, once: ``picture`` draws the plots and bars of
report/ as they are, with their labels, units, ranges, ticks and names, and ``documents`` lists the
plots of each picture (``CURVE``, ``ROUNDS``). A new plot, label or unit belongs into report/, where
the page gets it as well; a new picture of such plots is a ``Choice`` here.

Other pictures have a module with the data that they show (``Scatter``, ``Timeline``), readers that
make them from files, and ``draw``. ``style`` has what all share, ``source`` makes the foot, which
names the origin of the numbers.

Each has a command in commands/plot.py with its options; a line in ``usual`` there makes it the plot
that `spekctl plot FILE` draws of a kind. With an entry in MAKERS,
tests/unit/ctl/plots/test_every_plot.py checks its units, overlaps and bytes.
"""
