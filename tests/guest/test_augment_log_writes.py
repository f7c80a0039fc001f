# SPDX-License-Identifier: GPL-2.0
"""spek_augment.ko on a disk whose writes are logged: from the disk as it was at each flush, with or
without part of what waited for it, the cache recovers all that was acknowledged as durable.

Some disks of a load in `make test`; `make augment-guest-log-writes REPLAYS=1000` compares as many
as wanted, all of each load, and says after each load how far it has come, in
out/tests/guest-6.1/output-1.log. What a flush of one disk for all cannot show is in
augment_log_writes.py.
"""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator

import pytest
from guest.augment_log_writes import Replays
from lib.guest.disks import udev_at_rest

pytestmark = [pytest.mark.any_kernel, pytest.mark.usefixtures("augment_module")]

REPLAYS = int(os.environ.get("SPEK_AUGMENT_REPLAYS", "0"))
FEW, STRIDE = 8, 3
SEED = int(os.environ.get("SPEK_AUGMENT_SEED", "1"))


@pytest.fixture(scope="module", autouse=True)
def udev_rests() -> Iterator[None]:
    """Each disk compared is a device that comes and goes."""
    with udev_at_rest():
        yield


def test_what_was_flushed_is_in_the_log(
    record_property: Callable[[str, object], None], capfd: pytest.CaptureFixture[str]
) -> None:
    def say(replays: Replays) -> None:
        """How far it has come, in the guest's output."""
        with capfd.disabled():
            print(replays, flush=True)

    replays = Replays(random.Random(SEED), stride=1 if REPLAYS else STRIDE)
    replays.run(REPLAYS or FEW, say)
    assert replays.partial and replays.repeated
    record_property("count", str(replays))


def test_flushes_that_are_not_sent_are_noticed() -> None:
    """A comparison that lets that pass would prove nothing."""
    with pytest.raises(AssertionError, match="may hold"):
        Replays(random.Random(SEED), ignores_flushes=True).run(1)
