# SPDX-License-Identifier: GPL-2.0-or-later
"""The rails file of spek-daq: read, and changed in place without touching what else is in it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spekctl import files
from spekctl.errors import UsageError
from spekctl.suggest import did_you_mean

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

# As in daq/calibrate.h.
ZERO_UV = 2_500_000
SENS_UV_PER_A = 104_167
UNPLUGGED_UV = 400_000


@dataclass(frozen=True, slots=True)
class Rail:
    """One [[rail]] as spek-daq understands it."""

    name: str
    channel: str
    voltage_mv: int | None
    voltage_channel: str | None
    zero_uv: int
    sens_uv_per_a: int
    turns: int


class RailsFile:
    """A rails file. spek-daq judges what is in it (spek-daq --check); this reads and edits."""

    def __init__(self, path: Path) -> None:
        import tomlkit
        from tomlkit.exceptions import TOMLKitError

        self.path = path
        try:
            self._document: TOMLDocument = tomlkit.parse(path.read_text(encoding="utf-8"))
        except FileNotFoundError as error:
            raise UsageError(f"there is no rails file {path}") from error
        except UnicodeDecodeError as error:
            raise UsageError(f"cannot read {path}: it is not UTF-8 text") from error
        except OSError as error:
            raise UsageError(f"cannot read {path}: {error.strerror}") from error
        # A duplicate key, or a number too long for Python, does not raise ParseError.
        except (TOMLKitError, ValueError) as error:
            raise UsageError(f"{path}: {error}") from error
        except RecursionError as error:
            raise UsageError(f"{path}: it is nested too deeply") from error

    @property
    def source(self) -> str:
        """The source named in the file, or an empty string."""
        return str(self._document.get("source", ""))

    def _tables(self) -> list[Any]:
        tables = self._document.get("rail", [])
        if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
            raise UsageError(f"{self.path}: 'rail' has to be a list of tables, each [[rail]]")
        return tables

    @property
    def rails(self) -> list[Rail]:
        """All rails, in order."""
        return [self._rail(table) for table in self._tables()]

    def _rail(self, table: Any) -> Rail:
        def number(key: str, default: int | None) -> int | None:
            value = table.get(key, default)
            if value is not None and (not isinstance(value, int) or isinstance(value, bool)):
                raise UsageError(f"{self.path}: '{key}' has to be a whole number, not {value}")
            return None if value is None else int(value)

        name = str(table.get("name", ""))
        if not name:
            raise UsageError(f"{self.path}: a rail has no name")
        voltage_channel = table.get("voltage_channel")
        return Rail(
            name=name,
            channel=str(table.get("channel", name)),
            voltage_mv=number("voltage_mv", None),
            voltage_channel=None if voltage_channel is None else str(voltage_channel),
            zero_uv=number("zero_uv", ZERO_UV) or 0,
            sens_uv_per_a=number("sens_uv_per_a", SENS_UV_PER_A) or 0,
            turns=number("turns", 1) or 0,
        )

    def rail(self, name: str) -> Rail:
        """The rail of that name."""
        rails = {rail.name: rail for rail in self.rails}
        if name not in rails:
            known = ", ".join(rails) or "none"
            raise UsageError(
                f"there is no rail '{name}' in {self.path}{did_you_mean(name, rails)}"
                f" (there are: {known})"
            )
        return rails[name]

    def change(self, name: str, **values: int) -> None:
        """Set numbers of a rail; write() puts them into the file."""
        for table in self._tables():
            if str(table.get("name", "")) == name:
                for key, value in values.items():
                    table[key] = value

    def write(self) -> None:
        """Replace the file atomically; comments, order and permissions are kept."""
        import tomlkit

        files.write(self.path, tomlkit.dumps(self._document).encode())
