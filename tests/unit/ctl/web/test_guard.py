# SPDX-License-Identifier: GPL-2.0
"""Which names and origins belong to a server, and which tokens open it."""

from __future__ import annotations

import pytest

from spekctl.web.guard import Guard


@pytest.mark.parametrize(
    ("host", "known"),
    [
        ("127.0.0.1:8080", True),
        ("LOCALHOST:8080", True),
        ("10.1.2.3:8080", True),
        ("[fe80::1]:8080", True),
        ("[::1]:8080", True),
        ("localhost", False),
        ("localhost:80", False),
        ("localhost.evil.example:8080", False),
        ("127.0.0.1.evil.example:8080", False),
        ("evil.example:8080", False),
        ("::1:8080", False),
        ("[::1]", False),
        ("[::1]x:8080", False),
        ("127.0.0.1:8080:8080", False),
        ("127.0.0.1:٨٠٨٠", False),
        ("2130706433:8080", False),
        ("", False),
        (":8080", False),
    ],
)
def test_a_name_that_others_can_let_point_here_is_not_ours(host: str, known: bool) -> None:
    assert Guard("127.0.0.1", 8080).is_our_name(host) is known


def test_port_80_need_not_be_named() -> None:
    guard = Guard("127.0.0.1", 80)
    assert guard.is_our_name("127.0.0.1") and guard.is_our_name("[::1]")


def test_origins() -> None:
    guard = Guard("127.0.0.1", 8080)
    host = {"Host": "127.0.0.1:8080"}
    assert guard.is_from_us(host)  # no browser
    assert guard.is_from_us({**host, "Origin": "http://127.0.0.1:8080"})
    assert guard.is_from_us({**host, "Sec-Fetch-Site": "none"})
    for origin in ("http://127.0.0.1:80", "http://localhost:8080", "null", "", "file://"):
        assert not guard.is_from_us({**host, "Origin": origin})


def test_tokens() -> None:
    guard = Guard("127.0.0.1", 8080, "secret")
    assert guard.admits({"Authorization": "bearer secret"})
    for headers in (
        {},
        {"Authorization": "secret"},
        {"Authorization": "Bearer secre"},
        {"Authorization": "Bearer sécret"},
        {"Authorization": "Bearer wrong", "Cookie": "spek-8080=secret"},
        {"Cookie": "spek-8080=secret"},
        {"Cookie": "secret"},
    ):
        assert not guard.admits(headers)


def test_the_key_of_a_link_opens_its_documents_only() -> None:
    guard = Guard("127.0.0.1", 8080, "secret")
    key = guard.key("/report", ["a", "b"])
    assert guard.opens(key, "/report", ["a", "b"])
    for place, files in (
        ("/api/result", ["a", "b"]),
        ("/report", ["a"]),
        ("/report", ["b", "a"]),
        ("/report", ["a", "b", "c"]),
        ("/report", ["ab"]),
        ("/report", []),
    ):
        assert not guard.opens(key, place, files)
    assert not Guard("127.0.0.1", 8080, "another").opens(key, "/report", ["a", "b"])
    for wrong in ("", "secret", key[:-1], f"{key}0", "é"):
        assert not guard.opens(wrong, "/report", ["a", "b"])
