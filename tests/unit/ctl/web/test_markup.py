# SPDX-License-Identifier: GPL-2.0
"""The page of each kind of server has its own parts, and all that are common."""

from __future__ import annotations

from importlib import resources

import pytest

from spekctl.web import markup

TEXT = (
    "a\n<!-- begin host -->\nb\n<!-- end host -->\nc\n<!-- begin fleet -->\nd\n<!-- end fleet -->\n"
)


@pytest.mark.parametrize(("kind", "page"), [("host", "a\nb\nc\n"), ("fleet", "a\nc\nd\n")])
def test_a_page_has_the_parts_of_its_kind(kind: str, page: str) -> None:
    assert markup.of(TEXT, kind) == page


@pytest.mark.parametrize(
    ("kind", "own", "foreign"), [("host", "look", "claim"), ("fleet", "claim", "look")]
)
def test_the_page_itself_is_made_so(kind: str, own: str, foreign: str) -> None:
    page = markup.of(resources.files("spekctl.web").joinpath("page.html").read_text(), kind)
    assert f'id="{own}"' in page and f'id="{foreign}"' not in page
    assert "<!-- begin" not in page and "<!-- end" not in page
    assert page.count("<fieldset>") == page.count("</fieldset>") == 5
    assert ("fleet.js" in page) == (kind == "fleet")
