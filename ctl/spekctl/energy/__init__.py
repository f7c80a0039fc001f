# SPDX-License-Identifier: GPL-2.0
"""Energy metrics: SPC-1/E-like, Emerald-like and DCsE.

Metrics are pure functions of exact numbers (spc1e.py, emerald.py, dcse.py); what they are computed
from is measured (spc1e_run.py, emerald_run.py) or read from a file (inputs.py).
"""
