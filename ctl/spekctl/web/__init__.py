# SPDX-License-Identifier: GPL-2.0-or-later
"""The page to configure, watch and compare runs, and its unprivileged web server."""
