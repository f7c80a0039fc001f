# SPDX-License-Identifier: GPL-2.0-or-later
"""The buckets of documents.histogram for arrays of times."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spekctl.documents.histogram import HIST_BITS, HIST_MAX_BITS, last_bucket
from spekctl.kernel.records import Histogram

if TYPE_CHECKING:
    from numpy.typing import NDArray

# Times from a log are counted in the buckets of the module.
BITS = HIST_BITS
NR_BUCKETS = last_bucket(BITS) + 1


def index(ns: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Bucket of each time; bucket_index() for arrays."""
    bounded = np.minimum(ns, np.uint64((1 << HIST_MAX_BITS) - 1))
    # Below 2^53 a double is exact, so its exponent is the top bit.
    top = np.frexp(bounded.astype(np.float64))[1].astype(np.int64) - 1
    shift = np.maximum(top, BITS) - BITS
    bucket: NDArray[np.int64] = (shift << BITS) + (bounded.astype(np.int64) >> shift)
    return bucket


def histogram(ns: NDArray[np.uint64]) -> Histogram | None:
    """Times as a histogram; None without any."""
    if not len(ns):
        return None
    counts = np.bincount(index(ns), minlength=NR_BUCKETS)
    used = {int(bucket): int(counts[bucket]) for bucket in np.flatnonzero(counts)}
    return Histogram(BITS, used, exact_sum(ns), int(ns.min()), int(ns.max()))


def exact_sum(ns: NDArray[np.uint64]) -> int:
    """Sum of times, of which millions may be hours: it may pass 2^64 ns. By halves of 32 bits,
    which 2^32 times do not overflow."""
    half = np.uint64(32)
    return (int((ns >> half).sum()) << 32) + int((ns & np.uint64(0xFFFF_FFFF)).sum())
