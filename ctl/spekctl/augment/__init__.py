# SPDX-License-Identifier: GPL-2.0-or-later
"""The augment cache: an SSD in front of a RAID whose disks may sleep (kmod/augment)."""
