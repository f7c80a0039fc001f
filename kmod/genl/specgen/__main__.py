# SPDX-License-Identifier: GPL-2.0
"""Generate everything that follows from the netlink specs.

From each YAML spec (the kernel's genetlink dialect) come the uapi header, the
kernel's policies, ops table and family, Python enums, records and pyroute2 classes, and
a table of attributes. The ops are emitted as `struct genl_ops` with a policy for
each operation, because Linux 6.1 has no `struct genl_split_ops`. The list of tested
kernel series is copied to Python as well.

    python3 -m specgen            write all files
    python3 -m specgen --check    write nothing, fail if a file differs from its spec
"""

from __future__ import annotations

import argparse
import difflib
import sys
from collections.abc import Iterator
from pathlib import Path

from specgen.kernel import kernel_header, kernel_source
from specgen.python import python_module
from specgen.python_requests import requests_module
from specgen.records import records_module
from specgen.request import request_header, request_source, struct_header
from specgen.series import OUTPUT, series_module
from specgen.spec import Outputs, SpecError, load
from specgen.table import markdown
from specgen.uapi import enum_header, uapi_header

ROOT = Path(__file__).resolve().parents[3]

FAMILIES = (
    Outputs(
        spec="kmod/load/uapi/spek.yaml",
        uapi="kmod/load/uapi/spek.h",
        enums="kmod/load/uapi/spek_enums.h",
        kernel="kmod/load/gen/netlink_gen",
        python="ctl/spekctl/kernel/gen/spek.py",
        records="ctl/spekctl/kernel/gen/spek_records.py",
        structs="kmod/load/core/workload_gen.h",
        include_structs="../core/workload.h",
        requests="kmod/load/gen/request_gen",
        python_requests="ctl/spekctl/contract/requests.py",
        table="kmod/load/uapi/spek.md",
        include_uapi="../uapi/spek.h",
        include_compat="../../compat/compat.h",
        parallel=True,
    ),
    Outputs(
        spec="prober/uapi/spek_prober.yaml",
        uapi="prober/uapi/spek_prober.h",
        kernel="prober/gen/netlink_gen",
        python="ctl/spekctl/kernel/gen/spek_prober.py",
        records="ctl/spekctl/kernel/gen/spek_prober_records.py",
        structs="prober/gen/structs_gen.h",
        include_structs="../feed.h",
        requests="prober/gen/request_gen",
        include_request="../../kmod/genl/request.h",
        python_requests="ctl/spekctl/contract/prober_requests.py",
        table="prober/uapi/spek_prober.md",
        include_uapi="../uapi/spek_prober.h",
        include_compat="../../kmod/compat/compat.h",
        parallel=True,
    ),
    Outputs(
        spec="kmod/drive/uapi/spek_drive.yaml",
        uapi="kmod/drive/uapi/spek_drive.h",
        kernel="kmod/drive/gen/netlink_gen",
        python="ctl/spekctl/kernel/gen/spek_drive.py",
        records="ctl/spekctl/kernel/gen/spek_drive_records.py",
        structs="kmod/drive/core/description_gen.h",
        include_structs="../core/drive.h",
        requests="kmod/drive/gen/request_gen",
        python_requests="ctl/spekctl/contract/drive_requests.py",
        table="kmod/drive/uapi/spek_drive.md",
        include_uapi="../uapi/spek_drive.h",
        include_compat="../../compat/compat.h",
        parallel=True,
    ),
)


def generate(root: Path, outputs: Outputs) -> dict[str, str]:
    """Return the text of every file that follows from one spec, by path."""
    spec = load(root / outputs.spec, outputs.spec)
    enums = {outputs.enums: enum_header(spec)} if outputs.enums else {}
    records = {outputs.records: records_module(spec)} if outputs.records else {}
    structs = {outputs.structs: struct_header(spec, outputs)} if outputs.structs else {}
    python = {outputs.python_requests: requests_module(spec)} if outputs.python_requests else {}
    tables = (
        {
            outputs.requests + ".h": request_header(spec, outputs),
            outputs.requests + ".c": request_source(spec, outputs),
        }
        if outputs.requests
        else {}
    )
    return (
        enums
        | records
        | structs
        | tables
        | python
        | {
            outputs.uapi: uapi_header(spec, outputs),
            outputs.kernel + ".h": kernel_header(spec, outputs),
            outputs.kernel + ".c": kernel_source(spec, outputs),
            outputs.python: python_module(spec, outputs),
            outputs.table: markdown(spec),
        }
    )


def everything(root: Path) -> Iterator[tuple[str, str]]:
    """Path and text of every file."""
    for outputs in FAMILIES:
        try:
            yield from generate(root, outputs).items()
        except (SpecError, OSError) as error:
            raise SpecError(f"{outputs.spec}: {error}") from error
    yield OUTPUT, series_module(root)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="fail if a file is out of date")
    parser.add_argument("--root", type=Path, default=ROOT, help="root of the tree")
    args = parser.parse_args(argv)
    stale = 0
    try:
        files = dict(everything(args.root))
    except (SpecError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    for name, text in files.items():
        # a file is written only if it changes: nothing is rebuilt for nothing
        path = args.root / name
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if old == text:
            continue
        if args.check:
            stale += 1
            diff = difflib.unified_diff(
                old.splitlines(True), text.splitlines(True), name, f"{name} (generated now)"
            )
            sys.stdout.writelines(diff)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    if stale:
        print(f"{stale} generated files are out of date; run `make gen`", file=sys.stderr)
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
