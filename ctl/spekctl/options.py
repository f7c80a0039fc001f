# SPDX-License-Identifier: GPL-2.0
"""Parameter types of the command line."""

from __future__ import annotations

import click

from spekctl import units
from spekctl.errors import UsageError


class Duration(click.ParamType):  # type: ignore[type-arg]
    """``10s`` as nanoseconds."""

    name = "TIME"

    def __init__(self, bare_seconds: bool = True) -> None:
        self.bare_seconds = bare_seconds

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        if isinstance(value, int):
            return value
        try:
            return units.parse_duration_ns(str(value), bare_seconds=self.bare_seconds)
        except UsageError as error:
            self.fail(error.message, param, ctx)


class Size(click.ParamType):  # type: ignore[type-arg]
    """``64KiB`` as bytes."""

    name = "SIZE"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        if isinstance(value, int):
            return value
        try:
            return units.parse_size(str(value))
        except UsageError as error:
            self.fail(error.message, param, ctx)


class CpuList(click.ParamType):  # type: ignore[type-arg]
    """``0-3,8`` as CPU numbers."""

    name = "LIST"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[int]:
        if isinstance(value, list):
            return value
        try:
            return units.parse_cpu_list(str(value))
        except UsageError as error:
            self.fail(error.message, param, ctx)


DURATION = Duration()
DURATION_WITH_UNIT = Duration(bare_seconds=False)
SIZE = Size()
CPU_LIST = CpuList()
