# SPDX-License-Identifier: GPL-2.0
"""The side of spekctl vm that runs in the guest."""

from __future__ import annotations

from pathlib import Path

from spekctl.vm import guest_side


def test_shares_below_tmp_are_found(tmp_path: Path) -> None:
    table = tmp_path / "mounts"
    table.write_text(
        "root / 9p ro 0 0\n"
        "one /tmp/x 9p rw 0 0\n"
        "inner /tmp/x/out 9p rw 0 0\n"
        "other /tmp/a\\040b/c\303\244 9p rw 0 0\n"
        "not /tmpfs 9p rw 0 0\n",
        encoding="latin-1",
    )
    assert guest_side.mounts_below(Path("/tmp"), table) == [Path("/tmp/x"), Path("/tmp/a b/cä")]
