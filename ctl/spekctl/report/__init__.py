# SPDX-License-Identifier: GPL-2.0-or-later
"""Documents as one HTML file with plots: a reader of documents, which runs nothing."""
