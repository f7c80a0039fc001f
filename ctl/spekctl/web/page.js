/* SPDX-License-Identifier: GPL-2.0-or-later
 * The live page: a form for a run, its course, and the documents of a directory. Texts of devices,
 * workloads and files become text nodes only.
 * The token comes in the fragment of the address and is kept in this script's memory only, so that
 * the browser sends it to no other server of this host and writes it to no disk. */
(() => {
	"use strict";
	const $ = id => document.getElementById(id);
	/* As report/words.py: what is invisible or reorders other characters is shown as an escape. */
	const clean = text => String(text).replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, character =>
		character === "\n" || character === "\t" ? character : "\\u" + character.codePointAt(0).toString(16).padStart(4, "0"));
	const say = (node, text) => { node.textContent = clean(text); return node; };
	const make = (tag, fields = {}, ...inside) => {
		const node = document.createElement(tag);
		for (const [name, value] of Object.entries(fields)) {
			if (name === "text") say(node, value);
			else if (value === true) node.setAttribute(name, "");
			/* An option without a value has its text as one. */
			else if (value !== false && (value !== "" || name === "value")) node.setAttribute(name, value);
		}
		node.append(...inside);
		return node;
	};
	const lines = text => text.split("\n").map(line => line.trim()).filter(line => line);

	const tokenOf = () => new URLSearchParams(location.hash.slice(1)).get("token");
	const token = tokenOf() || "";
	if (token) history.replaceState(null, "", location.pathname);
	/* The address was opened again where the page is already. */
	addEventListener("hashchange", () => { if (tokenOf()) location.reload(); });
	const request = (place, headers, fields) => fetch(place, {
		...fields, headers: { ...headers, Authorization: "Bearer " + token }, credentials: "omit",
	});

	const ask = async (place, body) => {
		let answer;
		try {
			answer = await (body === undefined ? request(place) : request(place,
				{ "Content-Type": "application/json" }, { method: "POST", body: JSON.stringify(body) }));
		} catch {
			throw new Error("the server does not answer");
		}
		const value = await answer.json();
		if (!answer.ok) throw new Error(value.error);
		return value;
	};
	/* Runs an action of a button; its failure becomes a sentence in @place. */
	const guarded = (button, place, action) => async event => {
		if (event) event.preventDefault();
		say(place, "");
		if (button) button.disabled = true;
		try {
			await action();
		} catch (error) {
			say(place, error.message);
		} finally {
			if (button) button.disabled = false;
			update();
		}
	};

	/* The parts of fleet.js, for a server with --fleet; null on a server of one machine. */
	const fleet = globalThis.spekFleet ? spekFleet({ $, make, say }) : null;

	/* ---- the form ---- */

	const FIRST = ["time", "depth", "rate", "ramp", "interval"];
	let form = { workloads: [], stream: [], options: [], measuring: [] };
	const controls = { stream: new Map(), options: new Map() };

	const control = (group, field) => {
		const id = group + "-" + field.name;
		const common = { id, "aria-describedby": id + "-help" };
		let node;
		if (field.control === "choice") {
			node = make("select", common, make("option", { value: "", text: field.hint ? "default (" + field.hint + ")" : "default" }),
				...field.choices.map(choice => make("option", { value: choice, text: choice })));
		} else if (field.control === "lines") {
			node = make("textarea", { ...common, rows: 1, placeholder: field.hint });
		} else {
			const check = field.control === "check";
			node = make("input", { ...common, type: check ? "checkbox" : "text", placeholder: check ? "" : field.hint, spellcheck: "false" });
		}
		controls[group].set(field.name, { field, node });
		const label = make("label", { for: id, text: group === "options" ? "--" + field.name : field.name });
		const help = make("small", { id: id + "-help", text: field.help });
		return make("div", {}, label, node, help);
	};

	const valueOf = ({ field, node }) => {
		if (field.control === "check") return node.checked || undefined;
		if (field.control === "lines") return lines(node.value).length ? lines(node.value) : undefined;
		return node.value.trim() || undefined;
	};

	const mode = () => document.querySelector("input[name=mode]:checked").value;
	const showMode = () => {
		for (const part of document.querySelectorAll("[data-mode]")) part.hidden = part.dataset.mode !== mode();
	};
	const setMode = name => {
		document.querySelector("input[name=mode][value=" + name + "]").checked = true;
		showMode();
	};
	const summarize = () => {
		const shipped = form.workloads.find(([name]) => name === $("workload").value);
		say($("summary"), shipped ? shipped[1] : "");
	};

	/* Ids of the ticked devices by path: a path may come to mean another device. */
	const ticked = () => Object.fromEntries([...document.querySelectorAll("#devices input:checked")].map(box => [box.value, box.dataset.id]));

	const job = () => {
		const body = { options: {} };
		if (!fleet) {
			body.ids = ticked();
			body.devices = Object.keys(body.ids);
		}
		if (mode() === "plan") {
			body.of_plan = true;
		} else if (mode() === "shipped") {
			body.workload = $("workload").value;
			body.settings = lines($("settings").value);
		} else if (mode() === "text") {
			if (!$("toml").value.trim()) throw new Error("the text of the workload is empty");
			body.toml = $("toml").value;
		} else {
			body.settings = [];
			for (const [name, input] of controls.stream)
				if (valueOf(input) !== undefined) body.settings.push("stream.main." + name + "=" + valueOf(input));
		}
		for (const [name, input] of controls.options)
			if (valueOf(input) !== undefined) body.options[name] = valueOf(input);
		body.destroy = lines($("destroy").value);
		return body;
	};

	const showPlan = plan => {
		$("plan").hidden = false;
		say($("plan-name"), plan.name + (plan.writes ? ", writes to its devices" : ", only reads"));
		if ($("plan-command")) say($("plan-command"), "spekctl " + plan.command.map(word => /^[\w@%+=:,./-]+$/.test(word) ? word : "'" + word.replaceAll("'", "'\\''") + "'").join(" "));
		say($("plan-toml"), plan.toml);
		$("plan-remarks").replaceChildren(...plan.remarks.map(remark => make("li", { text: remark })));
	};

	const look = async () => {
		const listed = await ask("/api/devices");
		const before = ticked();
		$("devices").replaceChildren(...listed.map((device, number) => {
			const id = "device-" + number;
			const box = make("input", { type: "checkbox", id, value: device.path, "data-id": device.id, disabled: Boolean(device.in_use) });
			box.checked = before[device.path] === device.id && !device.in_use;
			return make("div", { class: "device" }, box, make("label", { for: id },
				make("strong", { text: device.path }),
				make("small", { text: (device.bytes / 2 ** 30).toFixed(1) + " GiB, " + device.model + ", id " + device.id + ": " + device.state })));
		}));
		if (!listed.length) say($("devices"), "There are no block devices.");
	};

	const prepare = async () => {
		form = await ask("/api/form");
		$("workload").replaceChildren(...form.workloads.map(([name]) => make("option", { value: name, text: name })));
		summarize();
		$("stream").replaceChildren(...form.stream.map(field => control("stream", field)));
		const parts = { write: [], first: [], more: [] };
		for (const field of form.options)
			parts[field.name === "write" ? "write" : FIRST.includes(field.name) ? "first" : "more"].push(control("options", field));
		$("write-option").replaceChildren(...parts.write);
		$("first-options").replaceChildren(...parts.first);
		$("more-options").replaceChildren(...parts.more);
		$("measuring-options").replaceChildren(...form.measuring.map(field => control("options", field)));
		if (fleet) fleet.prepare(form);
	};

	/* ---- the run ---- */

	let running = false, host = true, linked = false;
	const run = { number: 0, streams: [], count: 0, last: null, clock: null, plots: [] };
	const update = () => {
		$("start").disabled = (running && !(fleet && fleet.waits())) || !host || !linked;
		if (fleet) fleet.update(running || !linked);
		$("stop").disabled = !running || !host || !linked;
		$("progress").hidden = !running;
		document.documentElement.dataset.running = String(running);
	};
	const state = (text, bad) => {
		say($("state"), text);
		$("state").classList.toggle("bad", Boolean(bad));
	};

	const per = ns => ns ? ns / 1e3 : null;
	const both = (row, pick) => pick(row.read) + pick(row.write);
	/* As in reports, a direction has the same colour in every plot; from 8 on it is dashed. */
	const PLOTS = [
		{ title: "I/Os per second", y: "I/Os per second", lines: [
			["all", row => both(row, side => side.iops)], ["read", row => row.read.iops], ["write", row => row.write.iops]] },
		{ title: "Response time", y: "response time (µs)", log: true, lines: [
			["read p50", row => per(row.read.p50_ns), 1], ["read p99", row => per(row.read.p99_ns), 9],
			["write p50", row => per(row.write.p50_ns), 2], ["write p99", row => per(row.write.p99_ns), 10],
			["max", row => per(Math.max(row.read.max_ns, row.write.max_ns)), 0]] },
		{ title: "Data rate", y: "data rate (MiB/s)", lines: [
			["all", row => both(row, side => side.mib_per_s)], ["read", row => row.read.mib_per_s], ["write", row => row.write.mib_per_s]] },
		{ title: "I/Os waiting or in the device", y: "I/Os", lines: [
			["outstanding", row => row.outstanding], ["backlog", row => row.backlog]] },
		{ title: "CPU time of the workers", y: "busy share of a CPU (%)", lines: [["workers", row => row.worker_cpu === null ? null : 100 * row.worker_cpu]] },
		{ title: "Power", y: "power (W)", has: row => row.watts !== null, lines: [["all rails", row => row.watts]] },
	];
	const streamPlot = () => ({ title: "I/Os per second of each stream", y: "I/Os per second",
		lines: run.streams.map((name, at) => [name, row => row.streams[at] ?? null]) });

	/* A plot is drawn when its first row comes. */
	const openPlot = (kind, number) => {
		const plot = { kind, number, columns: [[], ...kind.lines.map(() => [])], places: [], rows: 0, step: 1,
			shown: null, dirty: false, ready: 0 };
		run.plots.push(plot);
		return plot;
	};
	/* As course.py of the server: the newest rows whole, and of older ones one of every 1, 2, 4, ...,
	 * so that a run of days neither fills the memory nor takes longer and longer to draw. */
	const ROWS_MOST = 16384, ROWS_RECENT = 1024;
	const thin = plot => {
		const recent = plot.places.length - ROWS_RECENT;
		while (plot.rows / plot.step > ROWS_MOST / 2) plot.step *= 2;
		const kept = plot.places.map((place, at) => at >= recent || place % plot.step === 0);
		plot.columns = plot.columns.map(column => column.filter((_, at) => kept[at]));
		plot.places = plot.places.filter((_, at) => kept[at]);
	};
	const put = (plot, row) => {
		if (plot.kind.has && !plot.kind.has(row) && !plot.columns[0].length) return;
		plot.columns[0].push(row.at_s);
		plot.kind.lines.forEach(([, pick], at) => plot.columns[at + 1].push(pick(row)));
		plot.places.push(plot.rows++);
		if (plot.places.length > ROWS_MOST) thin(plot);
		plot.dirty = true;
	};
	const SVG = "http://www.w3.org/2000/svg";
	const icon = colour => {
		const svg = document.createElementNS(SVG, "svg");
		const path = document.createElementNS(SVG, "path");
		svg.setAttribute("viewBox", "0 0 24 10");
		svg.setAttribute("aria-hidden", "true");
		path.setAttribute("class", "s" + colour % 8 + ["", " d1", " d2"][Math.floor(colour / 8) % 3]);
		path.setAttribute("d", "M0 5L24 5");
		svg.append(path);
		return svg;
	};
	const show = plot => {
		if (plot.shown) { plot.shown.update(plot.columns.slice()); return; }
		const { kind } = plot;
		const picture = make("div", { class: "picture" });
		const key = make("ul", { class: "key" }, ...kind.lines.map(([name, , colour], at) =>
			make("li", {}, make("button", { type: "button", "aria-pressed": "true", disabled: true, "data-series": at },
				icon(colour ?? at), document.createTextNode(clean(name))))));
		const figure = make("figure", { id: "live-" + plot.number }, make("figcaption", { text: kind.title }), key, picture,
			make("output", { class: "readout" }));
		const next = run.plots.find(later => later.number > plot.number && later.shown);
		$("plots").insertBefore(figure, next ? next.figure : null);
		plot.figure = figure;
		plot.shown = spekPlot.draw(picture, {
			live: true, group: "time", marks: [],
			x: { label: "time since the start (s)", log: false, nines: false, low: 0, high: 1 },
			y: { label: kind.y, log: Boolean(kind.log), nines: false, low: kind.log ? 1 : 0, high: kind.log ? 1000 : 1 },
			tables: [{ x: plot.columns[0], y: plot.columns.slice(1), path: kind.lines.map(() => null) }],
			series: kind.lines.map(([name, , colour], at) => ({ name: clean(name), look: "line", colour: colour ?? at })),
		});
	};
	/* One plot per frame, and none that would take more than a fifth of the time. */
	const frame = now => {
		requestAnimationFrame(frame);
		const due = run.plots.filter(plot => plot.dirty && now >= plot.ready);
		if (due.length) {
			const plot = due.reduce((first, next) => next.ready < first.ready ? next : first);
			const before = performance.now();
			plot.dirty = false;
			show(plot);
			const after = performance.now();
			plot.ready = after + 5 * run.plots.length * (after - before);
		} else if (run.stale) {
			run.stale = false;
			figures();
		}
	};
	const clockText = seconds => {
		const whole = Math.max(0, Math.round(seconds));
		return Math.floor(whole / 60) + ":" + String(whole % 60).padStart(2, "0");
	};
	const cells = new Map();
	const figures = () => {
		const { clock, last } = run;
		const values = [];
		if (clock) {
			values.push(["phase", clock.starts_in_s !== null ? "armed" : clock.phase], ["elapsed", clockText(clock.elapsed_s)]);
			if (clock.left_s !== null) values.push(["left", clockText(clock.left_s)]);
			if (clock.share !== null) $("progress").value = clock.share;
		}
		if (last) {
			values.push(["IOPS", spekPlot.number(both(last, side => side.iops))], ["MiB/s", spekPlot.number(both(last, side => side.mib_per_s))]);
			for (const side of ["read", "write"])
				if (last[side].ios) values.push([side + " p99 (µs)", spekPlot.number(last[side].p99_ns / 1e3)]);
			values.push(["outstanding", String(last.outstanding)], ["backlog", String(last.backlog)], ["errors", String(last.errors)]);
			if (last.watts !== null) values.push(["power (W)", spekPlot.number(last.watts)]);
		}
		const names = new Set(values.map(([name]) => name));
		for (const [name, cell] of cells)
			if (!names.has(name)) { cell.parentNode.remove(); cells.delete(name); }
		for (const [name, text] of values) {
			if (!cells.has(name)) {
				cells.set(name, make("dd"));
				$("figures").append(make("div", {}, make("dt", { text: name }), cells.get(name)));
			}
			say(cells.get(name), text);
		}
	};

	const askMachine = async () => {
		const status = await ask("/api/status");
		const texts = status.runs.map(info => "run " + info.id + ", " + info.name + ": " + info.state
			+ " on " + info.targets.map(target => target.name).join(" "));
		if (status.probe) texts.push(status.probe);
		if (!texts.length && !status.trouble) texts.push("no run, and no probe");
		$("machine").replaceChildren(...texts.map(text => make("li", { text })));
		if (status.trouble) throw new Error(status.trouble);
	};
	const lookAtMachine = fleet ? () => {} : guarded(null, $("machine-trouble"), askMachine);

	const began = event => {
		spekPlot.forget();
		$("plots").replaceChildren();
		$("notes").replaceChildren();
		say($("end"), "");
		$("progress").value = 0;
		Object.assign(run, { number: event.run, streams: event.streams, count: 0, last: null, clock: null, plots: [] });
		const kinds = event.streams.length > 1 ? [...PLOTS, streamPlot()] : PLOTS;
		kinds.forEach(openPlot);
		if (fleet) fleet.began();
		say($("title"), event.title);
		running = true;
		state("A run is under way.");
		update();
		figures();
		lookAtMachine();
	};
	const took = event => {
		run.clock = event.clock;
		for (const row of event.rows) {
			/* Neither the drain nor the remainder of a phase says how fast the device was. */
			if (row.rated) {
				for (const plot of run.plots) put(plot, row);
				run.last = row;
			}
			run.count++;
		}
		run.stale = true;
		document.documentElement.dataset.rows = String(run.count);
	};
	const over = event => {
		running = false;
		if (fleet) fleet.over(event);
		const kept = (event.file ? " The result is in " + event.file + "." : "") + (event.log ? " The log is in " + event.log + "." : "");
		say($("end"), event.text + "." + kept + (event.trouble ? " Not everything was kept: " + event.trouble : ""));
		$("end").classList.toggle("bad", event.code !== 0);
		state("No run is under way.");
		update();
		list().catch(error => say($("list-trouble"), error.message));
		lookAtMachine();
	};
	const hosted = event => {
		host = event.alive;
		if (host) {
			if (!running) state("No run is under way.");
		} else {
			if (running) {
				say($("end"), "The run has ended without a result: " + event.text);
				$("end").classList.add("bad");
			}
			running = false;
			state("Runs cannot be started: " + event.text, true);
		}
		update();
	};

	const TAKE = {
		hello: () => { linked = true; if (host) state(running ? "A run is under way." : "No run is under way."); update(); },
		started: began,
		rows: took,
		note: event => $("notes").append(make("li", { text: event.text })),
		ended: over,
		host: hosted,
		hosts: event => { if (fleet) fleet.hosts(event); update(); },
	};
	const RETRY_MS = 1000;
	let last = "";
	/* One event: lines of FIELD: VALUE. A comment has no field. */
	const take = text => {
		const fields = new Map(text.split("\n").map(line => {
			const at = line.indexOf(": ");
			return [line.slice(0, at), line.slice(at + 2)];
		}));
		if (fields.get("id")) last = fields.get("id");
		const name = fields.get("event");
		if (!Object.hasOwn(TAKE, name)) return;
		try {
			TAKE[name](JSON.parse(fields.get("data")));
		} catch (error) {
			reportError(error);
		}
	};
	/* An EventSource cannot send the token. Returns false if the server does not accept it. */
	const follow = async () => {
		const answer = await request("/events", last ? { "Last-Event-ID": last } : {});
		if (answer.status === 401) return false;
		if (!answer.ok) throw new Error((await answer.json()).error);
		const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
		let rest = "";
		for (;;) {
			const { done, value } = await reader.read();
			if (done) return true;
			const parts = (rest + value).split("\n\n");
			rest = parts.pop();
			parts.forEach(take);
		}
	};
	const listen = async () => {
		for (;;) {
			let admitted = true;
			try {
				admitted = await follow();
			} catch {
				/* The connection was refused or broke off: tried again below. */
			}
			linked = false;
			state(admitted ? "The server does not answer; trying again."
				: "The server does not accept the token of this page; open the address that spekctl web printed. If the server was started again, it printed a new address.", true);
			update();
			if (!admitted) return;
			await new Promise(resolve => setTimeout(resolve, RETRY_MS));
		}
	};

	/* ---- documents ---- */

	const chosen = () => [...document.querySelectorAll("#entries input:checked")].map(box => box.value);
	const compared = async () => {
		const names = chosen();
		const link = $("compare");
		link.removeAttribute("href");
		link.setAttribute("aria-disabled", "true");
		if (!names.length) return;
		const { report } = await ask("/api/compare?" + new URLSearchParams(names.map(name => ["file", name])));
		/* An answer to an earlier choice may come later than that to the last one. */
		if (chosen().join("\n") !== names.join("\n")) return;
		link.href = report;
		link.setAttribute("aria-disabled", "false");
	};
	const list = async () => {
		const results = await ask("/api/results");
		say($("folder"), "Documents of " + results.folder);
		$("entries").replaceChildren(...results.entries.map(entry => {
			const box = make("input", { type: "checkbox", value: entry.name, "aria-label": "Compare " + clean(entry.name) });
			box.addEventListener("change", guarded(null, $("list-trouble"), compared));
			const time = new Date(entry.changed_s * 1000);
			return make("tr", {}, make("td", {}, box),
				make("th", { scope: "row" }, make("a", { href: entry.report, target: "_blank", rel: "noopener", text: entry.name })),
				make("td", { text: entry.kind }), make("td", { class: "n", text: entry.bytes.toLocaleString("en-US") }),
				make("td", { text: time.toISOString().slice(0, 19).replace("T", " ") + " UTC" }),
				make("td", {}, make("a", { href: entry.download, text: "download" })));
		}));
		await compared();
	};

	const start = async () => {
		document.documentElement.classList.add("live");
		for (const choice of document.querySelectorAll("input[name=mode]")) choice.addEventListener("change", showMode);
		$("workload").addEventListener("change", summarize);
		$("form").addEventListener("submit", guarded($("check"), $("trouble"), async () => {
			showPlan(await ask("/api/dry-run", job()));
			$("plan").focus();
		}));
		$("start").addEventListener("click", guarded($("start"), $("trouble"), async () => {
			if (fleet && fleet.waits()) {
				await ask("/api/go", { run: run.number });
				return;
			}
			showPlan(await ask("/api/start", job()));
			/* What was typed to destroy data once must not destroy it again. */
			$("destroy").value = "";
			$("watch").scrollIntoView();
		}));
		$("stop").addEventListener("click", guarded($("stop"), $("trouble"), () => ask("/api/stop", {})));
		if (fleet) {
			$("claim").addEventListener("click", guarded($("claim"), $("trouble"), async () => {
				showPlan(await ask("/api/claim", job()));
				$("destroy").value = "";
				$("watch").scrollIntoView();
			}));
		} else {
			$("look").addEventListener("click", guarded($("look"), $("devices-trouble"), look));
			$("ask-machine").addEventListener("click", guarded($("ask-machine"), $("machine-trouble"), askMachine));
		}
		$("list").addEventListener("click", guarded($("list"), $("list-trouble"), list));
		$("edit").addEventListener("click", guarded($("edit"), $("trouble"), async () => {
			const { toml } = await ask("/api/workload?" + new URLSearchParams({ name: $("workload").value }));
			$("toml").value = toml;
			setMode("text");
			$("toml").focus();
		}));
		showMode();
		update();
		listen();
		requestAnimationFrame(frame);
		await Promise.all([
			guarded(null, $("trouble"), prepare)(),
			fleet ? null : guarded(null, $("devices-trouble"), look)(),
			guarded(null, $("list-trouble"), list)(),
			lookAtMachine(),
		]);
		document.documentElement.dataset.ready = String(Math.round(performance.now()));
	};
	start();
})();
