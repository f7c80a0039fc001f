# SPDX-License-Identifier: GPL-2.0
"""What the fork server imports for its processes, all of which find the same."""

from __future__ import annotations

import importlib
import os

# What every host of a fleet imports, at once or when it is asked.
IMPORTS = (
    "cryptography.x509",
    "lib.fakes.fleet_host",
    "spekctl.fleet.engine",
    "spekctl.fleet.join",
    "spekctl.fleet.member",
    "spekctl.log.tally",
    "spekctl.run.replay_request",
    "spekctl.run.observe",
    "tornado.platform.asyncio",
)

for module in IMPORTS:
    importlib.import_module(module)
IMPORTER = os.getpid()
