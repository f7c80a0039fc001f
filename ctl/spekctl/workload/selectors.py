# SPDX-License-Identifier: GPL-2.0-or-later
"""How plans and workload files name a device of whatever host: by WWN, serial, or NQN."""

from __future__ import annotations

import re

from spekctl.errors import UsageError

# What a device of a host may be named by.
KINDS = ("wwn", "serial", "nqn")
# Those of other kinds have text of a vendor.
_WWN = re.compile(r"(naa\.|eui\.|0x)[0-9a-fA-F]+|(?!naa\.|eui\.|0x).+", re.ASCII)


def check(selector: str) -> None:
    """UsageError for what can name no device of any host."""
    if selector.startswith("/"):
        return
    kind, colon, value = selector.partition(":")
    if not colon or kind not in KINDS or not value.strip():
        raise UsageError(
            f"'{selector}' names no device; write"
            f" {', '.join(f'{kind}:...' for kind in KINDS)} or a path below /dev"
        )
    if kind == "wwn" and not _WWN.fullmatch(value):
        raise UsageError(
            f"'{selector}' is not a WWN: naa., eui. and 0x are followed by hexadecimal digits;"
            " `spekctl devices` lists the WWNs of a host"
        )
