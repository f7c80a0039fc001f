# SPDX-License-Identifier: GPL-2.0
"""The generic netlink families of the modules: link, clients, records."""
