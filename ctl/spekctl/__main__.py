# SPDX-License-Identifier: GPL-2.0-or-later
"""python -m spekctl"""

from spekctl.cli import main

main()
