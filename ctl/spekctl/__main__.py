# SPDX-License-Identifier: GPL-2.0
"""python -m spekctl"""

from spekctl.cli import main

main()
