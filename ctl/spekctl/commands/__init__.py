# SPDX-License-Identifier: GPL-2.0
"""The commands of spekctl, one module each; loaded when used."""
