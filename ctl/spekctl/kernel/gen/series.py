# SPDX-License-Identifier: GPL-2.0-or-later
"""Kernel series, generated from kmod/compat/series.h, run `make gen`."""

# On which the guest tests have run back end mq.
MQ_SERIES = (
    (6, 1),
    (6, 12),
    (7, 3),
)
