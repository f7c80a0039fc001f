# SPDX-License-Identifier: GPL-2.0
"""One run: asked for, started, watched, ended, reported."""
