# SPDX-License-Identifier: GPL-2.0
"""A page for each paper of what `make figures` has measured, and a count of their verdicts."""
