# SPDX-License-Identifier: GPL-2.0-or-later
"""KVM or TCG. /dev/kvm may exist and still not run an ordinary kernel, so it is tried."""

from __future__ import annotations

import json
import os
import platform
import sys
from pathlib import Path

from spekctl.errors import UsageError
from spekctl.vm.cache import cache_dir
from spekctl.vm.kernels import Kernel

KVM, TCG = "kvm", "tcg"
PROBE_LIMIT_S = 30.0


def _machine_key(kernel: Kernel) -> str:
    """What the answer depends on: this machine, its kernel, the guest's kernel."""
    try:
        machine = Path("/etc/machine-id").read_text().strip()
    except OSError:
        machine = platform.node()
    return f"{machine}/{platform.release()}/{kernel.release}"


def _may_use_kvm() -> bool:
    return os.access("/dev/kvm", os.R_OK | os.W_OK)


def choose_accel(kernel: Kernel) -> str:
    """How to run @kernel here: $SPEK_ACCEL, what an earlier boot has shown, or a boot now."""
    wanted = os.environ.get("SPEK_ACCEL", "").lower()
    if wanted:
        if wanted not in (KVM, TCG):
            raise UsageError(f"SPEK_ACCEL is '{wanted}'; it must be kvm or tcg")
        if wanted == KVM and not _may_use_kvm():
            raise UsageError("SPEK_ACCEL is kvm, but /dev/kvm is missing or not open to this user")
        return wanted
    if not _may_use_kvm():
        return TCG
    store = cache_dir() / "accel.json"
    try:
        answers: dict[str, str] = json.loads(store.read_text())
    except (OSError, ValueError):
        answers = {}
    key = _machine_key(kernel)
    if answers.get(key) not in (KVM, TCG):
        answers[key] = KVM if _boots_with_kvm(kernel) else TCG
        scratch = store.with_suffix(f".{os.getpid()}")
        scratch.write_text(json.dumps(answers, indent=1))
        scratch.replace(store)
    return answers[key]


def _boots_with_kvm(kernel: Kernel) -> bool:
    from spekctl.vm.runner import Guest, run_guest

    print(f"spekctl: trying KVM with {kernel.release} (once)", file=sys.stderr, flush=True)
    guest = Guest(kernel, ["true"], accel=KVM, cpus=1, memory="512M", limit_s=PROBE_LIMIT_S)
    outcome = run_guest(guest, quiet=True)
    if outcome.exit_status == 0:
        return True
    print("spekctl: KVM does not work here, guests run under TCG", file=sys.stderr, flush=True)
    return False
