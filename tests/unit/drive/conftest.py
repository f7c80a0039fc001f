"""The core of the modelled drive, compiled once."""

from __future__ import annotations

from typing import Any

import pytest
from lib.core.drivecore import library


@pytest.fixture(scope="session")
def core() -> tuple[Any, Any]:
    return library()
