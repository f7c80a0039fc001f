# SPDX-License-Identifier: GPL-2.0-or-later
"""Block devices of this machine: what they are, what they hold, whether they may be written."""
