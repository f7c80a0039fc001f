# SPDX-License-Identifier: GPL-2.0
"""A key of a stream is known wherever keys are written down by hand.

Whoever adds one, as CONTRIBUTING.md says, is told here of a place without it.
"""

from __future__ import annotations

import inspect
import re
from dataclasses import fields
from typing import Any

import pytest
from fuzz.netlink_plausible import VARIANTS
from lib.core.build import ROOT
from lib.core.spekcore import Stream
from msgspec.structs import fields as members

from spekctl.contract.requests import SizeRequest, StreamRequest
from spekctl.fio import export
from spekctl.kernel.gen.spek import StreamNla
from spekctl.workload.model import KEYS

# How an I/O is sent, and what a write carries: addresses do not depend on it.
BESIDE_ADDRESSES = {
    *("operation", "fua", "priority", "priority_level", "write_hint"),
    *("own_data", "compressible_ppm", "duplicate_ppm", "fill", "atomic"),
}
COUNTS = {"parts": "nr_parts", "sizes": "nr_sizes"}
# Those of patterns that fio lacks.
FOREIGN_TO_FIO = set(export._NOT_IN_FIO)


def test_the_core_in_userspace_has_every_member() -> None:
    assert {field.name for field in fields(Stream)} == {
        member.name for member in members(StreamRequest) if member.name != "name"
    }


def test_the_core_in_userspace_has_the_defaults_of_requests() -> None:
    """What tests leave out is what the kernel takes for an attribute that is not given."""
    usual = Stream()
    for member in members(StreamRequest):
        if isinstance(member.default, int):
            assert getattr(usual, member.name) == member.default, member.name


def test_a_stream_of_a_configuration_keeps_all_of_it() -> None:
    more: dict[str, Any] = {"weight": 7, "stride_bytes": 4096, "priority": "idle", "fua": 1}
    sizes = [SizeRequest(512, 3)]
    given = StreamRequest("a", 1, 2, 300_000, "strided", 1 << 20, 512, sizes, fill="aabb", **more)
    stream = Stream.of(given)
    assert (stream.asu, stream.arrival, stream.weight, stream.replicas) == (1, 2, 7, 1)
    assert (stream.pattern, stream.stride_bytes, stream.sizes) == ("strided", 4096, [(512, 3)])
    assert (stream.priority, stream.operation, stream.fua, stream.fill) == (3, 0, 1, b"\xaa\xbb")


def test_workloads_made_at_random_have_every_member_that_addresses_depend_on() -> None:
    code = (ROOT / "tests" / "fuzz" / "c" / "core.c").read_text()
    drawn = set(re.findall(r"\bstream->(\w+) = ", code))
    wanted = {member.name for member in members(StreamRequest)} - BESIDE_ADDRESSES - {"name"}
    missing = {name for name in wanted if COUNTS.get(name, name) not in drawn}
    assert not missing, f"take_stream() of tests/fuzz/c/core.c: {missing}"


def test_requests_made_at_random_have_every_attribute() -> None:
    tried = {field.name for variant in VARIANTS["spek"]["stream"] for field in variant}
    missing = {name.replace("_", "-") for name in StreamNla.keys} - tried
    assert not missing, f"VARIANTS of tests/fuzz/netlink_plausible.py: {missing}"


@pytest.mark.parametrize("key", KEYS)
def test_a_key_is_translated_for_fio_or_refused(key: str) -> None:
    patterns = set(KEYS[key].patterns)
    named = re.search(rf"\.{key}\b|[\"']{key}[\"']", inspect.getsource(export))
    assert named or (patterns and patterns <= FOREIGN_TO_FIO), f"ctl/spekctl/fio/export.py: {key}"
