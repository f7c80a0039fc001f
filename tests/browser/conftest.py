# SPDX-License-Identifier: GPL-2.0
"""One browser for all tests of a file."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from lib.browser import structure
from lib.browser.chromium import Browser, started


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        structure.OPTION, action="store_true", help="write the outlines of pages that are kept"
    )


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with started(tmp_path_factory.mktemp("profile")) as running:
        yield running
