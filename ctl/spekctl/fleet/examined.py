# SPDX-License-Identifier: GPL-2.0-or-later
"""Findings about the hosts of a plan before a run, each with its remedy.

of_host() has what the check of a run refuses, with its sentences: the run and `spekctl doctor
--fleet` give one verdict. What a host itself refuses later, when it claims its devices, is in
of_claim().
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator, Mapping, Sequence

from spekctl import units
from spekctl.errors import ExitCode, UsageError
from spekctl.fleet import expected, slices, wire
from spekctl.fleet.clocks import REMEDY, HostClocks
from spekctl.fleet.outcome import Part
from spekctl.fleet.plan import Host, Plan, writes
from spekctl.fleet.wire import Described, DeviceSeen, Lack, Unread
from spekctl.run.conditions import Finding, Level
from spekctl.workload import meaning

_SUDOERS = "add the line that `spekctl fleet init` prints, by visudo -f /etc/sudoers.d/spek"
_REMEDY_PROBER = "modprobe spek_prober"
_LAST_DAY = datetime.timedelta(days=1)
_REMEDY_OF = {
    Lack.RIGHTS: _SUDOERS,
    Lack.MODULE: "modprobe spek, or modprobe spek_prober on a target; `spekctl doctor` there",
    Lack.DEVICE: "`spekctl devices` there lists what the plan may name",
}
_REMEDY_READ = "the kernel log there may have the error"
_UNKNOWN = {
    Unread.OPEN: "a program has it open for writing",
    Unread.FAILED: "it cannot be read",
    Unread.UNLISTED: "`spekctl devices` does not list it; the run's claim looks at it",
}


def absent(host: Host, why: str, code: ExitCode = ExitCode.REFUSED) -> Finding:
    """A host that does not answer, or has not joined."""
    remedy = "see the output of `spekctl fleet join` there"
    if code is ExitCode.REFUSED:
        remedy = "start `spekctl fleet join` there" + (
            "" if host.ssh else ", or write ssh in [[host]]"
        )
    return Finding(host.name, "reach", "stops", why, remedy, code)


def reached(part: Part, address: str) -> Finding:
    """A host that has joined from @address."""
    planned = part.host.address
    if planned not in ("", address):
        text = f"it has joined from {address}, and the plan has {planned}"
        return _stops(part.name, "reach", text, "correct address in [[host]]")
    return _ok(part.name, "reach", f"{part.host.role}, joined from {address}")


def of_host(
    part: Part, described: Described, fleet: str, clocks: HostClocks, max_skew_ns: int | None
) -> Iterator[Finding]:
    """What a host has said of itself. @fleet: the fleet of the controller's certificate."""
    name = part.name
    if described.name != name:
        yield _stops(name, "identity", f"it says that it is {described.name}")
        return
    if described.fleet != fleet:
        yield _stops(name, "certificate", f"it is of another fleet, {described.fleet}")
        return
    if refusal := wire.other_version(described):
        yield _stops(name, "version", refusal, "install the same version everywhere")
        return
    if described.keys_end_s:
        yield certificate(name, datetime.datetime.fromtimestamp(described.keys_end_s, datetime.UTC))
    module = f"spek {described.module_version}" if described.module_version else "no spek"
    yield _ok(name, "version", f"spekctl {described.version}, {module}, Linux {described.kernel}")
    if described.lacks is not Lack.RIGHTS:
        yield _ok(name, "rights", "its helper has root's rights, without a password")
    if described.trouble:
        check = described.lacks or "host"
        yield _stops(name, check, described.trouble, _REMEDY_OF.get(described.lacks, ""))
    for device in described.devices:
        if device.in_use:
            text = f"{device.path} is in use: {device.in_use}"
            yield _stops(name, "device", text, "unmount it, or remove it from its user")
        else:
            level: Level = "note" if device.unread else "ok"
            remedy = _REMEDY_READ if device.unread is Unread.FAILED else ""
            text = f"{device_text(device)}; {_state_text(device)}"
            yield Finding(name, "device", level, text, remedy)
    yield _clock(name, described, clocks, max_skew_ns)


def of_claim(plan: Plan, part: Part, described: Described) -> Iterator[Finding]:
    """What the host refuses when it claims its devices, as far as its description tells: nothing,
    where no helper has looked."""
    if described.lacks is Lack.RIGHTS:
        return
    name, host = part.name, part.host
    # Only hosts have read a trace, and know whether it writes.
    if host.role == "client" and writes(plan.workload) and not meaning.replays(plan.workload):
        for device in described.devices:
            yield from _written(name, device, host.destroy)
    if host.role == "client" and host.measuring.no_prober:
        return
    if described.feeds is None:
        text = "no prober: there are no system statistics and no power"
        if host.power_feeds:
            yield _stops(name, "power", f"{text}, and the plan has power_feeds", _REMEDY_PROBER)
        elif host.role == "client":
            yield Finding(name, "power", "spoils", text, _REMEDY_PROBER)
        return
    missing = [feed for feed in host.power_feeds if feed not in described.feeds]
    listed = ", ".join(described.feeds) or "none"
    if missing:
        text = f"power feeds of the plan are not open: {', '.join(missing)}; open are: {listed}"
        yield _stops(name, "power", text, "start spek-daq there; `spekctl power` lists feeds")
    else:
        level: Level = "ok" if described.feeds else "note"
        yield Finding(name, "power", level, f"open power feeds: {listed}")


def of_fleet(plan: Plan, seen: Mapping[str, Sequence[DeviceSeen]]) -> Iterator[Finding]:
    """What follows from the devices of all hosts that have described theirs."""
    try:
        remarks = slices.remarks(plan, seen)
        slices.of(plan, seen)
    except UsageError as error:
        yield Finding("plan", "devices", "stops", error.message, "", ExitCode.USAGE)
        return
    for text in remarks:
        yield Finding("plan", "devices", "note", text)


def certificate(name: str, ends: datetime.datetime) -> Finding:
    """The certificate of a member of the fleet, which expires at @ends."""
    text = f"of this fleet, valid until {ends:%Y-%m-%d %H:%M} UTC"
    if ends - datetime.datetime.now(datetime.UTC) < _LAST_DAY:
        return Finding(name, "certificate", "note", text, "make new keys with `spekctl fleet init`")
    return _ok(name, "certificate", text)


def device_text(device: DeviceSeen) -> str:
    """A device as the plan names it, and as its host has it."""
    return (
        f"{device.selector}: {device.path}, {units.format_bytes(device.bytes)},"
        f" serial {device.serial or '-'}, WWN {device.wwn or '-'}"
    )


def _state_text(device: DeviceSeen) -> str:
    """Whether a run may use a device, and whether somebody has seen what is on it."""
    if device.in_use:
        return f"in use: {device.in_use}"
    if device.unread:
        return f"free, but whether it holds data is unknown: {_UNKNOWN[device.unread]}"
    return "free"


def clock_text(described: Described) -> str:
    """The error bound of a host's clock, and its source."""
    bound_ns = described.clock.bound_ns
    known = f"within {units.format_ns(bound_ns)}" if bound_ns is not None else "not known"
    return f"{known} ({described.clock.source})"


def _clock(name: str, described: Described, clocks: HostClocks, max_skew_ns: int | None) -> Finding:
    if refusal := clocks.refusal(name, described.clock, max_skew_ns):
        return _stops(name, "clock", refusal, REMEDY)
    text = clock_text(described)
    if skew := clocks.known(name):
        side = "ahead of" if skew.ns > 0 else "behind"
        text += (
            f", {units.format_ns(abs(skew.ns))} {side} the controller's, give or take"
            f" {units.format_ns(skew.bound_ns)}"
        )
    if max_skew_ns is not None:
        return _ok(name, "clock", f"{text}; max_skew = {units.format_ns(max_skew_ns)}")
    if described.clock.bound_ns is None:
        text += "; the plan has no max_skew, so starts may be apart by any time"
        return Finding(name, "clock", "note", text, f"{REMEDY}, and write max_skew in [fleet]")
    return _ok(name, "clock", f"{text}; the plan has no max_skew")


def _written(name: str, device: DeviceSeen, destroy: Sequence[str]) -> Iterator[Finding]:
    if device.in_use:
        return
    if device.unwritable:
        yield _stops(name, "writing", f"{device.path} cannot be written: {device.unwritable}")
    elif device.unread is Unread.FAILED:
        text = f"{device.path} cannot be read, so its data are unknown, and no run overwrites it"
        yield _stops(name, "writing", text, _REMEDY_READ)
    elif device.data and not any(map(expected.as_device(device).is_named_by, destroy)):
        held = ", ".join(device.data)
        remedy = "name its serial or WWN in destroy of [[host]] to overwrite it"
        yield _stops(name, "writing", f"{device.path} holds data: {held}", remedy)


def _stops(subject: str, check: str, text: str, remedy: str = "") -> Finding:
    return Finding(subject, check, "stops", text, remedy, ExitCode.REFUSED)


def _ok(subject: str, check: str, text: str) -> Finding:
    return Finding(subject, check, "ok", text)


def checked_lines(parts: Iterable[Part]) -> Iterator[str]:
    """What the check found out about each host."""
    for part in parts:
        described = part.described
        if described is None:
            yield f"{part.name}: it has not answered"
            continue
        module = f"spek {described.module_version}" if described.module_version else "no spek"
        yield (
            f"{part.name}: spekctl {described.version}, {module}, Linux {described.kernel}; clock"
            f" {clock_text(described)}"
        )
        for device in described.devices:
            yield f"  {device_text(device)}; {_state_text(device)}"
