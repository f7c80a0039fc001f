# SPDX-License-Identifier: GPL-2.0-or-later
"""Enums of the netlink contracts: words for people and files, numbers for the kernel."""

from __future__ import annotations

from enum import StrEnum
from typing import Self

from spekctl.errors import NoKernelSideError


class Coded(StrEnum):
    """The members are in the order of the kernel's numbers, which begin with 0."""

    @property
    def code(self) -> int:
        """The number on the wire."""
        return list(type(self)).index(self)

    @classmethod
    def of(cls, code: int) -> Self:
        """The member with this number."""
        members = list(cls)
        if code >= len(members):
            raise NoKernelSideError(
                f"the kernel module is newer than this spekctl: it sent {cls.__name__} {code}"
            )
        return members[code]
