# SPDX-License-Identifier: GPL-2.0
"""In a guest: attach each of some builds of spek_augment.ko to disks as they were at flushes.

PYTHONPATH=tests python -m machines.augment_faults FOLDER REPLAYS

Takes the modules of $SPEK_MODULES by name. FOLDER/outcomes.json gets for each what the comparison
of up to REPLAYS disks has come to: a text that begins with DIFFERENT and says what was lost, or
how much was compared.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path

from guest.augment_log_writes import Replays
from lib.guest import modules
from lib.guest.disks import udev_at_rest

DIFFERENT = "different: "
SEED, STRIDE = 1, 3  # one flush of so many is compared


def outcome_of(module: Path, wanted: int) -> str:
    """What a build comes to."""
    modules.load(module)
    try:
        replays = Replays(random.Random(SEED), stride=STRIDE)
        try:
            replays.run(wanted)
        except AssertionError as error:
            return " ".join([f"{DIFFERENT}{error}", *getattr(error, "__notes__", [])])
        return str(replays)
    finally:
        modules.unload_soon("spek_augment")


def main() -> None:
    folder, wanted = Path(sys.argv[1]), int(sys.argv[2])
    subprocess.run(["modprobe", "-q", "libcrc32c"], check=False)
    subprocess.run(["modprobe", "dm_mod"], check=True)
    with udev_at_rest():
        outcomes: dict[str, str] = {}
        for path in sorted(Path(os.environ["SPEK_MODULES"]).glob("*.ko")):
            outcomes[path.stem] = outcome_of(path, wanted)
            (folder / "outcomes.json").write_text(json.dumps(outcomes))


if __name__ == "__main__":
    main()
