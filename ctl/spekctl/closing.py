# SPDX-License-Identifier: GPL-2.0-or-later
"""What is closed at the end of its with block."""

from __future__ import annotations

import abc
from typing import Self


class Closing(abc.ABC):
    """Closed at the end of its with block."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @abc.abstractmethod
    def close(self) -> None:
        """End it and all that it owns."""
