# SPDX-License-Identifier: GPL-2.0-or-later
"""The generic netlink families of the modules: link, clients, records."""

from spekctl.kernel import bare

# Before anything of this package imports pyroute2.
bare.enter()
