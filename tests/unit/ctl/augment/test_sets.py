# SPDX-License-Identifier: GPL-2.0
"""Which devices are a set, and which of them it can do without."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from lib.core.augment_images import BLOCK, FOREIGN, SET, Images
from lib.ctl.augment import make_unreadable

from spekctl.augment import sets
from spekctl.augment.reader import Reader
from spekctl.augment.sets import ForeignError, Part, Set
from spekctl.errors import RefusedError, SpekError, UsageError


@pytest.fixture
def images(tmp_path: Path) -> Images:
    return Images(tmp_path / "set")


def parts_of(paths: Sequence[str]) -> list[Part]:
    parts = []
    for path in paths:
        with Reader(path) as reader:
            part = sets.read(path, reader)
        assert part is not None
        parts.append(part)
    return parts


def gathered(images: Images, *numbers: int) -> Set:
    return sets.gather(parts_of([images.path(number) for number in numbers]))


def test_any_order_of_devices_becomes_theirs(images: Images) -> None:
    known = gathered(images, 2, 0, 1)
    assert [known.parts[number].path for number in known.numbers] == images.paths
    assert (known.uuid, known.missing, known.stale, known.current) == (SET, [], [], [0, 1, 2])


def test_the_newer_superblock_of_a_device_counts(images: Images) -> None:
    images.superblock(1, 0, version=5, tail=7)
    known = gathered(images, 0, 1, 2)
    assert (known.newest.version, known.newest.tail) == (5, 7)
    images.superblock(2, 0, version=2, generation=2, tail=9)
    assert gathered(images, 0, 1, 2).newest.tail == 9


def test_a_torn_superblock_leaves_the_older_copy(images: Images) -> None:
    images.superblock(0, 1, version=2)
    images.damage(0, 1, at=50)
    (part,) = parts_of([images.path(0)])
    assert part.newest.version == 1
    assert part.copies[1] is None


def test_a_superblock_that_cannot_be_read_leaves_the_older_copy(
    images: Images, monkeypatch: pytest.MonkeyPatch
) -> None:
    images.superblock(0, 0, version=2)
    make_unreadable(monkeypatch, (images.path(0), 0))
    (part,) = parts_of([images.path(0)])
    assert (part.copies[0], part.newest.version) == (None, 1)
    make_unreadable(monkeypatch, (images.path(0), 1))
    with pytest.raises(SpekError, match=r"reading .* at block 0: Input/output error"):
        parts_of([images.path(0)])


@pytest.mark.parametrize(("failures", "newest"), [(1, 2), (2, 1)])
def test_a_superblock_is_read_twice_as_by_the_module(
    images: Images, monkeypatch: pytest.MonkeyPatch, failures: int, newest: int
) -> None:
    """Else what the module attaches would be a device that misses its newest superblock here."""
    images.superblock(0, 0, version=2)
    make_unreadable(monkeypatch, (images.path(0), 0), times=failures)
    (part,) = parts_of([images.path(0)])
    assert part.newest.version == newest


def test_another_version_of_the_format_is_no_missing_superblock(images: Images) -> None:
    """A user who takes it for none may write over a log that has not been destaged."""
    for place in (0, 1):
        images.damage(0, place, at=8)
    with (
        Reader(images.path(0)) as reader,
        pytest.raises(ForeignError, match="of another version of the format"),
    ):
        sets.read(images.path(0), reader)
    # One that is intact is enough.
    images.superblock(0, 1)
    (part,) = parts_of([images.path(0)])
    assert part.copies[0] is None


def test_a_device_without_a_superblock_is_none(images: Images, tmp_path: Path) -> None:
    for place in (0, 1):
        images.put(0, place, bytes(BLOCK))
    short = tmp_path / "short"
    short.write_bytes(b"x")
    for path in (images.path(0), str(short)):
        with Reader(path) as reader:
            assert sets.read(path, reader) is None


def test_devices_of_a_foreign_set_are_named(images: Images, tmp_path: Path) -> None:
    foreign = Images(tmp_path / "foreign", uuid=FOREIGN)
    with pytest.raises(UsageError) as refusal:
        sets.gather(parts_of([images.path(0), foreign.path(1)]))
    assert refusal.value.message == (
        f"the devices belong to different sets ({images.path(0)}: set {SET};"
        f" {foreign.path(1)}: set {FOREIGN})"
    )


def test_two_devices_with_one_number_are_named(images: Images, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.write_bytes(Path(images.path(1)).read_bytes())
    with pytest.raises(UsageError, match="both say that they are member 0"):
        sets.gather(parts_of([images.path(1), str(copy)]))


@pytest.mark.parametrize("field", ["log_blocks", "ssd_blocks", "nr_members"])
def test_superblocks_that_contradict_each_other_are_refused(images: Images, field: str) -> None:
    for place in (0, 1):
        images.superblock(1, place, **{field: 300 if field != "nr_members" else 3})
    with pytest.raises(UsageError, match=f"has {field} .* contradict each other"):
        gathered(images, 0, 1, 2)


def test_a_stale_device_is_told(images: Images) -> None:
    images.lose(2)
    known = gathered(images, 0, 1, 2)
    assert (known.stale, known.current, known.missing) == ([2], [0, 1], [])


def test_a_missing_device_has_to_be_named(images: Images) -> None:
    known = gathered(images, 0, 2)
    with pytest.raises(RefusedError) as refusal:
        sets.leave_out(known, [])
    assert refusal.value.message == (
        f"member 0 of set {SET} is missing; connect it, or give --without member:0 to attach"
        " without"
    )
    assert sets.leave_out(known, [1]).missing == [1]


def test_several_missing_devices_are_named_together(images: Images) -> None:
    with pytest.raises(RefusedError, match="--without member:0 --without member:1"):
        sets.leave_out(gathered(images, 0), [])
    assert sets.leave_out(gathered(images, 0), [1, 2]).current == [0]


def test_without_ssd_and_a_member_what_they_held_is_not_known(images: Images) -> None:
    assert not gathered(images, 0).unknown
    assert gathered(images, 1).unknown
    with pytest.raises(RefusedError, match="what they held is not known"):
        sets.leave_out(gathered(images, 1), [0, 2])
    assert sets.leave_out(gathered(images, 1, 2), [0]).missing == [0]


def test_what_cannot_be_read_is_as_if_it_were_missing(images: Images) -> None:
    known = gathered(images, 0, 1, 2)
    assert [known.is_unknown_without(unread) for unread in ([0], [1, 2], [0, 2])] == [
        False,
        False,
        True,
    ]


def test_a_lost_member_held_nothing_that_counts(images: Images) -> None:
    """Member 1 was lost in an earlier generation: member 0 alone has all that the SSD had."""
    images.lose(2)
    assert not gathered(images, 1).unknown
    assert sets.leave_out(gathered(images, 1), [0, 2]).current == [1]


def test_newer_devices_are_not_left_out(images: Images) -> None:
    images.lose(2)
    with pytest.raises(RefusedError) as refusal:
        sets.leave_out(gathered(images, 0, 1, 2), [0, 1])
    text = f"the devices that are left are of generation 1 of set {SET}"
    assert refusal.value.message.startswith(text)
    assert "is of generation 2: what was written since would be lost" in refusal.value.message


@pytest.mark.parametrize(
    ("present", "without", "sentence"),
    [((0, 1, 2), [3], "--without member:2: set"), ((0,), [0, 1, 2], "no device of set")],
)
def test_impossible_choices_are_refused(
    images: Images, present: tuple[int, ...], without: list[int], sentence: str
) -> None:
    with pytest.raises(UsageError, match=sentence):
        sets.leave_out(gathered(images, *present), without)


def test_names_of_devices_go_both_ways() -> None:
    for number in range(9):
        assert sets.number_of(sets.option_of(number)) == number


@pytest.mark.parametrize("text", ["", "SSD", "member", "member:", "member:8", "member:-1", "m:1"])
def test_other_names_are_refused(text: str) -> None:
    with pytest.raises(UsageError, match="names no device of a set"):
        sets.number_of(text)
