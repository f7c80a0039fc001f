# SPDX-License-Identifier: GPL-2.0-or-later
"""fio's job files as workloads.

jobfile.py    sections and options of a job file, as fio reads them
commandline.py    the jobs of a command line
values.py     fio's notation of numbers, sizes and times
options.py    options by what becomes of them: not needed here, or refused; all others are mapped
defaults.py   options that are given without effect
normal.py     a job in fewer notations: zones, ranges of delays, large blocks
plan.py       what a job becomes, and its options while they are taken one by one
job.py        one job as streams and arrival processes
places.py     where I/Os go: regions of clones, and patterns
commands.py   commands of SCSI and NVMe in place of reads and writes
devices.py    the block devices of what a job names
replay.py     a job that replays a log of I/O
sizes.py      block sizes: bs, bsrange, bssplit
zones.py      zonemode: zoned devices, and gaps between zones
ends.py       when a job begins and ends
phases.py     jobs that start or end at different times
export.py     a workload as a job file
convert.py    all jobs of a file as one workload, with a report of where each option went

Nothing here runs anything.
"""
