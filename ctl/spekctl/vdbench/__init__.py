# SPDX-License-Identifier: GPL-2.0-or-later
"""vdbench's parameter files as workloads: raw I/O (HD, SD, WD, RD).

keywords.py   names of parameters, and what becomes of each
parmfile.py   definitions of a file with their parameters
stream.py     a workload definition as streams
rates.py      rates, and shares of rates
hosts.py      hosts, their devices, and their parts of a run
validation.py validation of data, and journals
clients.py    the parts of several hosts, joined into a workload
convert.py    each run definition, with its loops, as workloads of its own

Nothing here runs anything.
"""
