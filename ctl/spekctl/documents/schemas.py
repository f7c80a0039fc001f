# SPDX-License-Identifier: GPL-2.0
"""python -m spekctl.schemas: write the published JSON Schemas from the structs they describe."""

from __future__ import annotations

import json
from pathlib import Path

from spekctl.documents import curve, energy, result, spc1, verify
from spekctl.workload import file, model


def texts() -> dict[Path, str]:
    """Path of each schema file -> what belongs into it."""
    schemas = {
        file.shipped_directory() / "schema.json": model.json_schema(),
        result.SCHEMA_FILE: result.json_schema(),
        curve.SCHEMA_FILE: curve.json_schema(),
        spc1.SCHEMA_FILE: spc1.json_schema(),
        verify.SCHEMA_FILE: verify.json_schema(),
        energy.SCHEMA_FILE: energy.json_schema(),
    }
    return {path: json.dumps(schema, indent=2) + "\n" for path, schema in schemas.items()}


if __name__ == "__main__":
    for _path, _text in texts().items():
        _path.write_text(_text, encoding="utf-8")
