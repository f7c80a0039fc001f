# SPDX-License-Identifier: GPL-2.0-or-later
"""A run on several hosts with one start and one result."""
