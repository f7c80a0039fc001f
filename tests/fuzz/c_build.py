# SPDX-License-Identifier: GPL-2.0
"""Compiles the fuzz targets for C (c/*.c) with the real sources, libFuzzer and sanitizers.

clang and its runtime are only needed here: nothing that is shipped is built with them.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from spekctl.vm.cache import cache_dir, cached, digest_of

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
TARGETS = HERE / "c"
SEEDS = HERE / "seeds"
CORE, LOAD, PROBER = ROOT / "kmod/core", ROOT / "kmod/load/core", ROOT / "prober/core"
SCSI = ROOT / "kmod/drive/scsi"
DAQ = ROOT / "daq"
DAQ_SOURCES = (
    "calibrate", "clock", "config/rails", "error", "file", "meter", "modbus/map", "number",
    "pace",
    "powersensor3/arrival", "powersensor3/average", "powersensor3/config", "powersensor3/stream",
    "push", "quarch/text",
    "sources/csv", "sources/energy_counter", "sources/hwmon", "sources/identity",
    "sources/iio_scale", "sources/lines", "sources/outage", "sources/polled", "sources/powercap",
    "sources/settings", "sources/sysfs", "sources/waveform", "stop", "u6/calibration",
    "u6/packet", "u6/stream",
)  # fmt: skip
SANITIZE = (
    "-g", "-O1", "-fno-omit-frame-pointer", "-fsanitize=fuzzer-no-link,address,undefined",
    "-fno-sanitize-recover=all", "-fno-sanitize=vptr",
)  # fmt: skip
# A file that gets further options: the time is the fuzz target's own (c/daq_sysfs.c).
OPTIONS = {DAQ / "pace.c": ("-Dclock_gettime=fuzz_clock_gettime",)}
WARNINGS = ("-Wall", "-Wextra", "-Wno-unused-parameter", "-Werror", "-D_GNU_SOURCE")


def _includes() -> list[str]:
    flags = subprocess.run(
        ["pkg-config", "--cflags", "libnl-genl-3.0"], capture_output=True, text=True, check=True
    ).stdout.split()
    folders = (TARGETS, CORE, LOAD, SCSI, PROBER, DAQ, ROOT / "prober")
    return [*(f"-I{folder}" for folder in folders), *flags]


def sources() -> list[Path]:
    """Everything that goes into the program."""
    files = [
        path
        for folder in (TARGETS, CORE, LOAD, SCSI, PROBER)
        for path in sorted(folder.glob("*.c"))
    ]
    return [*files, *(DAQ / f"{name}.c" for name in DAQ_SOURCES), DAQ / "config/rails_toml.cc"]


def _inputs() -> list[Path]:
    headers = [
        path for folder in (TARGETS, CORE, LOAD, SCSI, PROBER) for path in folder.glob("*.h")
    ]
    headers += [
        *DAQ.rglob("*.h"),
        ROOT / "prober/uapi/spek_prober.h",
        ROOT / "kmod/load/uapi/spek_enums.h",
    ]
    return [*sources(), *sorted(headers)]


def compiler() -> str:
    """clang, by the name that $FUZZ_CC has or the usual one."""
    return os.environ.get("FUZZ_CC", "clang")


def available() -> bool:
    """Whether this machine can build the targets."""
    if not shutil.which(compiler()):
        return False
    runtime = subprocess.run(
        [compiler(), "-print-runtime-dir"], capture_output=True, text=True, check=False
    ).stdout.strip()
    return any(Path(runtime).glob("libclang_rt.fuzzer*"))


def program() -> Path:
    """The program; built when a source has changed."""
    options = repr((SANITIZE, WARNINGS, sorted(OPTIONS.values()), compiler()))
    return cached(cache_dir("fuzz") / f"fuzz-c-{digest_of(ROOT, _inputs(), options)}", _build)


def _build(program: Path) -> None:
    includes = _includes()

    def compile_one(path: Path) -> str:
        object_file = str(
            program.with_name(f"{str(path.relative_to(ROOT)).replace(os.sep, '-')}.o")
        )
        is_cpp = path.suffix == ".cc"
        language = ["-std=c++17", "-x", "c++"] if is_cpp else ["-std=gnu11"]
        options = [*WARNINGS, *includes, *OPTIONS.get(path, ())]
        command = [compiler(), *language, *SANITIZE, *options]
        subprocess.run([*command, "-c", "-o", object_file, str(path)], check=True)
        return object_file

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compile_one, sources()))
    libraries = ["-lnl-genl-3", "-lnl-3", "-ltomlplusplus", "-lstdc++", "-lpthread", "-lm"]
    command = [compiler(), "-fsanitize=fuzzer,address,undefined", "-o", str(program), *objects]
    subprocess.run([*command, *libraries], check=True)
