# SPDX-License-Identifier: GPL-2.0-or-later
"""The published JSON Schemas, from the structs that they describe.

python -m spekctl.documents.schemas [--check]: write them, or say which are out of date.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from spekctl.documents import (
    curve,
    drive,
    energy,
    pts,
    result,
    spc1,
    spc2,
    trace,
    verdict,
    verify,
)
from spekctl.drive import file as drive_file
from spekctl.workload import file, model


def texts() -> dict[Path, str]:
    """Path of each schema file -> what belongs into it."""
    schemas = {
        file.shipped_directory() / "schema.json": model.json_schema(),
        result.SCHEMA_FILE: result.json_schema(),
        curve.SCHEMA_FILE: curve.json_schema(),
        spc1.SCHEMA_FILE: spc1.json_schema(),
        spc2.SCHEMA_FILE: spc2.json_schema(),
        pts.SCHEMA_FILE: pts.json_schema(),
        verify.SCHEMA_FILE: verify.json_schema(),
        energy.SCHEMA_FILE: energy.json_schema(),
        drive.SCHEMA_FILE: drive.json_schema(),
        verdict.SCHEMA_FILE: verdict.json_schema(),
        trace.SCHEMA_FILE: trace.json_schema(),
        drive_file.SCHEMA_FILE: drive_file.json_schema(),
    }
    return {path: json.dumps(schema, indent=2) + "\n" for path, schema in schemas.items()}


def out_of_date() -> list[Path]:
    """Schema files that are not those of the structs."""
    return [
        path
        for path, text in texts().items()
        if not path.exists() or path.read_text(encoding="utf-8") != text
    ]


@click.command()
@click.option("--check", is_flag=True, help="Only say which files are out of date.")
def main(check: bool) -> None:
    """Write the schemas that are out of date."""
    stale = out_of_date()
    for path in stale:
        if check:
            click.echo(f"{path} is out of date; run make gen", err=True)
        else:
            path.write_text(texts()[path], encoding="utf-8")
    sys.exit(bool(check and stale))


if __name__ == "__main__":
    main()
