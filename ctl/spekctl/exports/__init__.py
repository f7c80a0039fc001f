# SPDX-License-Identifier: GPL-2.0-or-later
"""Results in the formats of other programs.

measured.py   what these formats have in common: distributions and intervals by direction
fio_json.py   fio's JSON output, json+
fio_logs.py   fio's logs of bandwidth, IOPS and latency
fio_hist.py   fio's logs of histograms
hdr.py        logs of HdrHistogram, V2
intervals.py  report intervals as CSV

They read documents; nothing here runs anything.
"""
