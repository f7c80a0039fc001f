# SPDX-License-Identifier: GPL-2.0-or-later
"""DCsE: storage efficiency of a data centre in operation."""
