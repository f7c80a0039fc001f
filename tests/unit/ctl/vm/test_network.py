# SPDX-License-Identifier: GPL-2.0
"""Networks of guests: what --net takes, and what becomes of it on the host."""

from __future__ import annotations

from pathlib import Path

import pytest

from spekctl.errors import GuestError, UsageError
from spekctl.vm import network
from spekctl.vm.network import PORTS_MAX, Net, parse_net


def test_a_guest_is_the_hub_by_default(tmp_path: Path) -> None:
    assert parse_net(str(tmp_path)) == Net(tmp_path, number=1, ports=network.PORTS)
    assert parse_net(f"{tmp_path},ports=1,host=on") == Net(tmp_path, 1, 1, host=True)
    assert parse_net(f"{tmp_path},number=4") == Net(tmp_path, number=4)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (",numer=2", "a network has no option 'numer'; did you mean 'number'?"),
        (",number", "network option 'number' must have the form name=value"),
        (",number=", "network option 'number=' must have the form name=value"),
        (",number=0", "number=0 is not a number from 1 to 17"),
        (",number=18", "number=18 is not a number from 1 to 17"),
        (",number=two", "number=two is not a number from 1 to 17"),
        (",ports=17", "ports=17 is not a number from 1 to 16"),
        (",number=2,ports=3", "only guest 1 of a network has ports, not guest 2"),
        (",number=2,number=3", "the network option number is given twice"),
        (",host=maybe", "host=maybe is neither on nor off"),
        ("/nowhere", "the directory"),
    ],
)
def test_a_wrong_network_is_refused(tmp_path: Path, options: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_net(f"{tmp_path}{options}")
    assert refused.value.message.startswith(sentence)


def test_a_directory_that_cannot_hold_sockets_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="needs a directory first"):
        parse_net(",number=2")
    long = tmp_path / ("x" * 100)
    long.mkdir()
    with pytest.raises(UsageError, match="too long for sockets"):
        parse_net(str(long))
    comma = tmp_path / "a,b"
    comma.mkdir()
    monkeypatch.chdir(comma)
    with pytest.raises(UsageError, match="has a comma"):
        parse_net(".")


def test_guests_differ_in_all_that_names_them(tmp_path: Path) -> None:
    nets = [Net(tmp_path, number, host=True) for number in range(1, PORTS_MAX + 2)]
    names = [
        {net.initiator for net in nets},
        {net.host_nqn for net in nets},
        {net.host_id for net in nets},
        {net.plan()["name"] for net in nets},
        {net.cards()[0]["address"] for net in nets},
    ]
    assert {len(each) for each in names} == {len(nets)}
    macs = [card["mac"] for net in nets for card in net.cards()]
    assert len(set(macs)) == 2 * len(nets)
    # Not the same group, and locally administered.
    assert all(int(text[:2], 16) & 3 == 2 for text in macs)


def test_both_ends_of_a_line_are_the_same_socket(tmp_path: Path) -> None:
    hub = Net(tmp_path, ports=2).qemu_arguments()
    waits = [word for word in hub if word.startswith("stream,")]
    assert len(waits) == 2
    for number, listening in zip((2, 3), waits, strict=True):
        (calls,) = (
            word for word in Net(tmp_path, number).qemu_arguments() if word.startswith("stream,")
        )
        assert ",server=on," in listening
        assert ",server=off," in calls
        assert listening.partition("addr.")[2] == calls.partition("addr.")[2]
    assert sum(word.startswith("virtio-net-pci,") for word in hub) == 1


def test_a_guest_reaches_the_host_only_if_it_is_told_to(tmp_path: Path) -> None:
    alone = Net(tmp_path, 2)
    assert not any("user," in word for word in alone.qemu_arguments())
    assert network.HOST not in alone.plan()["hosts"]
    both = Net(tmp_path, 2, host=True)
    assert sum("user," in word for word in both.qemu_arguments()) == 1
    assert f"{network.HOST} spek-host\n" in both.plan()["hosts"]


def test_a_number_is_given_once_and_freed(tmp_path: Path) -> None:
    hub = Net(tmp_path, ports=1)
    with hub.joined():
        with pytest.raises(GuestError, match=r"guest 1 of the network .* runs already"):
            hub.joined().__enter__()
        with pytest.raises(GuestError, match="does not wait for guest 2"):
            Net(tmp_path, 2).joined().__enter__()
        hub.socket(2).touch()
        with Net(tmp_path, 2).joined():
            assert hub.socket(2).exists()
    assert list(tmp_path.iterdir()) == []


def test_a_guest_needs_the_hub(tmp_path: Path) -> None:
    # As a hub leaves it that was killed.
    Net(tmp_path).socket(2).touch()
    with pytest.raises(GuestError, match=r"guest 1 of the network .* does not run"):
        Net(tmp_path, 2).joined().__enter__()
    assert [path.name for path in tmp_path.iterdir()] == ["2.sock"]
