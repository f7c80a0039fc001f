# SPDX-License-Identifier: GPL-2.0-or-later
"""Block devices of this machine: identity, contents, and whether they may be written."""
