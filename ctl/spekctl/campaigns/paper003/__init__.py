# SPDX-License-Identifier: GPL-2.0-or-later
"""Intra-disk parallelism, the study of paper 003, on modelled drives in userspace."""
