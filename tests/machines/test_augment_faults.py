# SPDX-License-Identifier: GPL-2.0
"""Faults planted in the module of the cache, above its core: disks as they were at flushes show
each of them. Those in the core are in tests/unit/augment/test_cuts.py.

`make augment-guest-faults`: it takes a build of the module for each fault, in one guest. Where one
flush is one of all devices, a flush that only one of them lacks does not show
(tests/guest/augment_log_writes.py); cuts of the core's proof are for these.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from bench.measuring import ROOT, measure
from machines.augment_faults import DIFFERENT

from spekctl.vm.kernels import Kernel, find_kernel
from spekctl.vm.modules import AUGMENT, make_command, sources_of

KERNEL = os.environ.get("SPEK_AUGMENT_KERNEL", "6.12")
REPLAYS = 8  # disks that are compared where nothing is lost
LIMIT_S = 3600.0
SOUND = "sound"

# File, text, what stands in its place.
FAULTS = {
    "flush-acknowledged-when-it-arrives": (
        "target.c",
        "	spek_augment_serve_bio(ti->private, bio);\n",
        "	if (!bio->bi_iter.bi_size)\n		bio_endio(bio);\n	else\n"
        "		spek_augment_serve_bio(ti->private, bio);\n",
    ),
    "flush-acknowledged-before-devices-have-it": (
        "serve.c",
        "		err = prepare(unit, part);\n",
        "		if (io.op == SPEK_AUGMENT_FLUSH && io.device != SPEK_AUGMENT_RAID) {\n"
        "			spek_augment_complete(&unit->machine, ktime_get_ns(), io.tag, 0);\n"
        "			continue;\n		}\n		err = prepare(unit, part);\n",
    ),
}


def build(kernel: Kernel, tree: Path, module: Path) -> None:
    """Make @module of the sources in @tree."""
    done = subprocess.run(make_command(kernel, tree), capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    shutil.copy2(tree / AUGMENT, module)


@pytest.mark.at_length
def test_faults_of_the_module_show(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    kernel, tree, modules = find_kernel(KERNEL), tmp_path / "tree", tmp_path / "modules"
    modules.mkdir()
    for path in sources_of(ROOT):
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / path, tree / path)
    with open(tree / "Kbuild", "a") as file:
        # No other module.
        file.write(f"obj-m := {Path(AUGMENT).stem}.o\n")
    build(kernel, tree, modules / f"{SOUND}.ko")
    for fault, (name, text, instead) in FAULTS.items():
        source = tree / "kmod" / "augment" / name
        sound = source.read_text()
        assert sound.count(text) == 1
        source.write_text(sound.replace(text, instead))
        build(kernel, tree, modules / f"{fault}.ko")
        source.write_text(sound)
    guest = measure(
        kernel,
        ["machines.augment_faults", str(tmp_path), str(REPLAYS)],
        tmp_path,
        tmp_path / "console",
        icount=False,
        limit_s=LIMIT_S,
        modules=modules,
    )
    assert guest.exit_status == 0, (guest.failure, guest.console[-2000:])
    outcomes = json.loads((tmp_path / "outcomes.json").read_text())
    print(json.dumps(outcomes, indent=2))
    # Else whatever is planted would be found.
    assert not outcomes.pop(SOUND).startswith(DIFFERENT)
    assert outcomes.keys() == FAULTS.keys()
    hidden = [fault for fault, text in outcomes.items() if not text.startswith(DIFFERENT)]
    assert hidden == []
    record_property("count", f"{len(FAULTS)} faults planted, each found")
