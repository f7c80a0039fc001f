# SPDX-License-Identifier: GPL-2.0
"""Messages on their way to a peer, who may be gone."""

from __future__ import annotations

import contextlib
import io
import os

from spekctl.host.output import Output
from spekctl.host.wire import News


def test_a_message_is_written_whole() -> None:
    stream = io.BytesIO()
    Output(stream, lambda: None).send(News(3))
    assert stream.getvalue() == b'{"event":"news","link":3}\n'


def test_it_is_noticed_that_nobody_reads() -> None:
    down, up = os.pipe()
    os.close(down)
    missed = []
    stream = os.fdopen(up, "wb")
    output = Output(stream, lambda: missed.append(1))
    output.send(News(3))
    assert missed == [1]
    with contextlib.suppress(BrokenPipeError):
        stream.close()
    output.send(News(4))
    assert missed == [1, 1]
