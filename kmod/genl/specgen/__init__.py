# SPDX-License-Identifier: GPL-2.0
"""From a netlink spec to everything that follows from it; see __main__.py."""
