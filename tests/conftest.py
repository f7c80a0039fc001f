# SPDX-License-Identifier: GPL-2.0
"""Tests in tests/guest run in a virtual machine; this file only picks the half that is needed.

On the host, lib.harness.host boots one guest for each kernel and reports what the pytest inside
it finds. Inside, lib.harness.inside writes the reports and watches the kernel's messages.
"""

import os
import sys

if not os.environ.get("SPEK_GUEST"):
    from hypothesis import HealthCheck, settings

    # The same examples each time, however long a loaded machine takes for one;
    # --hypothesis-profile=explore looks for others.
    slow = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.register_profile("explore", slow)
    settings.register_profile("repeatable", slow, derandomize=True)
    settings.load_profile("repeatable")

# The PATH of an ordinary user may lack the directories of mkfs.ext4, mkswap and dkms.
os.environ["PATH"] += ":/usr/sbin:/sbin"

# What the host's pytest makes of the test files spares the guests' the work.
sys.dont_write_bytecode = False
pytest_plugins = ["lib.harness.inside" if os.environ.get("SPEK_GUEST") else "lib.harness.host"]
