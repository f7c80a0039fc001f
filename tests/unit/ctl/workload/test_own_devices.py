# SPDX-License-Identifier: GPL-2.0
"""Address ranges on devices of their own, beside others that are striped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lib.core.config import core_of
from lib.ctl.resolved import CPUS, GIB, HEAD, MIB, STREAM

from spekctl.errors import UsageError
from spekctl.workload import file, own_devices
from spekctl.workload.config import RunConfig
from spekctl.workload.layout import Target
from spekctl.workload.options import Options
from spekctl.workload.resolve import resolve

DISKS = [Target(f"/dev/x{minor}", 8, minor, (minor + 1) * GIB, 512) for minor in range(4)]


def placed(
    name: str, words: Sequence[str], disks: Sequence[Target] = DISKS, **options: Any
) -> RunConfig:
    """A shipped workload, or the text of one, on those of @disks that --device words name."""
    workload = file.parse(name) if "\n" in name else file.load(name)
    workload, paths = own_devices.taken(workload, words)
    of = {disk.path: disk for disk in disks}
    chosen = Options(available_cpus=CPUS, **options)
    return resolve(workload, chosen, [of[path] for path in paths])


def where(config: RunConfig) -> dict[str, list[tuple[int, int]]]:
    """Minor number and first byte of each extent of each asu."""
    return {
        asu.name: [(config.targets[at.target].minor, at.start) for at in asu.extents]
        for asu in config.asus
    }


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("/dev/sda", ("", "/dev/sda")),
        ("asu1=/dev/sda", ("asu1", "/dev/sda")),
        ("/dev/disk/by-partlabel/a=b", ("", "/dev/disk/by-partlabel/a=b")),
        ("asu1=/dev/disk/by-partlabel/a=b", ("asu1", "/dev/disk/by-partlabel/a=b")),
        ("sda", ("", "sda")),
    ],
)
def test_a_word_is_a_path_or_names_an_asu(word: str, parts: tuple[str, str]) -> None:
    assert own_devices.named(word) == parts


def test_each_asu_of_spc1_has_a_disk_and_its_share_of_that() -> None:
    config = placed("spc1", [f"asu{n}=/dev/x{n}" for n in (3, 1, 2)], bsu=1)
    assert where(config) == {"asu1": [(1, 0)], "asu2": [(2, 0)], "asu3": [(3, 0)]}
    shares = [(2, 0.45), (3, 0.45), (4, 0.1)]
    assert [asu.bytes for asu in config.asus] == [
        int(size * GIB * share) // 4096 * 4096 for size, share in shares
    ]
    assert not any(asu.stripe_bytes for asu in config.asus)
    core_of(config).check(1)


def test_asus_without_a_device_are_striped_over_those_that_no_asu_has() -> None:
    config = placed("spc1", ["/dev/x3", "asu1=/dev/x0", "/dev/x1"], bsu=1)
    half = int(2 * GIB * 0.45) // 65536 * 65536
    assert where(config) == {
        "asu1": [(0, 0)],
        "asu2": [(3, 0), (1, 0)],
        "asu3": [(3, half), (1, half)],
    }
    assert [asu.stripe_bytes for asu in config.asus] == [0, 65536, 65536]
    core_of(config).check(1)


def test_asus_that_share_a_device_follow_one_another() -> None:
    config = placed("spc1", ["asu1=/dev/x0", "asu2=/dev/x1", "asu3=/dev/x0"], bsu=1)
    first = config.asus[0].bytes
    assert where(config) == {"asu1": [(0, 0)], "asu2": [(1, 0)], "asu3": [(0, first)]}


TWO = HEAD + STREAM + 'asu = "a"\n[[stream]]\nname = "t"\nsize = "4KiB"\nasu = "b"\n'


def asus(a: str = "", b: str = "") -> str:
    return f'{TWO}[[asu]]\nname = "a"\n{a}\n[[asu]]\nname = "b"\n{b}\n'


def test_a_file_names_devices_and_the_command_line_others() -> None:
    text = asus('device = "/dev/x0"', 'device = "/dev/x1"')
    assert where(placed(text, [])) == {"a": [(0, 0)], "b": [(1, 0)]}
    assert where(placed(text, ["b=/dev/x2"])) == {"a": [(0, 0)], "b": [(2, 0)]}
    assert own_devices.are_all(file.parse(text))
    assert own_devices.text(file.parse(text)) == "a on /dev/x0, b on /dev/x1"
    assert not own_devices.are_all(file.parse(asus('device = "/dev/x0"', 'size = "5%"')))


def test_a_plain_word_for_an_asus_own_device_changes_nothing() -> None:
    """A plan of a fleet lists all devices."""
    text = asus('device = "/dev/x1"', 'size = "50%"')
    config = placed(text, ["/dev/x0", "/dev/x1"])
    assert where(config) == {"a": [(1, 0)], "b": [(0, 0)]}


def test_the_default_asu_has_a_name() -> None:
    assert where(placed(HEAD + STREAM, ["all=/dev/x2"])) == {"all": [(2, 0)]}


def test_streams_meet_the_blocks_of_their_own_device_only() -> None:
    """A disk of 4096-byte blocks takes no I/Os of 512 bytes; the one beside it does."""
    text = asus('device = "/dev/x0"', 'device = "/dev/x1"').replace(
        'size = "4KiB"', "size = 512", 1
    )
    large = [DISKS[0], replace(DISKS[1], logical_block=4096)]
    assert [s.align_bytes for s in placed(text, [], large).streams] == [512, 4096]
    with pytest.raises(UsageError, match="stream 's': its block size, 512 B, is not a multiple"):
        placed(text, [], [replace(DISKS[0], logical_block=4096), DISKS[1]])


def test_a_stripe_smaller_than_the_block_of_an_own_device_is_fine() -> None:
    large = [replace(DISKS[0], logical_block=4096), *DISKS[1:]]
    words = ["asu1=/dev/x0", "/dev/x1", "/dev/x2"]
    assert placed("spc1", words, large, bsu=1, stripe_bytes=512).asus[1].stripe_bytes == 512
    words = ["asu1=/dev/x1", "/dev/x0", "/dev/x2"]
    with pytest.raises(UsageError, match="--stripe 512 is not a multiple of the logical block"):
        placed("spc1", words, large, bsu=1, stripe_bytes=512)


@pytest.mark.parametrize(
    ("name", "words", "sentence"),
    [
        ("spc1", ["asu1="], "--device asu1= names no device"),
        (
            *("spc1", ["asu1=/dev/x\udcff"]),
            "--device asu1='/dev/x\\udcff': a path in a workload is text on a line",
        ),
        (
            *(asus(r'device = "/dev/x\nexec_prerun=x"'), []),
            "asu 'a': device '/dev/x\\nexec_prerun=x' is no path that begins with /, nor, for a"
            " plan of hosts, wwn:..., serial:... or nqn:...",
        ),
        (
            *(asus('device = "wwn:0x"'), []),
            "asu 'a': 'wwn:0x' is not a WWN: naa., eui. and 0x are followed by hexadecimal digits;"
            " `spekctl devices` lists the WWNs of a host",
        ),
        (
            *(asus('device = "nqn: "'), []),
            "asu 'a': 'nqn: ' names no device; write wwn:..., serial:..., nqn:... or a path below"
            " /dev",
        ),
        (
            *("spc1", ["data=/dev/x0"]),
            "--device data=/dev/x0: there is no asu 'data'; known are asu1, asu2, asu3",
        ),
        (
            *("spc1", ["asu1=/dev/x0", "asu1=/dev/x1"]),
            "asu 'asu1' is given two devices, /dev/x0 and /dev/x1; it has one of its own, or is"
            " striped over all that no asu has",
        ),
        (
            *("spc1", ["asu1=/dev/x0", "asu2=/dev/x1"]),
            "asu 'asu3' has no device: give one with --device DEV or --device asu3=DEV",
        ),
        (
            *("spc1", ["/dev/x3", "asu1=/dev/x0", "asu2=/dev/x0", "asu3=/dev/x0"]),
            "no address range would be on /dev/x3: every asu has a device of its own",
        ),
        (
            *(asus('size = "60%"', 'size = "60%"'), ["/dev/x0"]),
            "the sizes of the asus sum to 120%, more than 100%",
        ),
        (
            *(asus('device = "/dev/x0"', 'device = "/dev/x0"'), []),
            "the sizes of the asus on /dev/x0 sum to 200%, more than 100%",
        ),
        (
            *(asus('device = "x0"', 'size = "1%"'), []),
            "asu 'a': device 'x0' is no path that begins with /, nor, for a plan of hosts, wwn:...,"
            " serial:... or nqn:...",
        ),
        (
            *(asus('device = "/dev/x0"', 'device = "/dev/x1"'), ["b=/dev/x0"]),
            "the sizes of the asus on /dev/x0 sum to 200%, more than 100%",
        ),
        (
            *(
                asus('device = "/dev/x0"\nstart = "600MiB"\nsize = "600MiB"', 'device = "/dev/x0"'),
                [],
            ),
            "asu 'a': it ends at byte 1258291200, but /dev/x0 has only 1073741824 (1 GiB)",
        ),
        (
            *(asus('device = "/dev/x0"'), []),
            "asu 'b' has no device: give one with --device DEV or --device b=DEV",
        ),
    ],
)
def test_what_has_no_place_is_refused(name: str, words: list[str], sentence: str) -> None:
    options: dict[str, Any] = {"bsu": 1} if name == "spc1" else {}
    with pytest.raises(UsageError) as refusal:
        placed(name, words, **options)
    assert refusal.value.message == sentence


def test_sizes_are_summed_where_the_command_line_has_put_the_asus() -> None:
    text = asus('size = "60%"', 'size = "60%"')
    config = placed(text, ["/dev/x0", "b=/dev/x1"])
    assert where(config) == {"a": [(0, 0)], "b": [(1, 0)]}
    with pytest.raises(UsageError, match="the sizes of the asus on /dev/x1 sum to 120%"):
        placed(text, ["a=/dev/x1", "b=/dev/x1"])


def test_text_says_where_each_asu_is() -> None:
    text = asus('device = "/dev/x0"', 'size = "5%"')
    assert own_devices.place_text(file.parse(text)) == "a on /dev/x0, b on the other devices"
    assert own_devices.place_text(file.parse(asus('size = "5%"', 'size = "5%"'))) == ""


def test_a_device_that_no_stream_writes_is_for_reading_only() -> None:
    text = asus('device = "/dev/x0"', 'device = "/dev/x1"')
    reads_x0 = placed(text.replace('asu = "b"', 'asu = "b"\nread = "0%"'), [], write=True)
    assert [each.read_only for each in reads_x0.targets] == [1, 0]
    assert reads_x0.written == {(8, 1)}
    # Without --write all are opened read-only, and a workload that reads does not ask for more.
    for config in (placed(text, [], write=True), placed(text, [])):
        assert [each.read_only for each in config.targets] == [0, 0] and not config.written


def test_a_device_that_the_run_does_not_have_is_refused() -> None:
    """Hosts of a fleet have the devices of its plan."""
    workload = file.parse(asus('device = "/dev/x9"', 'size = "1%"'))
    with pytest.raises(UsageError) as refusal:
        resolve(workload, Options(available_cpus=CPUS), DISKS[:2])
    assert refusal.value.message == (
        "asu 'a': its device, /dev/x9, is none of the run's: /dev/x0, /dev/x1"
    )


TRACE = HEAD + '[[stream]]\nname = "s"\npattern = "trace"\ntrace = { files = ["t"] }\n'


def test_a_trace_is_on_all_devices() -> None:
    with pytest.raises(UsageError, match="replays a trace, whose addresses are on all devices"):
        own_devices.taken(file.parse(TRACE), ["all=/dev/x0"])
    with pytest.raises(UsageError, match="asu 'a': 'device' is not possible beside a trace"):
        file.parse(TRACE + '[[asu]]\nname = "a"\ndevice = "/dev/x0"\n')


@settings(deadline=None)
@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=5),
    st.lists(st.booleans(), min_size=4, max_size=4),
    st.sampled_from([4096, 65536, MIB]),
)
def test_no_two_asus_overlap_and_each_is_where_it_should_be(
    homes: list[int], shared: list[bool], stripe: int
) -> None:
    """@homes: the disk of each asu, 0 for none of its own."""
    share = 100 // len(homes)
    lines = "".join(f'[[asu]]\nname = "a{n}"\nsize = "{share}%"\n' for n in range(len(homes)))
    text = HEAD + STREAM + 'asu = "a0"\n' + lines
    words = [f"a{n}=/dev/x{home}" for n, home in enumerate(homes) if home]
    others = [number for number in range(1, 4) if number not in homes and shared[number]]
    striped = [0, *others] if 0 in homes else []
    config = placed(text, [*(f"/dev/x{n}" for n in striped), *words], stripe_bytes=stripe)
    core_of(config).check(1)
    used: dict[int, list[tuple[int, int]]] = {}
    for home, (name, extents) in zip(homes, where(config).items(), strict=True):
        assert [minor for minor, _ in extents] == ([home] if home else striped)
        (size,) = (asu.bytes for asu in config.asus if asu.name == name)
        for minor, start in extents:
            used.setdefault(minor, []).append((start, start + size // len(extents)))
    for minor, ranges in used.items():
        ends = [end for _, end in sorted(ranges)]
        starts = [start for start, _ in sorted(ranges)]
        assert all(end <= start for end, start in zip(ends, starts[1:], strict=False))
        assert ends[-1] <= DISKS[minor].bytes
