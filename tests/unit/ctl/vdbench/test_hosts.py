# SPDX-License-Identifier: GPL-2.0
"""Hosts of a file, and what each of them does in a run."""

from __future__ import annotations

from fractions import Fraction

import pytest

from spekctl.errors import UsageError
from spekctl.vdbench import hosts
from spekctl.vdbench.hosts import Place
from spekctl.vdbench.parmfile import Definition


def hd(name: str, **given: str) -> Definition:
    return Definition("hd", name, {key: [value] for key, value in given.items()})


def sd(name: str, luns: list[str], owners: list[list[str]]) -> Definition:
    given = {"lun": luns}
    if owners:
        given["host"] = [host for part in owners for host in part]
    return Definition("sd", name, given, owners)


@pytest.mark.parametrize(
    ("host", "local"),
    [
        (hd("localhost"), True),
        (hd("here", system="127.0.0.1"), True),
        (hd("far"), False),
        (hd("localhost", system="10.0.0.1"), False),
    ],
)
def test_a_host_is_local_by_its_address(host: Definition, local: bool) -> None:
    assert hosts.is_local(host) is local


def test_definitions_with_a_host_in_them_are_repeated() -> None:
    device = Definition("sd", "sd_$host", {"lun": ["/dev/d#host"]}, [["!host"]])
    definitions = [hd("a"), hd("b"), hd("default"), device, Definition("wd", "w", {"sd": ["sd*"]})]
    _, _, _, first, second, load = hosts.repeated(definitions)
    assert first == Definition("sd", "sd_a", {"lun": ["/dev/d0"]}, [["a"]])
    assert second == Definition("sd", "sd_b", {"lun": ["/dev/d1"]}, [["b"]])
    assert load.name == "w"
    (alone,) = hosts.repeated([Definition("sd", "$host-#hosts", {"lun": ["/dev/x"]})])
    assert alone.name == "localhost-1"


def test_repeated_definitions_have_names_of_their_own() -> None:
    device = Definition("sd", "s", {"lun": ["/dev/$host"]})
    with pytest.raises(UsageError, match="there are two definitions sd=s"):
        hosts.repeated([hd("a"), hd("b"), device])


@pytest.mark.parametrize(
    ("device", "luns"),
    [
        (sd("s", ["/dev/x"], []), {"a1": "/dev/x", "a2": "/dev/x", "b": "/dev/x"}),
        (sd("s", ["/dev/x"], [["a*"]]), {"a1": "/dev/x", "a2": "/dev/x"}),
        (sd("s", ["/dev/x", "/dev/y"], [["b"], ["a2"]]), {"b": "/dev/x", "a2": "/dev/y"}),
    ],
)
def test_a_device_has_a_path_on_each_host(device: Definition, luns: dict[str, str]) -> None:
    assert hosts.luns(device, ["a1", "a2", "b"]) == luns


def test_a_definition_is_at_work_on_each_device_of_each_host() -> None:
    wd = Definition("wd", "w", {})
    devices = {"w": [sd("s", ["/dev/x"], []), sd("t", ["/dev/y"], [["b"]])]}
    everywhere = hosts.places([wd], devices, frozenset(), ["a", "b"])
    assert everywhere == [Place("w", "s", "a"), Place("w", "s", "b"), Place("w", "t", "b")]
    assert hosts.share(everywhere, "w", "b") == Fraction(2, 3)
    once = hosts.places([wd], devices, frozenset({"w"}), ["a", "b"])
    assert once == [Place("w", "s", "a"), Place("w", "t", "b")]
    pinned = Definition("wd", "w", {"host": ["b"]})
    assert {place.host for place in hosts.places([pinned], devices, frozenset(), ["a", "b"])} == {
        "b"
    }


def test_threads_go_round_the_hosts() -> None:
    """As a run of vdbench spreads them: the second device begins where the first has ended."""
    chosen = [Place("w", sd, host) for sd in ("s", "t") for host in ("a", "b", "c")]
    given = hosts.threads(chosen, {"s": 4, "t": 4}, ["a", "b", "c"])
    assert [given["s", host] for host in "abc"] == [2, 1, 1]
    assert [given["t", host] for host in "abc"] == [1, 2, 1]
    with pytest.raises(UsageError, match="3 hosts share the 2 threads of sd=s"):
        hosts.threads(chosen, {"s": 2}, ["a", "b", "c"])


def test_any_number_of_threads_is_shared_at_once() -> None:
    """The limits of a workload are checked later."""
    chosen = [Place("w", "s", host) for host in ("a", "b")]
    given = hosts.threads(chosen, {"s": 10**18 + 1}, ["a", "b"])
    assert given == {("s", "a"): 5 * 10**17 + 1, ("s", "b"): 5 * 10**17}
