# SPDX-License-Identifier: GPL-2.0-or-later
"""The virtual rig: a throw-away guest for any kernel, shared by `spekctl vm` and the guest tests.

kernels.py     which kernel: installed, unpacked in the cache, or a build directory
modules.py     our modules, built for that kernel, kept in the cache
disks.py       what a guest gets to test: null_blk, scsi_debug, nvme, virtio
bytecode.py    Python's bytecode, made before a guest needs it
clock.py       how a guest tells that its clock counts instructions
accel.py       KVM or TCG: found out by booting, remembered
virtme_run.py  virtme-run, with a root file system that guests cache
runner.py      starts QEMU through virtme-ng, carries output, signals and the exit status
guest_side.py  the same, seen from inside
"""
