# SPDX-License-Identifier: GPL-2.0
"""python -m spekctl.schemas: write the published JSON Schemas from the structs they describe."""

from __future__ import annotations

import json
from pathlib import Path

from spekctl import curve, method, model, result, verify_check, workload
from spekctl.energy import report as energy


def texts() -> dict[Path, str]:
    """Path of each schema file -> what belongs into it."""
    schemas = {
        workload.shipped_directory() / "schema.json": model.json_schema(),
        result.SCHEMA_FILE: result.json_schema(),
        curve.SCHEMA_FILE: curve.json_schema(),
        method.SCHEMA_FILE: method.json_schema(),
        verify_check.SCHEMA_FILE: verify_check.json_schema(),
        energy.SCHEMA_FILE: energy.json_schema(),
    }
    return {path: json.dumps(schema, indent=2) + "\n" for path, schema in schemas.items()}


if __name__ == "__main__":
    for _path, _text in texts().items():
        _path.write_text(_text, encoding="utf-8")
