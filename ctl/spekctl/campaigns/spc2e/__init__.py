# SPDX-License-Identifier: GPL-2.0-or-later
"""The SPC-2/E-like campaign: an idle test, then the SPC-2-like test with power."""
