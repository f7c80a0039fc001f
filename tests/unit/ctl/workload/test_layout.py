# SPDX-License-Identifier: GPL-2.0
"""Address ranges on devices: shares in whole units, stripes over uneven disks, whole zones."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lib.core.config import core_of
from lib.ctl.resolved import DISK, GIB, HEAD, MIB, STREAM, run_config

from spekctl import units
from spekctl.errors import UsageError
from spekctl.workload import file
from spekctl.workload.layout import Target, place_asus


@settings(deadline=None)
@given(
    st.sampled_from(file.shipped_names()),
    st.lists(st.integers(300 * MIB // 512, GIB // 512), min_size=2, max_size=5),
    st.sampled_from([4096, 65536, MIB]),
    st.sampled_from(["classic", "fixed"]),
)
def test_the_core_accepts_them_striped_over_uneven_disks(
    name: str, sectors: list[int], stripe: int, style: str
) -> None:
    targets = [
        Target(f"/dev/x{index}", 8, index, count * 512, 512) for index, count in enumerate(sectors)
    ]
    options: dict[str, Any] = {"bsu": 3, "hrrw": style} if name == "spc1" else {}
    config = run_config(name, *targets, stripe_bytes=stripe, **options)
    core_of(config).check(1)
    for asu in config.asus:
        each = asu.bytes // len(targets)
        for extent in asu.extents:
            assert extent.start + each <= min(sectors) * 512
    ends = [asu.extents[0].start + asu.bytes // len(targets) for asu in config.asus]
    starts = [asu.extents[0].start for asu in config.asus]
    assert all(end <= start for end, start in zip(ends, starts[1:], strict=False))


def test_spc1_is_split_45_45_10_in_whole_blocks() -> None:
    config = run_config("spc1", replace(DISK, bytes=GIB + 512), bsu=2)
    blocks = (GIB + 512) // 4096
    assert [asu.bytes // 4096 for asu in config.asus] == [
        blocks * 45 // 100,
        blocks * 45 // 100,
        int((GIB + 512) * 0.1) // 4096,
    ]
    assert all(asu.bytes % 4096 == 0 for asu in config.asus)


def test_spc1_needs_178_mib_and_says_so() -> None:
    small = replace(DISK, bytes=177 * MIB)
    with pytest.raises(UsageError) as refusal:
        run_config("spc1", small, bsu=1)
    assert refusal.value.message == (
        "asu 'asu1': it would have 79.6 MiB, but spc1 needs at least 80 MiB there; that takes a"
        " device of at least 178 MiB, and /dev/x has 177 MiB"
    )
    run_config("spc1", replace(DISK, bytes=178 * MIB), bsu=1)
    run_config("spc1", replace(DISK, bytes=90 * MIB), bsu=1, hrrw="fixed")
    with pytest.raises(UsageError, match="at least 89 MiB"):
        run_config("spc1", replace(DISK, bytes=88 * MIB), bsu=1, hrrw="fixed")


def test_the_capacity_that_is_asked_for_is_enough_with_stripes_too() -> None:
    pair = [replace(DISK, bytes=50 * MIB, minor=index) for index in (0, 1)]
    with pytest.raises(UsageError, match="devices of at least 89 MiB"):
        run_config("spc1", *pair, bsu=1)
    run_config("spc1", *[replace(asu, bytes=89 * MIB) for asu in pair], bsu=1)


PAIR = (DISK, replace(DISK, path="/dev/y", minor=1, bytes=8 * GIB + 512))


def asu(**fields: object) -> str:
    lines = {"name": "a", **fields}
    return "[[asu]]\n" + "".join(f"{key} = {value!r}\n" for key, value in lines.items())


REFUSED: dict[str, tuple[str, tuple[Target, ...], str]] = {
    "beyond the device": (asu(size="11GiB"), (DISK,), "ends at byte 11811160064"),
    "starts too late": (asu(size="5GiB", start="60%"), (DISK,), "but /dev/x has only"),
    "beyond the smallest": (
        asu(size="17GiB"), PAIR, "of each device, but /dev/y has only 8589935104",
    ),
    "half a sector": (asu(size=1000), (DISK,), "its size, 1000, is not a multiple of 512 bytes"),
    "start between blocks": (
        asu(size="1MiB", start=512), (replace(DISK, logical_block=4096),),
        "not a multiple of the logical block of /dev/x, 4096 bytes",
    ),
    "half a stripe": (
        asu(size="3MiB"), PAIR, "its size, 3MiB, is not a whole number of stripes over 2 devices",
    ),
    "start within a stripe": (
        asu(size="2MiB", start="1MiB"), PAIR, "its start, 1MiB, is not a multiple of the stripe",
    ),
    "nothing": (
        asu(size="1%"), (replace(DISK, bytes=MIB // 8),),
        "it would have 0 B, but w needs at least 4 KiB there; that takes a device of at least 400",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused(case: str) -> None:
    lines, targets, sentence = REFUSED[case]
    with pytest.raises(UsageError) as refusal:
        run_config(HEAD + STREAM + lines, *targets, stripe_bytes=MIB)
    assert refusal.value.message.startswith("asu 'a': ")
    assert sentence in refusal.value.message


@pytest.mark.parametrize("sectors", range(1, 8))
def test_a_disk_of_a_few_sectors_is_used_whole(sectors: int) -> None:
    tiny = replace(DISK, bytes=sectors * 512)
    text = HEAD + '[[stream]]\nname = "s"\nsize = 512\n'
    assert run_config(text, tiny).asus[0].bytes == sectors * 512
    with pytest.raises(UsageError) as refusal:
        run_config(HEAD + STREAM, tiny)
    assert refusal.value.message == (
        "stream 's': its largest block, 4 KiB, does not fit into its range of"
        f" {units.format_bytes(sectors * 512)}"
    )


SHARES = st.lists(st.integers(1, 30), min_size=1, max_size=3)


@given(
    SHARES,
    st.lists(st.integers(64 * MIB // 512, GIB // 512), min_size=1, max_size=4),
    st.sampled_from([4096, 65536, MIB]),
)
def test_shares_lie_one_after_the_other_in_whole_units(
    shares: list[int], sectors: list[int], stripe: int
) -> None:
    lines = "".join(
        f'[[asu]]\nname = "a{n}"\nsize = "{share}%"\n' for n, share in enumerate(shares)
    )
    targets = [
        Target(f"/dev/x{minor}", 8, minor, count * 512, 512) for minor, count in enumerate(sectors)
    ]
    workload = file.parse(HEAD + STREAM + 'asu = "a0"\n' + lines)
    try:
        placed = place_asus(workload, stripe, targets, False, 1)
    except UsageError as error:
        # Less than a unit: 1 % of 64 MiB in stripes of 1 MiB.
        assert "it would have 0 B" in error.message
        return
    nr, unit, cursor = len(targets), stripe if len(targets) > 1 else 4096, 0
    for asu, share in zip(placed, shares, strict=True):
        assert {extent.start for extent in asu.extents} == {cursor}
        assert [extent.target for extent in asu.extents] == list(range(nr))
        assert asu.bytes % (unit * nr) == 0
        room = min(sectors) * 512 * nr
        assert asu.bytes <= share / 100 * room < asu.bytes + (unit + stripe) * nr
        cursor += asu.bytes // nr


SMR = replace(DISK, bytes=100 * MIB, zone_bytes=4 * MIB, open_zones_max=6)
AT_POINTERS = HEAD + STREAM + 'pattern = "write-pointer"\nread = "0%"\n'


def test_streams_at_pointers_have_whole_zones() -> None:
    text = AT_POINTERS + 'open_zones = 3\n[[asu]]\nname = "most"\nsize = "90%"\n'
    config = run_config(text + '[[asu]]\nname = "rest"\nsize = "5%"\n', SMR)
    first, rest = config.asus
    assert (first.bytes, first.zone_bytes, first.open_zones) == (88 * MIB, 4 * MIB, 3)
    assert (rest.zone_bytes, rest.open_zones) == (0, 0)
    (stream,) = config.streams
    assert (stream.pattern, stream.range_bytes) == ("write-pointer", 88 * MIB)
    core_of(config).check(1)


def test_each_worker_has_an_open_zone_by_default() -> None:
    more = '[[stream]]\nname = "t"\npattern = "write-pointer"\noperation = "zone-reset"\n'
    loop = '[[arrival]]\nname = "loop"\nlaw = "closed"\ndepth = 8\n'
    config = run_config(AT_POINTERS + more + loop, SMR, workers=4)
    assert [asu.open_zones for asu in config.asus] == [4]
    assert [size.bytes for size in config.streams[1].sizes] == [512]
    core_of(config).check(4)


ZONES_REFUSED: dict[str, tuple[str, tuple[Target, ...], dict[str, Any], str]] = {
    "not zoned": (AT_POINTERS, (DISK,), {}, "needs a zoned device, which /dev/x is not"),
    "striped": (AT_POINTERS, (SMR, replace(SMR, path="/dev/y", minor=1)), {}, "needs one device"),
    "too many": (AT_POINTERS + "open_zones = 7\n", (SMR,), {}, "7 zones would be open, and"),
    "too few": (AT_POINTERS + "open_zones = 2\n", (SMR,), {"workers": 3}, "for 3 workers"),
    "two numbers": (
        AT_POINTERS + "open_zones = 2\n" + AT_POINTERS[len(HEAD) :].replace('"s"', '"t"')
        + "open_zones = 3\n",
        *((SMR,), {}, "its streams have different open_zones"),
    ),
    "half a zone": (
        AT_POINTERS + '[[asu]]\nname = "a"\nsize = "6MiB"\n',
        *((SMR,), {}, "is not a multiple of the zones of /dev/x, which have 4 MiB"),
    ),
    "more zones than there are": (
        HEAD + STREAM + 'range = "26z"\n',
        *((SMR,), {}, "range = 109051904 is beyond its asu"),
    ),
    "none": (HEAD + STREAM + '[[asu]]\nname = "a"\nsize = "0z"\n', (SMR,), {}, "its size is 0"),
    "a fraction": (HEAD + STREAM + 'range = "1.5z"\n', (SMR,), {}, "'1.5z'"),
}  # fmt: skip


@pytest.mark.parametrize("case", ZONES_REFUSED)
def test_zones_that_do_not_fit_are_refused(case: str) -> None:
    text, targets, options, sentence = ZONES_REFUSED[case]
    with pytest.raises(UsageError, match=sentence):
        run_config(text, *targets, **options)
