# SPDX-License-Identifier: GPL-2.0
"""Files against their schemas."""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import jsonschema


@functools.cache
def validator(path: Path) -> Any:
    """Of the schema in a file; that it is one is checked once, which takes as long as a report."""
    schema = json.loads(path.read_text())
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema)
