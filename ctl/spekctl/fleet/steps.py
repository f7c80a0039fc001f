# SPDX-License-Identifier: GPL-2.0-or-later
"""The steps of a campaign on the hosts of a fleet: one claim for all of them, and for each step one
start of all hosts and one result of all of them.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal

import msgspec

from spekctl import units
from spekctl.block.device import Device
from spekctl.campaigns.idle import Idle
from spekctl.documents.result import Result
from spekctl.errors import ExitCode, SpekError
from spekctl.fleet import clock, expected, rests, results
from spekctl.fleet import plan as plans
from spekctl.fleet.coordinator import Coordinator
from spekctl.fleet.leash import Leash
from spekctl.fleet.outcome import Outcome
from spekctl.fleet.plan import Host, Plan
from spekctl.run.beside import View
from spekctl.run.job import Interrupts, Request
from spekctl.workload import meaning
from spekctl.workload.model import WorkloadFile
from spekctl.workload.options import Options


class FleetSteps:
    """A campaign's Hosts. They have joined, and were checked."""

    def __init__(self, coordinator: Coordinator, view: Callable[[], View]) -> None:
        """@view: shows the progress of one step."""
        self._coordinator = coordinator
        self._plan = coordinator.plan
        self._view = view
        self._leash = Leash(coordinator.poll, coordinator.patience.status_s)
        self._holds: Literal["read", "write"] = "read"
        self._has_claimed = False
        self._lost = ""
        self._has_data_errors = False
        self._strayed: list[str] = []
        self._last: Outcome | None = None  # the last step or rest, until it is kept
        # In the order of the plan, in which shared devices are dealt out.
        self._seen = {
            name: list(part.described.devices)
            for name, part in coordinator.parts.items()
            if part.described is not None and part.host.role == "client"
        }

    @property
    def devices(self) -> list[Device]:
        """Those of all hosts, in the order of a result's targets."""
        return [expected.as_device(device) for name in self.names for device in self._seen[name]]

    @property
    def capacity_bytes(self) -> int:
        """Of the devices of all hosts; what several of them reach counts once."""
        bytes_of = {
            device.identity or f"{index} {name}": device.bytes
            for name in self.names
            for index, device in enumerate(self._seen[name])
        }
        return sum(bytes_of.values())

    @property
    def lost(self) -> str:
        """What a step says of hosts that it has lost; empty if there are none."""
        return self._lost

    @property
    def has_data_errors(self) -> bool:
        """Whether a host has read wrong data in a step, in one that has no result as well."""
        return self._has_data_errors

    @property
    def strayed(self) -> str:
        """Clocks that left max_skew in a step; empty if none did."""
        return "; ".join(self._strayed)

    @property
    def unreleased(self) -> str:
        """Hosts whose devices may not be free after the last step; empty if there are none."""
        return self._coordinator.unreleased

    @property
    def names(self) -> list[str]:
        """The hosts that send I/O, in the order of a result."""
        return sorted(self._seen)

    @property
    def title(self) -> str:
        """The hosts, for display."""
        return units.format_count(len(self._seen), "host")

    @property
    def told(self) -> str:
        """What of the plan decides a step, as a resumption compares it."""
        hosts = [
            f"{host.name} (weight {host.weight}"
            + "".join(
                f", {flag} {value}"
                for flag, value in sorted(host.options.items())
                if flag not in plans.OF_COMMAND
            )
            + ")"
            for host in self._plan.hosts
        ]
        return f"{', '.join(hosts)}; {self._plan.share}, seed {self._plan.seed}"

    def request(self, workload: WorkloadFile, given: Options) -> Request:
        """The run as the first host has it, of whose config a result has; @given is of all hosts
        together."""
        plan, host = self._first(workload, given)
        request = expected.request_of(plan, host, self._seen)
        return dataclasses.replace(request, options=given)

    def purge(self, given: Options) -> Request:
        """A step in which each host discards all blocks of its devices, or of its slices of shared
        ones; as the first host has it."""
        from spekctl.run import purge

        workload = purge.workload()
        plan, host = self._first(workload, given)
        rooms = expected.rooms_of(plan, host, self._seen)
        devices = [expected.as_device(each) for each in self._seen[host.name]]
        load = dataclasses.replace(host.load, cpus=None, workers=None)
        can_discard = not self.without_discards
        request = purge.build(workload, devices, rooms, load, can_discard=can_discard)
        config = msgspec.structs.replace(request.config, seed=plan.seed, cpus=[])
        return dataclasses.replace(request, config=config, options=given)

    @property
    def without_discards(self) -> list[str]:
        """Devices that cannot be purged, with their hosts."""
        return [
            f"{device.path} of {name}"
            for name in self.names
            for device in self._seen[name]
            if not device.discards
        ]

    def _first(self, workload: WorkloadFile, given: Options) -> tuple[Plan, Host]:
        """The plan of a step, and its first host."""
        plan = plans.of_step(self._plan, workload, given)
        first, *_ = self.names
        (host,) = (host for host in plan.clients if host.name == first)
        return plan, host

    @contextlib.contextmanager
    def claimed(self, interrupts: Interrupts, write: bool) -> Iterator[None]:
        """The hosts hold their devices from the first step to the end of the block."""
        self._coordinator.interrupts = interrupts
        self._holds = "write" if write else "read"
        try:
            yield
        finally:
            self._leash.slip()
            self._coordinator.release()

    def measure(self, request: Request) -> Result:
        """A step on all hosts. One that has lost a host is incomplete, and its result says so."""
        assert request.options is not None
        plan = dataclasses.replace(
            plans.of_step(self._plan, request.workload, request.options),
            # The only step with a trace: workloads of commands with --fleet have none.
            purge=meaning.replays(request.workload),
        )
        outcome = self._carry_out(plan)
        try:
            result = results.of(outcome, plan)
        except SpekError as error:
            error.say(results.kept_text(error, self._keep_documents(outcome)))
            raise
        if result is None or all(host.run is None for host in result.hosts or ()):
            raise _failure(outcome)
        return result

    def rest(self, request: Request, length_ns: int) -> Idle | None:
        """Time without I/O on all hosts, which hold their devices, with their power; None if the
        user ended it. @request: a step that they could carry out. SpekError if a host is lost, or
        cannot rest."""
        assert request.options is not None
        plan = plans.of_step(self._plan, request.workload, request.options)
        outcome = self._carry_out(dataclasses.replace(plan, rest_ns=length_ns))
        rested = rests.rested_of(outcome.parts)
        known = {name: each.idle for name, each in rested.items() if each.idle is not None}
        if known.keys() != self._seen.keys():
            if self._coordinator.interrupts.count and not outcome.losses:
                return None
            raise _failure(outcome)
        for name, each in rested.items():
            if each.missing:
                self._coordinator.view.note(f"{name}: {each.missing}")
        return rests.together(known, clock.distance().mono_ns(outcome.start_real_ns))

    def keep(self, outcome: Path) -> None:
        """Write the samples of targets in the last step or rest beside its @outcome. SpekError for
        those that cannot be written; the others are."""
        last, self._last = self._last, None
        if last is None:
            return
        kept = results.write_reports(last, outcome)
        if kept.failures:
            first, *more = kept.failures
            first.say("; ".join([first.message, *(each.message for each in more)]))
            raise first

    def _carry_out(self, plan: Plan) -> Outcome:
        """One run of the hosts, from their claim or the next step on it to their results."""
        coordinator = self._coordinator
        self._leash.slip()
        coordinator.view = self._view()
        if self._has_claimed:
            coordinator.again(plan)
        else:
            self._has_claimed = True
            coordinator.take(plan)
            coordinator.prepare(self._holds)
        coordinator.arm()
        coordinator.follow()
        coordinator.collect()
        # Large results take longer to merge and to write than hosts wait for a question.
        self._leash.hold()
        outcome = self._last = coordinator.outcome()
        if outcome.losses:
            self._lost = outcome.text
        if outcome.code is ExitCode.DATA_ERRORS:
            self._has_data_errors = True
        self._strayed += [f"{name}: {text}" for name, text in outcome.strayed.items()]
        return outcome

    def _keep_documents(self, outcome: Outcome) -> results.Kept:
        """Write what the hosts have sent of a step into the folder of the steps."""
        folder = self._coordinator.folder
        # By its run, as a resumption carries out the same step again.
        name = f"unmerged-{outcome.run[:8]}.json"
        return results.write_documents(outcome, folder / name if folder is not None else None)


def _failure(outcome: Outcome) -> SpekError:
    """A step without a result."""
    failure = SpekError(outcome.text)
    failure.exit_code = outcome.code
    return failure
