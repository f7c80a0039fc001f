# SPDX-License-Identifier: GPL-2.0
"""Names of other programs' jobs become names of a workload, each its own."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.fleet.keys import AUTHORITY
from spekctl.fleet.plan import check_name
from spekctl.workload.imported import host_names, word
from spekctl.workload.values import NAME_LEN_MAX

NAMES = st.lists(st.one_of(st.text(max_size=40), st.sampled_from(["a", "a.2", "a" * 40])))


@given(NAMES)
def test_names_are_allowed_and_differ(texts: list[str]) -> None:
    taken: set[str] = set()
    words = [word(text, taken) for text in texts]
    assert len(set(words)) == len(texts)
    assert taken == set(words)
    for name in words:
        assert re.fullmatch(rf"[A-Za-z0-9][A-Za-z0-9._-]{{0,{NAME_LEN_MAX - 1}}}", name)


@pytest.mark.parametrize(
    ("text", "name"),
    [("rand read", "rand-read"), ("__x", "x"), ("", "job"), ("…", "job"), ("é1", "1")],
)
def test_a_name_is_kept_as_far_as_it_can_be(text: str, name: str) -> None:
    assert word(text, set()) == name
    assert word(text, {name}) == f"{name}.2"


@given(
    st.lists(
        st.one_of(st.text(max_size=80), st.sampled_from(["controller", "authority", "a", "a_"])),
        unique=True,
    )
)
def test_names_of_hosts_are_allowed_and_differ(labels: list[str]) -> None:
    names = host_names(labels)
    assert list(names) == labels and len(set(names.values())) == len(labels)
    for name in names.values():
        check_name(name)
        assert name != AUTHORITY
