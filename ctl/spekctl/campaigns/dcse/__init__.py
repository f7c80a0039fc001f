# SPDX-License-Identifier: GPL-2.0
"""DCsE: storage efficiency of a data centre in operation."""
