# SPDX-License-Identifier: GPL-2.0-or-later
"""The agent of a program that drives spek: carries out its jobs without rights, through the host.

`python -m spekctl.host.agent COMMAND...`, with the command that starts the host as root. Started by
root, it becomes an ordinary user once the host is there.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Sequence

from spekctl.errors import SpekError
from spekctl.host import privilege, standard
from spekctl.host.remote import Remote
from spekctl.host.serve import Host
from spekctl.kernel import client, link


def main(words: Sequence[str]) -> int:
    """Serve standard input and output; @words: the host's command."""
    needs_host = False

    def lost(reason: str) -> None:
        """The host is gone, and with it the run: so is what this program is for."""
        if needs_host:
            print(f"spekctl: {reason}", file=sys.stderr, flush=True)
            os.kill(os.getpid(), signal.SIGTERM)

    try:
        remote = Remote(words, lost)
        remote.helper.wait_ready()
        if os.geteuid() == 0:
            privilege.drop(privilege.user_to_be())
    except SpekError as error:
        print(f"spekctl: {error.message}", file=sys.stderr)
        return int(error.exit_code)
    link.reach_by(remote.open_socket)
    needs_host = True
    try:
        # It may have gone before anybody looked.
        remote.helper.check_alive()
        return standard.serve(lambda stream: Host(stream, client.connect, remote))
    finally:
        needs_host = False
        remote.close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
