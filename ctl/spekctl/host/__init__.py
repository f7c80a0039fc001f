# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that drive spek: the part with rights, and what uses it without. README.md has the
protocols."""
