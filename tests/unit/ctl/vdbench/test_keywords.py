# SPDX-License-Identifier: GPL-2.0
"""Long names of parameters."""

from __future__ import annotations

import pytest

from spekctl.vdbench import keywords


@pytest.mark.parametrize(
    ("kind", "name", "full"),
    [
        ("sd", "th", "threads"),
        ("sd", "THREAD", "threads"),
        ("sd", "openflag", "openflags"),
        ("sd", "in", "instance"),
        ("sd", "hd", "host"),
        ("sd", "re", "replay"),
        ("wd", "re", "rdpct"),
        ("wd", "readpct", "rdpct"),
        ("wd", "writepct", "wrpct"),
        ("wd", "st", "stride"),
        ("wd", "stre", "streams"),
        ("wd", "io", "iorate"),
        ("wd", "se", "seekpct"),
        ("rd", "in", "interval"),
        ("rd", "io", "iorate"),
        ("rd", "el", "elapsed"),
        ("rd", "elapse", "elapsed"),
        ("rd", "forx", "xfersize"),
        ("rd", "forthreads", "threads"),
        ("rd", "xf", "xfersize"),
        ("rd", "forcomp", "compratio"),
        ("rd", "compression", "compression"),
        ("rd", "dist", "distribution"),
        ("rd", "maxdataread", "maxdataread"),
        ("", "data_error", "data_errors"),
        ("", "compression", "compression"),
        ("hd", "vdb", "vdbench"),
        ("sd", "t", "t"),
        ("rd", "readpct", "readpct"),
        ("wd", "threadz", "threadz"),
        ("rd", "wd", "wd"),
        ("wd", "user", "user"),
    ],
)
def test_a_name_means_the_first_that_begins_with_it(kind: str, name: str, full: str) -> None:
    assert keywords.full_name(kind, name) == full


def test_each_parameter_has_one_outcome() -> None:
    for kind, mapped in keywords.MAPPED.items():
        for key in mapped:
            assert keywords.full_name(kind, key) == key
            assert key not in keywords.DIFFERENT
            # Those of a WD are mapped.
            assert key not in keywords.REFUSED or (kind, key) == ("wd", "streams")


@pytest.mark.parametrize(
    ("key", "values", "off"),
    [
        ("journal", ["NO"], True),
        ("journal", ["/tmp"], False),
        ("resetlun", ["0"], True),
        ("resetlun", ["5"], False),
        ("streams", ["1"], True),
        ("streams", ["4"], False),
        ("streams", ["0", "1"], False),
        ("format", ["no"], True),
        ("dedupflipflop", ["off"], True),
        ("rdpct", ["0"], False),
    ],
)
def test_a_parameter_may_be_given_and_off(key: str, values: list[str], off: bool) -> None:
    assert keywords.is_off(key, values) is off
