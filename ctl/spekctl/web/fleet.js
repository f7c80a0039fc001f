/* SPDX-License-Identifier: GPL-2.0-or-later
 * The parts of the live page that only a fleet has: the hosts of the plan, and the table of the hosts
 * of the run. Texts of hosts become text nodes only. */
"use strict";
globalThis.spekFleet = ({ $, make, say }) => {
	let waiting = false, held = false;
	const rows = new Map();
	const micros = ns => ns === null ? "" : (ns / 1e3).toLocaleString("en-US", { maximumFractionDigits: 1 });
	const rate = value => value.toLocaleString("en-US", { maximumFractionDigits: value < 100 ? 1 : 0 });
	const COLUMNS = [
		["", host => host.stage],
		["n", host => host.at_s === null ? "" : host.at_s.toFixed(1)],
		["n", host => host.at_s === null ? "" : rate(host.iops)],
		["n", host => host.at_s === null ? "" : rate(host.mib_per_s)],
		["n", host => host.at_s === null ? "" : micros(host.p50_ns)],
		["n", host => host.at_s === null ? "" : micros(host.p99_ns)],
		["n", host => host.at_s === null ? "" : micros(host.max_ns)],
		["n", host => host.at_s === null ? "" : host.errors.toLocaleString("en-US")],
		["n", host => host.off_ns === null ? "" : micros(host.off_ns) + " ± " + micros(host.off_bound_ns)],
		["n", host => host.off_ns === null ? "" : host.bound_ns === null ? "not known" : micros(host.bound_ns)],
		["n", host => micros(host.skew_ns)],
		["", host => host.text],
	];
	const fill = (row, host) => {
		row.node.dataset.stage = host.stage;
		COLUMNS.forEach(([, text], at) => {
			const shown = text(host);
			if (row.shown[at] !== shown) say(row.cells[at], row.shown[at] = shown);
		});
	};
	const add = (place, name) => {
		const cells = COLUMNS.map(([kind]) => make("td", { class: kind }));
		const node = make("tr", {}, make("th", { scope: "row", text: name }), ...cells);
		place.append(node);
		return { node, cells, shown: [] };
	};
	/* Over the running hosts, whose figures are current. */
	const sum = hosts => {
		const now = hosts.filter(host => host.stage === "running");
		const most = pick => Math.max(0, ...now.map(pick));
		const all = pick => now.reduce((whole, host) => whole + pick(host), 0);
		return {
			stage: now.length + " running", at_s: now.length ? most(host => host.at_s) : null,
			iops: all(host => host.iops), mib_per_s: all(host => host.mib_per_s), errors: all(host => host.errors),
			p50_ns: most(host => host.p50_ns), p99_ns: most(host => host.p99_ns), max_ns: most(host => host.max_ns),
			off_ns: null, off_bound_ns: null, bound_ns: null, skew_ns: null,
			text: ["late", "lost"].map(stage => [stage, hosts.filter(host => host.stage === stage)])
				.filter(([, who]) => who.length)
				.map(([stage, who]) => stage + ": " + who.slice(0, 8).map(host => host.name).join(", ")
					+ (who.length > 8 ? " and " + (who.length - 8) + " more" : "")).join("; "),
		};
	};
	return {
		prepare: form => {
			say($("fleet-plan"), form.fleet + ": hosts join at " + form.listen
				+ ". Empty fields of this form keep the plan's values, and a host's own options stay as they are.");
			say($("plan-workload"), form.workload);
			document.querySelector("input[name=mode][value=plan]").click();
			$("plan-hosts").replaceChildren(...form.hosts.map(host => make("tr", {},
				make("th", { scope: "row", text: host.name }), make("td", { text: host.role }),
				make("td", { text: host.devices.join(" ") }),
				make("td", { text: host.ssh ? "ssh " + host.ssh : "spekctl fleet join on the host" }),
				make("td", { text: host.options }))));
		},
		waits: () => waiting,
		update: busy => {
			$("claim").disabled = busy;
			say($("start"), waiting ? "Start the waiting hosts" : "Start");
		},
		began: () => {
			waiting = held = false;
			rows.clear();
			$("host-rows").replaceChildren();
			$("host-sum").replaceChildren();
			say($("fleet-skew"), "");
		},
		hosts: event => {
			$("hosts").hidden = false;
			waiting = event.holds;
			if (waiting !== held) {
				held = waiting;
				say($("fleet-skew"), waiting ? "All hosts have claimed their devices and are waiting for the start." : "");
			}
			for (const host of event.hosts) {
				if (!rows.has(host.name)) rows.set(host.name, add($("host-rows"), host.name));
				fill(rows.get(host.name), host);
			}
			if (!rows.has("")) rows.set("", add($("host-sum"), "all"));
			fill(rows.get(""), sum(event.hosts));
		},
		over: event => {
			waiting = held = false;
			say($("fleet-skew"), event.skew_ns === null ? "" : "All hosts started within " + micros(event.skew_ns)
				+ " µs of the planned start, by clocks with the bounds in the table."
				+ (event.samples.length ? " Samples of targets are in " + event.samples.join(", ") + "." : ""));
		},
	};
};
