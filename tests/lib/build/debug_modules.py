# SPDX-License-Identifier: GPL-2.0
"""Modules for tests in a debug kernel, never shipped: spek_kunit.ko, spek_rig.ko, spek_sites.ko.

Built on the host and kept in the cache, like spek.ko itself; guests find them in
$SPEK_TEST_MODULES.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import shutil
import struct
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from spekctl.errors import SpekError
from spekctl.vm.cache import cache_dir, cached, digest_of
from spekctl.vm.kernels import Kernel
from spekctl.vm.modules import identity_of, make_command

ROOT = Path(__file__).resolve().parents[3]
KUNIT = ROOT / "tests" / "kunit"
RIG = ROOT / "tests" / "debug" / "rig"
SEQUENCES = ROOT / "tests" / "unit" / "core" / "test_sequences.py"
FNV_START, FNV_PRIME = 0xCBF29CE484222325, 0x100000001B3
KEEP = 4
WORD = struct.Struct("<Q")


def build(kernel: Kernel) -> Path:
    """A directory with the modules for @kernel; built now or earlier."""

    def make(done: Path) -> None:
        done.mkdir()
        for name, fill in (("spek_kunit", _fill_kunit), ("spek_rig", _fill_rig)):
            build = done.with_name(name)
            fill(build)
            _make(kernel, build, name)
            for module in build.glob("*.ko"):
                shutil.move(module, done)

    name = digest_of(ROOT, _sources(), identity_of(kernel))
    return cached(cache_dir("test-modules", kernel.release) / name, make, KEEP)


def _sources() -> Iterator[Path]:
    """Everything that a build reads."""
    yield ROOT / "Kbuild"
    yield SEQUENCES
    yield SEQUENCES.parent / "vectors" / "core_sequences.json"
    yield Path(__file__)
    for folder in (ROOT / "kmod", ROOT / "prober", KUNIT, RIG):
        for path in sorted(folder.rglob("*")):
            is_generated = path.name == "spek_have.h" or path.name.endswith(".mod.c")
            if (path.suffix in (".c", ".h") or path.name == "Kbuild") and not is_generated:
                yield path


def _fill_kunit(build: Path) -> None:
    for path in _sources():
        name = path.relative_to(ROOT)
        if path.suffix in (".c", ".h"):
            (build / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, build / name)
    shutil.copy2(ROOT / "Kbuild", build / "spek.Kbuild")
    shutil.copy2(KUNIT / "Kbuild", build / "Kbuild")
    (build / KUNIT.relative_to(ROOT) / "vectors.h").write_text(vectors())


def _fill_rig(build: Path) -> None:
    shutil.copytree(RIG, build)


def _make(kernel: Kernel, build: Path, name: str) -> None:
    done = subprocess.run(
        make_command(kernel, build),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        errors = [line for line in done.stdout.splitlines() if "error" in line.lower()]
        raise SpekError(f"{name} does not build: {(errors or done.stdout.splitlines()[-1:])[0]}")


# ---- golden sequences as C ----


def _recorded() -> Any:
    """The unit test that owns the recorded sequences, as a module."""
    spec = importlib.util.spec_from_file_location("recorded_sequences", SEQUENCES)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _words(data: bytes) -> str:
    """The 64-bit words of @data that are not zero, with their places."""
    data += bytes(-len(data) % WORD.size)
    pairs = ((at * WORD.size, value) for at, (value,) in enumerate(WORD.iter_unpack(data)))
    return "".join(f"\t{{ {at}, {value}ull }},\n" for at, value in pairs if value)


def fnv(data: bytes) -> int:
    """FNV-1a over 64-bit words."""
    total = FNV_START
    for (word,) in WORD.iter_unpack(data):
        total = (total ^ word) * FNV_PRIME % 2**64
    return total


def vectors() -> str:
    """vectors.h of the KUnit suite. Refuses if the core does not make what is recorded."""
    from lib.core import spekcore

    recorded = _recorded()
    golden = json.loads(recorded.VECTORS.read_text())
    ffi, _lib = spekcore.library()
    text = ["/* made from tests/unit/core/vectors by lib/build/debug_modules.py */\n"]
    for index, workload in enumerate(recorded.WORKLOADS.values()):
        words = _words(bytes(ffi.buffer(workload.c)))
        text.append(f"static const struct vector_word words_{index}[] = {{\n{words}}};\n")
    text.append("static const struct vector vectors[] = {\n")
    names = list(recorded.WORKLOADS)
    for name, worker, workers in recorded.PLACES:
        ops = spekcore.Generator(recorded.WORKLOADS[name], 42, worker, workers).ops(recorded.COUNT)
        data = ops.tobytes()
        label = f"{name} {worker}/{workers}"
        if hashlib.sha256(data).hexdigest() != golden[label]["sha256"]:
            raise SpekError(f"the core does not make the recorded sequence '{label}'")
        words = f"words_{names.index(name)}"
        numbers = f"{worker}, {workers}, {len(ops)}, {fnv(data)}ull"
        text.append(f'\t{{ "{label}", {words}, ARRAY_SIZE({words}), {numbers} }},\n')
    text.append("};\n")
    text.append(f"#define SPEK_KUNIT_OPS {recorded.COUNT}u\n")
    text.append(f"#define SPEK_KUNIT_WORKLOAD_BYTES {ffi.sizeof('struct spek_workload')}\n")
    return "".join(text)
