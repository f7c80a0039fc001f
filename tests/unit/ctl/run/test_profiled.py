# SPDX-License-Identifier: GPL-2.0
"""What a run leaves for the host's profile."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.verdicts import measured

from spekctl import files
from spekctl.documents.profile import ProfiledRun
from spekctl.run import profiled
from spekctl.vm import marks


def test_a_run_is_profiled_where_the_environment_says_so(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv(marks.VARIABLE, raising=False)
    assert profiled.wanted() is None
    monkeypatch.setenv(marks.VARIABLE, str(tmp_path))
    profile = profiled.wanted()
    assert profile is not None
    profile.mark()
    result = measured(1)
    monkeypatch.setattr(marks, "copy_names", lambda folder: (folder / marks.KALLSYMS).touch())
    profile.save(result)
    run = files.decode((tmp_path / profiled.RUN).read_bytes(), ProfiledRun)
    assert run.kernel == result.environment.kernel
    assert run.ios == sum(phase.ios for phase in result.phases) > 0
    assert (tmp_path / marks.KALLSYMS).exists()
