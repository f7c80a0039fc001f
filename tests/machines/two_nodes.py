# SPDX-License-Identifier: GPL-2.0
"""In a guest with two NUMA nodes and an NVMe drive on each: what its tests look at.

PYTHONPATH=tests python -m machines.two_nodes FOLDER
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from machines import near, nodes


def main(folder: Path) -> None:
    subprocess.run(["insmod", f"{os.environ['SPEK_MODULES']}/spek.ko"], check=True)
    nodes.write(folder)
    near.write(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
