# SPDX-License-Identifier: GPL-2.0-or-later
"""The published JSON Schemas, from the structs that they describe.

python -m spekctl.documents.schemas [--check]: write them, or say which are out of date.
"""

from __future__ import annotations

import importlib
import json
import pkgutil
import sys
from pathlib import Path
from typing import Any

import click

from spekctl import documents
from spekctl.drive import file as drive_file
from spekctl.workload import file, model


def texts() -> dict[Path, str]:
    """Path of each schema file -> what belongs into it."""
    schemas: dict[Path, dict[str, Any]] = {
        file.shipped_directory() / "schema.json": model.json_schema(),
        drive_file.SCHEMA_FILE: drive_file.json_schema(),
    }
    for entry in pkgutil.iter_modules(documents.__path__):
        module = importlib.import_module(f"{documents.__name__}.{entry.name}")
        if hasattr(module, "SCHEMA_FILE"):
            schemas[module.SCHEMA_FILE] = module.json_schema()
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
