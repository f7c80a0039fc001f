# SPDX-License-Identifier: GPL-2.0
"""The published schemas are valid, and those of the structs."""

from __future__ import annotations

import json

import jsonschema

from spekctl.documents import schemas


def test_schemas_are_those_of_the_structs() -> None:
    assert not schemas.out_of_date(), "run make gen"


def test_schemas_are_valid() -> None:
    texts = schemas.texts()
    assert len(texts) >= 6
    for text in texts.values():
        jsonschema.Draft202012Validator.check_schema(json.loads(text))
