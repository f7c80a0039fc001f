# SPDX-License-Identifier: GPL-2.0-or-later
"""The privileged part of programs that drive spek: README.md has its protocol."""
