# SPDX-License-Identifier: GPL-2.0
"""In a guest with memory that 32-bit DMA does not reach: how large the requests of a modelled drive
may be, written to a file.

PYTHONPATH=tests python -m machines.memory FOLDER
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from lib.guest import modules
from lib.guest.modelled import modelled

from spekctl.kernel.drives import Drives


def main(folder: Path) -> int:
    """Load the module that SPEK_MODULES has, and look."""
    subprocess.run(["modprobe", "sd_mod"], check=True)
    modules.load(Path(os.environ["SPEK_MODULES"], "spek_drive.ko"))
    with Drives() as drives, modelled(drives) as disk:
        limit = (disk.queue / "max_hw_sectors_kb").read_text()
        (folder / "max_hw_sectors_kb").write_text(limit)
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
