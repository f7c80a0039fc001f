# SPDX-License-Identifier: GPL-2.0
"""Runs of several hosts as one workload, with what each host has of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from spekctl.errors import UsageError
from spekctl.vdbench import convert
from spekctl.workload.imported import Client, Imported

HOSTS = "hd=default,shell=ssh,user=me\nhd=a,system=10.0.0.1\nhd=b,system=10.0.0.2\n"
TWO = HOSTS + "sd=s1,host=a,lun=/dev/sdb\nsd=s2,host=b,lun=/dev/sdc\n"
EACH = TWO + "wd=w,sd=s*,rdpct=100\n"


def step(tmp_path: Path, text: str) -> Imported:
    path = tmp_path / "some.parm"
    path.write_text(text)
    (imported,) = convert.load_steps(path)
    return imported


def load(imported: Imported) -> tuple[object, object]:
    (arrival,) = imported.workload.arrival
    return arrival.rate, arrival.depth


def test_a_host_has_its_devices_and_its_part_of_the_rate(tmp_path: Path) -> None:
    imported = step(tmp_path, EACH + "rd=r,wd=w,iorate=1000\n")
    assert load(imported) == (500, None)
    assert imported.clients == [
        Client("a", "a", "me@10.0.0.1", ("/dev/sdb",)),
        Client("b", "b", "me@10.0.0.2", ("/dev/sdc",)),
    ]
    assert imported.command_line == []
    assert imported.mapped["system"] == imported.mapped["shell"] == "host.ssh"


@pytest.mark.parametrize(
    ("rate", "first", "option"),
    [("900", (300, None), {"rate": "600"}), ("max", (None, 8), {"depth": "16"})],
)
def test_a_host_with_more_devices_has_more_of_the_load(
    tmp_path: Path, rate: str, first: object, option: dict[str, str]
) -> None:
    more = TWO + "sd=s3,host=b,lun=/dev/sdd\nwd=w,sd=s*,rdpct=100\n"
    imported = step(tmp_path, more + f"rd=r,wd=w,iorate={rate}\n")
    assert load(imported) == first
    assert [client.options for client in imported.clients] == [{}, option]


def test_threads_of_a_shared_device_are_those_of_its_hosts_together(tmp_path: Path) -> None:
    shared = HOSTS + "sd=s,lun=/dev/sdb,threads=5\nwd=w,sd=s\n"
    imported = step(tmp_path, shared + "rd=r,wd=w,iorate=max\n")
    assert load(imported) == (None, 3)
    assert [client.options for client in imported.clients] == [{}, {"depth": "2"}]
    wider = step(tmp_path, shared + "rd=r,wd=w,iorate=max,threads=64\n")
    assert load(wider) == (None, 32)


def test_one_host_reads_a_shared_device_sequentially(tmp_path: Path) -> None:
    shared = HOSTS + "sd=s,lun=/dev/sdb,threads=5\nwd=w,sd=s,seekpct=seq\n"
    imported = step(tmp_path, shared + "rd=r,wd=w,iorate=max\n")
    assert [client.name for client in imported.clients] == ["a"]
    assert load(imported) == (None, 5)
    assert imported.not_needed["hd=b"] == "it has no part in this run"


def test_the_path_of_a_device_may_be_another_on_each_host(tmp_path: Path) -> None:
    text = HOSTS + "sd=s,host=a,lun=/dev/sdb,host=b,lun=/dev/sdz\nwd=w,sd=s\n"
    imported = step(tmp_path, text + "rd=r,wd=w,iorate=max\n")
    assert [client.devices for client in imported.clients] == [("/dev/sdb",), ("/dev/sdz",)]


def test_streams_of_hosts_may_have_other_names(tmp_path: Path) -> None:
    text = TWO + "wd=w1,sd=s1\nwd=w2,sd=s2\nrd=r,wd=*,iorate=600\n"
    imported = step(tmp_path, text)
    assert load(imported) == (300, None)
    told = "streams of hd=b are called as those of hd=a: w2 as w1"
    assert told in imported.differences


@pytest.mark.parametrize(
    ("head", "name", "ssh"),
    [
        ("hd=host_1,system=far,shell=ssh", "host-1", "far"),
        ("hd=controller,system=far,user=me", "controller-2", ""),
        ("hd=_,system=far,shell=vdbench", "host", ""),
        ("hd=far", "far", ""),
    ],
)
def test_a_host_has_a_name_that_a_plan_can_have(
    tmp_path: Path, head: str, name: str, ssh: str
) -> None:
    imported = step(tmp_path, head + "\nsd=s,lun=/dev/sdb\nwd=w,sd=s\nrd=r,wd=w,iorate=max\n")
    (client,) = imported.clients
    assert (client.name, client.ssh) == (name, ssh)
    # What is not started over SSH has no ssh in the plan, and the report does not say so.
    assert ("host.ssh" in imported.mapped.values()) is (ssh != "")


RUN = "rd=r,wd=*,iorate=100\n"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            TWO + "wd=w1,sd=s1,rdpct=100\nwd=w2,sd=s2,rdpct=0\n" + RUN,
            "hd=a and hd=b have different workloads; a fleet runs one workload",
        ),
        (
            HOSTS + "sd=s1,host=a,lun=/dev/x,size=1g\nsd=s2,host=b,lun=/dev/x,size=2g\n"
            "wd=w,sd=s*\n" + RUN,
            "hd=a and hd=b have different workloads",
        ),
        (
            TWO + "sd=s3,host=b,lun=/dev/y\nwd=w,sd=s*\nwd=v,sd=s*,iorate=9\n"
            "rd=r,wd=*,iorate=max\n",
            "hd=a and hd=b have different parts of rates and of closed loops",
        ),
        (
            HOSTS + "sd=s1,lun=/dev/x\nsd=s2,lun=/dev/y\nwd=w,sd=s1\nwd=v,sd=s2\n" + RUN,
            "hd=a: sd: wd=w and wd=v have different devices on this host",
        ),
        (TWO + "wd=w,sd=s1,host=b\n" + RUN, "wd=w: none of its hosts has one of its devices"),
        (
            "validate=yes\n" + HOSTS + "sd=s,lun=/dev/x\nwd=w,sd=s,rdpct=50\n" + RUN,
            "validate: sd=s",
        ),
        ("concatenatesds=yes\n" + EACH + RUN, "concatenatesds: the devices of hosts are not"),
        (
            HOSTS + "sd=s,lun=/dev/x,lun=/dev/y,host=a\nwd=w,sd=s\n" + RUN,
            "sd=s: lun: there are 2, each for another host, and 1 host=",
        ),
        (
            "hd=a,shell=ssh,system=-oProxyCommand=x\nsd=s,lun=/dev/x\nwd=w,sd=s\n" + RUN,
            "hd=a: system: '-oProxyCommand=x' is not part of an SSH destination",
        ),
        (
            "hd=a,shell=ssh,system=far,user=-oX\nsd=s,lun=/dev/x\nwd=w,sd=s\n" + RUN,
            "hd=a: user: '-oX' is not part of an SSH destination",
        ),
    ],
)
def test_what_a_fleet_cannot_do_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refused:
        step(tmp_path, text)
    assert sentence in str(refused.value)
