# SPDX-License-Identifier: GPL-2.0-or-later
"""vdbench's parameter files as workloads: raw I/O (HD, SD, WD, RD).

parmfile.py   definitions of a file with their parameters
convert.py    each run definition, with its loops, as a workload of its own

Nothing here runs anything.
"""
