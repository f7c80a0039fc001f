# SPDX-License-Identifier: GPL-2.0-or-later
"""Selects the parts of the page for one kind of server.

Lines between `<!-- begin KIND -->` and `<!-- end KIND -->` are of that kind alone.
"""

from __future__ import annotations

import re

_PART = re.compile(r"^<!-- begin (\w+) -->\n(.*?)^<!-- end \1 -->\n", re.MULTILINE | re.DOTALL)


def of(text: str, kind: str) -> str:
    """The page of this kind."""
    return _PART.sub(lambda part: part[2] if part[1] == kind else "", text)
