# SPDX-License-Identifier: GPL-2.0-or-later
"""Modelled drives: descriptions as numbers that the core in kmod/drive/core takes."""
