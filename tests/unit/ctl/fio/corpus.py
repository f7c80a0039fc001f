# SPDX-License-Identifier: GPL-2.0
"""Job files of fio as people write them: made from a seed, with options as frequent as counted.

SHARES are per cent of the 222 block jobs of 27 public repositories (kernel CI, benchmark suites,
storage projects); an option that depends on another one is drawn where the other one is present.
"""

from __future__ import annotations

import random
from pathlib import Path

FILES = 200
SEED = 24
# Set for jobs with ${...}.
VARIABLES = {"DEVICE": "/dev/nvme0n1", "BLOCK": "16k", "DEPTH": "32"}

# Option -> (per cent of the jobs that have it, values; None: without a value).
SHARES: dict[str, tuple[float, tuple[str | None, ...]]] = {
    "iodepth": (82, ("1", "4", "16", "32", "64", "128", "256", "${DEPTH}")),
    "filename": (71, ("/dev/sdb", "/dev/nvme0n1", "${DEVICE}", "/dev/sdb:/dev/sdc")),
    "runtime": (68, ("10", "30s", "60", "300", "5m", "1h", "(2*30)")),
    "size": (60, ("1g", "256m", "10G", "100%", "50%", "4GiB", "(2*1g)", "64k")),
    "numjobs": (45, ("1", "2", "4", "8", "16")),
    "ramp_time": (43, ("5", "10s", "30", "500ms")),
    "verify": (21, ("crc32c", "md5", "sha1", "meta", "pattern", "0", "xxhash")),
    "startdelay": (20, ("5", "2s")),
    "log_avg_msec": (13, ("500", "1000")),
    "do_verify": (12, ("0", "1")),
    "clat_percentiles": (12, ("0", "1")),
    "randrepeat": (11, ("0", "1")),
    "stonewall": (10, (None,)),
    "verify_fatal": (9, ("1",)),
    "norandommap": (9, (None, "1", "0")),
    "write_iops_log": (8, ("log",)),
    "write_lat_log": (8, ("log",)),
    "write_bw_log": (8, ("log",)),
    "write_hist_log": (7, ("log",)),
    "log_hist_msec": (7, ("1000",)),
    "filesize": (7, ("1g", "16g")),
    "percentile_list": (5, ("50:90:99:99.9", "99.99")),
    "new_group": (4, (None,)),
    "io_size": (3, ("1g", "64m")),
    "offset": (3, ("0", "1g", "10%", "(1+2)*4k")),
    "offset_increment": (2, ("1g", "128m")),
    "zonemode": (1.5, ("none", "zbd", "strided")),
    "loops": (1, ("3",)),
    "iodepth_batch": (1, ("8",)),
    "rate_iops": (1, ("500", "5k", "1000,200")),
    "rate": (1, ("10m", "64MiB")),
    "latency_target": (0.5, ("10ms",)),
    "thinktime": (0.5, ("500", "2ms")),
    "fsync": (1, ("1", "32")),
    "wait_for": (0.5, ("a",)),
    "direct": (79, ("1",)),
    "time_based": (45, (None, "1")),
    "group_reporting": (28, (None, "1")),
    "thread": (25, (None, "1")),
    "invalidate": (12, ("1",)),
    "exitall": (5, (None,)),
    "kb_base": (2, ("1000", "1024")),
    "unit_base": (1, ("8",)),
    "buffer_compress_percentage": (0.5, ("50",)),
    "refill_buffers": (6, (None, "1")),
    "cpus_allowed": (3, ("0-3", "1")),
    "max_latency": (0.3, ("1s",)),
    "nrfiles": (2, ("1",)),
    "gtod_reduce": (3, ("1",)),
    "end_fsync": (4, ("1", "0")),
    "fallocate": (2, ("none",)),
    "disable_clat": (2, ("1",)),
    "randseed": (2, ("4321",)),
    "hipri": (1, (None,)),
    "number_ios": (1, ("10000",)),
    "verify_backlog": (2, ("1024",)),
    "verify_dump": (2, ("1",)),
    "percentage_random": (1, ("50", "100")),
    "busy_poll": (1, ("0",)),
}
KINDS = ("randread", "randwrite", "randrw", "read", "write", "rw", "readwrite", "read:64k")
WEIGHTS = (26, 22, 8, 22, 16, 3, 1, 1)
ENGINES = ("libaio", "io_uring", "psync", "sync", "posixaio", "pvsync2")
ENGINE_WEIGHTS = (66, 14, 6, 6, 6, 2)
BLOCKS = ("4k", "4k", "8k", "64k", "128k", "1m", "4096", "512", "${BLOCK}")
LAWS = ("zipf:1.2", "zipf", "pareto:0.3", "normal:20", "zoned:60/10:30/20:10/70", "random")


def write(folder: Path) -> list[Path]:
    """All files; those that others include are in a folder of their own."""
    source = random.Random(SEED)
    common = folder / "common"
    common.mkdir(parents=True)
    (common / "defaults.fio").write_text("ioengine=libaio\ndirect=1\n")
    paths = []
    for number in range(FILES):
        path = folder / f"job{number:03}.fio"
        path.write_text(_file(source))
        paths.append(path)
    return paths


def _file(source: random.Random) -> str:
    lines = ["; made for tests", ""]
    lines.append("[global]")
    if source.random() < 0.03:
        lines.append("include common/defaults.fio")
    shared, *others = [_options(source) for _ in range(source.choice((1, 1, 1, 1, 2, 3)))]
    waits = _taken(shared, "stonewall", "wait_for", "new_group")
    lines += _lines(shared)
    if source.random() < 0.05:
        lines += ["# once more", "[global]", "group_reporting"]
    lines += ["", "[a]", *(_lines(waits) if "wait_for" not in waits else [])]
    for name, own in zip("bc", others, strict=False):
        # What differs from job to job; the rest is in [global].
        kept = _taken(own, "rw", "bs", "iodepth", "wait_for")
        if source.random() < 0.6:
            kept["stonewall"] = None
        lines += ["", f"[{name}]", *_lines(kept)]
    return "\n".join(lines) + "\n"


def _taken(options: dict[str, str | None], *names: str) -> dict[str, str | None]:
    """Options with these names, taken out."""
    return {name: options.pop(name) for name in names if name in options}


def _options(source: random.Random) -> dict[str, str | None]:
    drawn: dict[str, str | None] = {}
    kind = source.choices(KINDS, WEIGHTS)[0]
    if source.random() < 0.92:
        drawn["rw"] = kind
    mix = source.random()
    if mix < 0.88:
        drawn["bs"] = source.choice(
            ("4k", "4k", "8k", "64k", "128k", "1m", "4096", "512", "${BLOCK}")
        )
    elif mix < 0.92:
        drawn["bsrange"] = source.choice(("4k-64k", "512-16k"))
    elif mix < 0.94:
        drawn["bssplit"] = source.choice(("4k/60:64k/40", "4k/10:8k/:16k/", "8k/100"))
    elif mix < 0.95:
        drawn["bs"] = "((1+2)*4k)"
    if source.random() < 0.75:
        drawn["ioengine"] = source.choices(ENGINES, ENGINE_WEIGHTS)[0]
    if kind in ("randrw", "rw", "readwrite") and source.random() < 0.6:
        drawn[source.choice(("rwmixread", "rwmixwrite"))] = source.choice(("70", "30", "50"))
    for name, (share, values) in SHARES.items():
        if source.random() * 100 < share:
            drawn[name] = source.choice(values)
    if kind.startswith("rand") and "bsrange" not in drawn and source.random() < 0.06:
        drawn["random_distribution"] = source.choice(LAWS)
    for name, needed in (
        ("time_based", "runtime"),
        ("offset_increment", "numjobs"),
        ("do_verify", "verify"),
        ("verify_fatal", "verify"),
    ):
        if needed not in drawn:
            drawn.pop(name, None)
    for name, excluded in (("rate", "rate_iops"), ("thinktime", "iodepth"), ("thinktime", "rate")):
        if excluded in drawn:
            drawn.pop(name, None)
    if drawn.get("ioengine") not in ("io_uring", "pvsync2"):
        drawn.pop("hipri", None)
    if "filesize" in drawn or "offset_increment" in drawn:
        drawn.pop("offset", None)
    return drawn


def _lines(options: dict[str, str | None]) -> list[str]:
    return [name if value is None else f"{name}={value}" for name, value in options.items()]
