# SPDX-License-Identifier: GPL-2.0
"""Parts of the study of paper 003."""

from __future__ import annotations

from spekctl.documents.drive import DriveStudy, StudyArrays


def arrays_of(made: DriveStudy, interarrival_ms: float, footprint: float) -> StudyArrays:
    """The arrays under this load, on this share of each drive."""
    wanted = (interarrival_ms, footprint)
    return next(one for one in made.arrays if (one.interarrival_ms, one.footprint) == wanted)
