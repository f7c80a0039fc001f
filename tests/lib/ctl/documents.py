# SPDX-License-Identifier: GPL-2.0
"""Files that spekctl writes, read again, and damaged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, TypeVar

import jsonschema
import pytest
from lib.ctl.schemas import validator

from spekctl import files
from spekctl.documents import document
from spekctl.documents.document import Document
from spekctl.errors import UsageError

D = TypeVar("D", bound=Document)


def read_back(path: Path, model: type[D], schema: Path) -> D:
    """The document in @path: it follows @schema, and nothing is lost when it is written again."""
    fields = json.loads(path.read_bytes())
    validator(schema).validate(fields)
    contents = document.read(path, model)
    assert json.loads(files.encode(contents)) == fields
    return contents


def put(fields: dict[str, Any], place: str, value: object) -> None:
    """Set a field, as ``composite.iops.text`` or ``levels.0.watts``; it has to be there."""
    *outer, last = place.split(".")
    node: Any = fields
    for key in outer:
        node = node[int(key) if isinstance(node, list) else key]
    assert last in node, place
    node[last] = value


def refuse(path: Path, model: type[Document], schema: Path, place: str, value: object) -> None:
    """With a field of another value, neither the schema nor the reader takes the document."""
    fields = json.loads(path.read_bytes())
    put(fields, place, value)
    path.write_text(json.dumps(fields))
    with pytest.raises(jsonschema.ValidationError):
        validator(schema).validate(fields)
    with pytest.raises(UsageError, match=rf"{path.name} is damaged: .*"):
        document.read(path, model)
