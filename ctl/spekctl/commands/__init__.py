# SPDX-License-Identifier: GPL-2.0-or-later
"""The commands of spekctl, one module each; loaded when used."""
