# SPDX-License-Identifier: GPL-2.0
"""CPUs near devices, by a sysfs of two nodes made for the test."""

from __future__ import annotations

from pathlib import Path

import pytest

from spekctl.block import near
from spekctl.block.device import Device, Roots, by_number


class Machine:
    """Two nodes of four CPUs each, which are two cores of two threads: 0-3 are their first ones."""

    NODES = ("0-1,4-5", "2-3,6-7")

    def __init__(self, root: Path) -> None:
        self.roots = Roots(sys=root / "sys", dev=root / "dev", udev=root / "udev")
        for number, cpus in enumerate(self.NODES):
            self.write(f"devices/system/node/node{number}/cpulist", cpus)
        for cpu in range(8):
            folder = f"devices/system/cpu/cpu{cpu}/topology"
            self.write(f"{folder}/thread_siblings_list", f"{cpu % 4},{cpu % 4 + 4}")

    def write(self, path: str, text: str) -> Path:
        file = self.roots.sys / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n", encoding="ascii")
        return file

    def disk(self, minor: int, node: str | None, queues: list[str]) -> Device:
        """A disk whose controller hangs on a PCI device; @node: None: that has no such file."""
        controller = f"devices/pci{minor}/nvme/nvme{minor}"
        if node is not None:
            self.write(f"devices/pci{minor}/numa_node", node)
        name = f"nvme{minor}n1"
        folder = self.write(f"{controller}/{name}/dev", f"259:{minor}").parent
        self.write(f"{controller}/{name}/size", "2048")
        for number, cpus in enumerate(queues):
            self.write(f"{controller}/{name}/mq/{number}/cpu_list", cpus)
        (folder / "device").symlink_to(folder.parent)
        links = self.roots.sys / "dev/block"
        links.mkdir(parents=True, exist_ok=True)
        (links / f"259:{minor}").symlink_to(folder)
        device = by_number(259, minor, f"/dev/{name}", self.roots)
        assert device is not None
        return device

    def order(self, *devices: Device, available: str = "01234567") -> list[int]:
        nears = [near.of_device(device, self.roots) for device in devices]
        return near.order(nears, [int(cpu) for cpu in available], self.roots)


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_node_and_the_queues_of_a_disk(machine: Machine) -> None:
    disk = machine.disk(0, "1", ["0, 1, 4, 5", "2, 3, 6, 7"])
    placement = near.of_device(disk, machine.roots)
    assert (placement.node, placement.node_cpus) == (1, (2, 3, 6, 7))
    assert placement.queues == ((0, 1, 4, 5), (2, 3, 6, 7))
    assert (
        placement.text() == "/dev/nvme0n1 is on NUMA node 1 (CPU 2-3,6-7) and has 2 hardware queues"
    )


def test_queues_are_in_the_order_of_their_numbers(machine: Machine) -> None:
    disk = machine.disk(0, "0", [str(number) for number in range(11)])
    assert near.of_device(disk, machine.roots).queues == tuple((number,) for number in range(11))


def test_cpus_of_the_node_come_first_and_cores_before_their_second_threads(
    machine: Machine,
) -> None:
    disk = machine.disk(0, "1", [str(cpu) for cpu in range(8)])
    assert machine.order(disk) == [2, 3, 6, 7, 0, 1, 4, 5]
    assert machine.order(disk, available="01367") == [3, 6, 7, 0, 1]


def test_each_queue_has_a_worker_before_any_has_two(machine: Machine) -> None:
    disk = machine.disk(0, "1", ["0, 1, 2, 3, 4, 5", "6", "7"])
    assert machine.order(disk)[:4] == [2, 6, 7, 3]


def test_devices_take_turns(machine: Machine) -> None:
    first, second = machine.disk(0, "1", []), machine.disk(1, "0", [])
    assert machine.order(first, second) == [2, 0, 3, 1, 6, 4, 7, 5]
    third = machine.disk(2, "1", [])
    assert machine.order(first, third) == [2, 3, 6, 7, 0, 1, 4, 5]


@pytest.mark.parametrize("node", [None, "-1"])
def test_without_a_node_all_are_equally_near(machine: Machine, node: str | None) -> None:
    disk = machine.disk(0, node, [])
    placement = near.of_device(disk, machine.roots)
    assert placement.text() == "/dev/nvme0n1 has no known NUMA node"
    assert machine.order(disk) == list(range(8))


def test_a_disk_below_no_device_names_no_node(machine: Machine) -> None:
    disk = machine.disk(0, "1", ["0"])
    (disk.sysfs / "device").unlink()
    assert near.of_device(disk, machine.roots).node is None


def test_the_remark_names_what_is_far(machine: Machine) -> None:
    placements = [near.of_device(machine.disk(0, "1", ["3"]), machine.roots)]
    assert near.told(placements, [2, 3]) == (
        "--cpus auto: workers on CPU 2-3: /dev/nvme0n1 is on NUMA node 1 (CPU 2-3,6-7) and has 1"
        " hardware queue"
    )
    assert near.told(placements, [2, 0]).endswith("; CPU 0 is on another node, as too few are near")
