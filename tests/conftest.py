# SPDX-License-Identifier: GPL-2.0
"""Tests in tests/guest run in a virtual machine; this file only picks the half that is needed.

On the host, lib.guest_host boots one guest for each kernel and reports what the pytest inside
it finds. Inside, lib.guest_inside writes the reports and watches the kernel's messages.
"""

import os

pytest_plugins = ["lib.guest_inside" if os.environ.get("SPEK_GUEST") else "lib.guest_host"]
