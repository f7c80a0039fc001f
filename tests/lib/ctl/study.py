# SPDX-License-Identifier: GPL-2.0
"""The study of paper 003 with few requests, and its parts."""

from __future__ import annotations

import functools

from spekctl.campaigns.paper003 import study
from spekctl.documents.drive import DriveStudy, StudyArrays


@functools.cache
def short_study() -> DriveStudy:
    """Of 4000 requests for each load; made once, as it takes seconds."""
    return study.study(4000, 1, lambda what: None)


def arrays_of(study: DriveStudy, interarrival_ms: float, footprint: float) -> StudyArrays:
    """The arrays under this load, on this share of each drive."""
    wanted = (interarrival_ms, footprint)
    return next(
        array for array in study.arrays if (array.interarrival_ms, array.footprint) == wanted
    )
