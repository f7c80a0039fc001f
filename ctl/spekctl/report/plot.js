/* SPDX-License-Identifier: GPL-2.0-or-later
 * spekPlot.draw(host, spec): a plot with a cursor and zoom, by mouse and by keyboard. Pages of reports
 * and the live page have the same. */
const spekPlot = (() => {
	"use strict";
	const plots = [];
	const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
	const dashes = [[], [5, 2], [1.5, 2]];

	const number = value => {
		const size = Math.abs(value);
		if (size >= 1000) return Math.round(value).toLocaleString("en-US");
		if (size === 0) return "0";
		return String(Number(value.toPrecision(4)));
	};
	const percent = nines => {
		const digits = Math.max(1, Math.floor(nines) + 1);
		return Number((100 * (1 - 10 ** -nines)).toFixed(digits)) + " %";
	};
	/* Beside an axis there is room for few characters. */
	const tick = value => {
		for (const [size, unit] of [[1e9, "G"], [1e6, "M"], [1e3, "k"]])
			if (Math.abs(value) >= Math.max(size, 1e5)) return Number((value / size).toPrecision(4)) + unit;
		return number(value);
	};
	const bytes = value => {
		for (const [size, unit] of [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"]])
			if (value >= size) return number(value / size) + " " + unit;
		return number(value) + " B";
	};
	const shown = (axis, value) => axis.nines ? percent(value) : axis.size ? bytes(value) : number(value);

	/* A line in its own order, which turns back where a device is overloaded. */
	const turning = path => (u, index) => {
		const line = new Path2D();
		let pen = "moveTo";
		path[0].forEach((x, at) => {
			const y = path[1][at];
			if (y === null) { pen = "moveTo"; return; }
			line[pen](u.valToPos(x, "x", true), u.valToPos(y, "y", true));
			pen = "lineTo";
		});
		return { stroke: line, fill: null, clip: null, band: null, gaps: null, flags: 1 };
	};

	/* Lines at powers of ten only, unless there are not even two of them. */
	const decades = (u, splits) => {
		const whole = splits.map(split => Math.abs(Math.log10(split) % 1) < 1e-9 ? split : null);
		return whole.filter(split => split !== null).length > 1 ? whole : splits;
	};

	/* Between ticks of whole numbers. */
	const STEPS = Array.from({ length: 16 }, (_, power) => [1, 2, 5].map(digit => digit * 10 ** power)).flat();

	const axisOf = (axis, side) => ({
		stroke: () => css("--soft"),
		grid: { stroke: () => css("--line"), width: 1, ...(axis.log && !axis.size ? { filter: decades } : {}) },
		ticks: { stroke: () => css("--line"), width: 1 },
		font: "11px system-ui, sans-serif",
		labelFont: "12px system-ui, sans-serif",
		label: axis.label,
		labelSize: 20,
		size: side === 3 ? 64 : 34,
		side,
		values: (u, splits) => splits.map(split => split === null ? "" : axis.nines ? percent(split) : axis.size ? bytes(split) : tick(split)),
		...(axis.nines ? { splits: (u, i, low, high) => {
			const splits = [];
			for (let nines = Math.ceil(low); nines <= high; nines++) splits.push(nines);
			return splits.length > 1 ? splits : [low, (low + high) / 2, high];
		} } : {}),
		...(axis.size ? { splits: (u, i, low, high) => {
			const first = Math.ceil(Math.log2(low)), every = Math.ceil((Math.log2(high) - first + 1) / (u.width / 90));
			const splits = [];
			for (let exponent = first; exponent <= Math.log2(high); exponent += every) splits.push(2 ** exponent);
			return splits;
		} } : {}),
		...(axis.whole && !axis.log ? { incrs: STEPS } : {}),
	});

	const draw = (host, spec) => {
		const tables = spec.tables.filter(table => table.x.length);
		const data = tables.length > 1
			? uPlot.join(tables.map(table => [table.x, ...table.y]))
			: [tables[0].x, ...tables[0].y];
		const paths = tables.flatMap(table => table.path);
		const figure = host.closest("figure");
		const readout = figure.querySelector(".readout");
		const read = u => {
			const at = u.cursor.idx;
			if (at === null || at === undefined) { readout.textContent = ""; return; }
			const words = [];
			spec.series.forEach((series, index) => {
				const ys = u.data[index + 1];
				if (!u.series[index + 1].show || ys[at] === null) return;
				/* Lines of other results have their values at other places. */
				let off = 0;
				while (ys[at - off] === undefined && ys[at + off] === undefined && off < ys.length) off++;
				const value = ys[at - off] ?? ys[at + off];
				if (value !== null && value !== undefined)
					words.push(series.name + (off ? " ≈ " : " ") + shown(spec.y, value));
			});
			readout.textContent = spec.x.label + ": " + shown(spec.x, u.data[0][at]) + " — " +
				spec.y.label + ": " + words.join(", ");
		};
		const marks = u => {
			const { ctx, bbox } = u;
			ctx.save();
			ctx.strokeStyle = ctx.fillStyle = css("--soft");
			ctx.setLineDash([2, 3]);
			ctx.font = 11 * devicePixelRatio + "px system-ui, sans-serif";
			for (const [at, name] of spec.marks) {
				const x = u.valToPos(at, "x", true);
				if (x < bbox.left || x > bbox.left + bbox.width) continue;
				ctx.beginPath();
				ctx.moveTo(x, bbox.top);
				ctx.lineTo(x, bbox.top + bbox.height);
				ctx.stroke();
				const left = x < bbox.left + 0.8 * bbox.width;
				ctx.textAlign = left ? "left" : "right";
				ctx.fillText(name, x + (left ? 4 : -4), bbox.top + 11 * devicePixelRatio);
			}
			ctx.restore();
		};
		const range = axis => (u, low, high) => {
			if (low === null || high === null || (low === high && !spec.live)) return [axis.low, axis.high];
			if (low === high) return axis.log ? [low / 10, low * 10] : [0, 1.2 * low || 1];
			return axis.log ? uPlot.rangeLog(low, high, 10, false)
				: axis.nines ? [low, high] : uPlot.rangeNum(Math.min(0, low), high, 0.1, true);
		};
		/* Lines of one pixel are drawn five times as fast, which counts where there are many. */
		const width = spec.series.length > 8 ? 1 : 1.5;
		const options = {
			width: Math.max(280, host.clientWidth), height: 300,
			legend: { show: false },
			cursor: { drag: { x: true, y: false }, ...(spec.group ? { sync: { key: spec.group } } : {}) },
			scales: {
				x: { time: false, distr: spec.x.log ? 3 : 1, ...(spec.x.size ? { log: 2 } : {}) },
				y: { distr: spec.y.log ? 3 : 1, range: range(spec.y) },
			},
			axes: [axisOf(spec.x, 2), axisOf(spec.y, 3)],
			series: [{}, ...spec.series.map((series, index) => ({
				label: series.name,
				stroke: () => css(series.look === "limit" ? "--limit" : "--s" + series.colour % 8),
				width,
				dash: series.look === "limit" ? [6, 4] : dashes[Math.floor(series.colour / 8) % 3],
				points: { show: series.look === "points" || (series.look === "line" && !spec.live && data[0].length <= 60), size: 5,
					fill: () => css("--s" + series.colour % 8) },
				...(series.look === "points" ? { paths: () => null } : paths[index] ? { paths: turning(paths[index]) } : {}),
			}))],
			hooks: { setCursor: [read], draw: [marks] },
		};
		const u = new uPlot(options, data, host);
		const ends = () => [u.data[0][0], u.data[0][u.data[0].length - 1]];
		u.root.setAttribute("aria-hidden", "true");
		host.classList.add("drawn");
		host.tabIndex = 0;
		host.setAttribute("role", "group");
		host.setAttribute("aria-label", figure.querySelector("figcaption").textContent +
			". Arrow keys move the cursor, plus and minus zoom, 0 shows all.");
		figure.querySelectorAll(".key button").forEach(button => {
			const index = Number(button.dataset.series) + 1;
			button.disabled = false;
			button.addEventListener("click", () => {
				const show = !u.series[index].show;
				u.setSeries(index, { show });
				button.setAttribute("aria-pressed", String(show));
				read(u);
			});
		});
		const move = at => {
			const { min, max } = u.scales.x;
			const index = Math.max(0, Math.min(u.data[0].length - 1, at));
			const x = u.data[0][index];
			if (x < min || x > max) return;
			u.setCursor({ left: u.valToPos(x, "x"), top: u.bbox.height / devicePixelRatio / 2 }, true, true);
		};
		const zoom = factor => {
			const { min, max } = u.scales.x;
			const at = u.cursor.idx;
			const middle = at === null || at === undefined ? (min + max) / 2 : u.data[0][at];
			const [first, last] = ends();
			const low = Math.max(first, middle - (middle - min) * factor);
			const high = Math.min(last, middle + (max - middle) * factor);
			if (high > low) u.setScale("x", { min: low, max: high });
		};
		const keys = {
			ArrowRight: step => move((u.cursor.idx ?? u.valToIdx(u.scales.x.min) - step) + step),
			ArrowLeft: step => move((u.cursor.idx ?? u.valToIdx(u.scales.x.max) + step) - step),
			Home: () => move(u.valToIdx(u.scales.x.min)),
			End: () => move(u.valToIdx(u.scales.x.max)),
			"+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "−": () => zoom(2),
			"0": () => { const [min, max] = ends(); u.setScale("x", { min, max }); },
			Escape: () => { u.setCursor({ left: -10, top: -10 }, true, true); readout.textContent = ""; },
		};
		host.addEventListener("keydown", event => {
			const key = keys[event.key];
			if (!key || event.ctrlKey || event.metaKey || event.altKey || event.target !== host) return;
			event.preventDefault();
			key(event.shiftKey ? Math.max(1, Math.floor(u.data[0].length / 20)) : 1);
		});
		plots.push({ u, host });
		/* More data: a plot that shows all of it still does, one that is zoomed stays where it is.
		 * Columns may have grown in place, so their old end is known here only. */
		let reached = ends()[1];
		const update = columns => {
			const { min, max } = u.scales.x;
			const whole = min === null || min === undefined || (min <= columns[0][0] && max >= reached);
			reached = columns[0][columns[0].length - 1];
			u.setData(columns, whole);
			if (!whole) u.redraw();
			read(u);
		};
		return { u, update };
	};

	let width = document.documentElement.clientWidth;
	addEventListener("resize", () => {
		if (document.documentElement.clientWidth === width) return;
		width = document.documentElement.clientWidth;
		for (const { u, host } of plots) u.setSize({ width: Math.max(280, host.clientWidth), height: 300 });
	});
	for (const media of ["(prefers-color-scheme: dark)", "print"])
		matchMedia(media).addEventListener("change", () => {
			for (const { u } of plots) u.redraw(false);
		});
	const forget = () => { for (const { u } of plots.splice(0)) u.destroy(); };
	return { draw, forget, number };
})();
