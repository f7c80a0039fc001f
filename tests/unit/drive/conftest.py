"""The core of the modelled drive, compiled once."""

from __future__ import annotations

from typing import Any

import pytest
from lib.core.drivecore import library


@pytest.fixture(scope="session")
def core(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, Any]:
    return library(tmp_path_factory.mktemp("drive"))
