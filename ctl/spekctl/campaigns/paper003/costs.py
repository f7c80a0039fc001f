# SPDX-License-Identifier: GPL-2.0-or-later
"""Table 9(a) of paper 003: the material of a drive by its arms, and what arrays of it cost.

Prices are the paper's, in US dollars of 2008. Lowest and highest prices are added up by themselves,
as the paper does.
"""

from __future__ import annotations

from dataclasses import dataclass

from spekctl.documents.drive import StudyCost

Cents = tuple[int, int]  # lowest and highest


@dataclass(frozen=True, slots=True)
class Component:
    """A part of a drive: its price, and how many a drive has, in all and for each arm assembly.

    @priced: prices of drives with 1, 2 and 4 arms where they are no multiple of one.
    """

    name: str
    price: Cents
    fixed: int = 0
    per_arm: int = 0
    priced: tuple[Cents, Cents, Cents] | None = None

    def of_drive(self, arms: int) -> Cents:
        """Its price in a drive with this number of arms."""
        if self.priced is not None:
            return self.priced[ARMS.index(arms)]
        count = self.fixed + self.per_arm * arms
        return self.price[0] * count, self.price[1] * count


ARMS = (1, 2, 4)
# A drive of four platters. The paper has four suspensions for an arm, and eight heads.
COMPONENTS = (
    Component("media", (600, 700), fixed=4),
    Component("spindle motor", (500, 1000), fixed=1),
    Component("voice-coil motor", (100, 200), per_arm=1),
    Component("head suspension", (50, 90), per_arm=4),
    Component("head", (300, 300), per_arm=8),
    Component("pivot bearing", (300, 300), per_arm=1),
    Component("disk controller", (400, 500), fixed=1),
    Component("motor driver", (350, 400), priced=((350, 400), (500, 600), (800, 1000))),
    Component("preamplifier", (120, 120), per_arm=1),
)
# Drives and arms of equal performance, by section 7.3.
EQUAL = ((4, 1), (2, 2), (1, 4))


def of_drive(arms: int) -> tuple[float, float]:
    """The lowest and the highest cost of a drive in dollars."""
    prices = [component.of_drive(arms) for component in COMPONENTS]
    low, high = (sum(side) for side in zip(*prices, strict=True))
    return low / 100, high / 100


def arrays() -> list[StudyCost]:
    """Figure 9(b): arrays that perform alike."""
    return [
        StudyCost(f"{drives} x {_name(arms)}", drives, arms, *of_drive(arms))
        for drives, arms in EQUAL
    ]


def _name(arms: int) -> str:
    return "conventional" if arms == 1 else f"{arms}-actuator"
