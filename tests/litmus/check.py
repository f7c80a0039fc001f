# SPDX-License-Identifier: GPL-2.0
"""Run the litmus tests of this folder through herd7 with the kernel's memory model.

Each file says beside "Result:" what herd7 has to find. Never: the outcome behind "exists", which
would be a fault, is impossible on every architecture, and no plain access races. Sometimes: a
barrier is missing on purpose, and the fault is found without it.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from spekctl.errors import SpekError
from spekctl.vm.apt import RETRIES, run
from spekctl.vm.cache import cache_dir, locked

FOLDER = Path(__file__).resolve().parent
SOURCE = "linux-source-6.1"
CONFIG = "linux-kernel.cfg"
WITHOUT_HERD = (
    "litmus tests need herd7: install it by `opam install herdtools7`, or name it by HERD7="
)


def expected(text: str) -> str:
    """What a test says that herd7 has to find."""
    results = re.findall(r"^ \* Result: (Never|Sometimes)$", text, re.M)
    if len(results) != 1:
        raise SpekError("it has no line 'Result: Never' or 'Result: Sometimes'")
    return str(results[0])


def verdict(text: str, output: str) -> str:
    """What is wrong with what herd7 has said of a test; empty if nothing is."""
    wanted = expected(text)
    name = text.split(maxsplit=2)[1]
    observed = re.findall(rf"^Observation {re.escape(name)} (\w+) ", output, re.M)
    if len(observed) != 1:
        return f"herd7 says nothing of it: {' '.join(output.split())[:200]}"
    if observed[0] != wanted:
        return f"it is {observed[0]}, not {wanted}"
    if wanted == "Never" and re.search(r"^Flag ", output, re.M):
        return "plain accesses race"
    return ""


def model() -> Path:
    """The memory model of the kernel's source package, in the cache."""
    folder = cache_dir("litmus")
    with locked("litmus"):
        if not (folder / SOURCE / CONFIG).exists():
            with tempfile.TemporaryDirectory(dir=folder) as scratch:
                _unpack(Path(scratch), folder / SOURCE)
    return folder / SOURCE


def _unpack(scratch: Path, to: Path) -> None:
    run(["apt-get", "download", "-q", *RETRIES, SOURCE], cwd=scratch, what=f"download of {SOURCE}")
    (deb,) = scratch.glob("*.deb")
    run(["dpkg-deb", "-x", str(deb), "deb"], cwd=scratch, what=f"unpacking {deb.name}")
    (archive,) = scratch.glob("deb/usr/src/*.tar.*")
    folder = f"{SOURCE}/tools/memory-model"
    run(["tar", "-xf", str(archive), folder], cwd=scratch, what=f"unpacking {archive.name}")
    shutil.rmtree(to, ignore_errors=True)
    shutil.move(scratch / folder, to)


def observed_by(herd: str, where: Path, test: Path) -> str:
    """What herd7 says of a test by the model in @where, which names files that are beside it."""
    command = [herd, "-conf", CONFIG, str(test)]
    done = subprocess.run(command, cwd=where, capture_output=True, text=True, check=False)
    return done.stdout + done.stderr


def main(words: list[str]) -> int:
    """Check all tests, and say what each was. Return: 0; 1 if any was not as it has to be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--herd7", default="herd7", help="the program, or its path")
    parser.add_argument("--model", type=Path, help="tools/memory-model of a kernel's source")
    given = parser.parse_args(words)
    herd = shutil.which(given.herd7)
    if herd is None:
        print(WITHOUT_HERD, file=sys.stderr)
        return 2
    try:
        where = given.model or model()
    except SpekError as error:
        print(error, file=sys.stderr)
        return 2
    wrong = 0
    tests = sorted(FOLDER.glob("*.litmus"))
    for test in tests:
        text = test.read_text()
        trouble = verdict(text, observed_by(herd, where, test))
        print(f"{test.stem}: {trouble or expected(text)}")
        wrong += bool(trouble)
    print(f"{len(tests) - wrong} passed, {wrong} failed")
    return int(wrong > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
