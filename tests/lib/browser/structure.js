/* SPDX-License-Identifier: GPL-2.0
 * What a page consists of: lines of [depth, text, visible]; and the text that stands out least from
 * its background: [ratio, text]. Called as a function body by structure.py. */
const lines = [];
const text = node => node.textContent.replace(/\s+/g, " ").trim();
const titled = node => {
	const place = document.getElementById(node.getAttribute("aria-labelledby") ?? "");
	return node.getAttribute("aria-label") ?? (place ? text(place) : "");
};
const plots = JSON.parse(document.getElementById("data")?.textContent ?? "[]");
const scale = axis => axis.label + (axis.log ? ", logarithmic" : "");

const described = node => {
	switch (node.localName) {
	case "header": case "main": case "form":
		return node.localName;
	case "nav": case "section":
		return `${node.localName} “${titled(node)}”`;
	case "h1": case "h2": case "h3": case "h4": case "legend":
		return `${node.localName} ${text(node)}`;
	case "figure":
		return `figure “${text(node.querySelector("figcaption"))}”`;
	case "canvas": {
		const spec = plots[Number(node.closest("[data-plot]")?.dataset.plot.replace("plot-", ""))];
		return spec ? `canvas of ${scale(spec.x)} and ${scale(spec.y)}` : "canvas";
	}
	case "svg":
		return node.getAttribute("role") === "img"
			? `picture of ${[...node.querySelectorAll("text.axis")].map(text).join(" and ")}` : "";
	case "ul":
		return node.className === "key" ? `key: ${[...node.children].map(text).join(", ")}`
			: node.className ? `list ${node.className}: ${node.children.length}` : "";
	case "dl":
		return `${node.className}: ${[...node.querySelectorAll("dt")].map(text).join(", ")}`;
	case "details":
		return `${node.open ? "open" : "closed"} “${text(node.querySelector("summary"))}”`;
	case "table": {
		const caption = node.querySelector("caption");
		const columns = [...node.querySelectorAll("thead th")].map(text).join(" | ");
		const rows = node.querySelectorAll("tbody tr").length;
		return `table${caption ? ` “${text(caption)}”` : ""}: ${columns}: ${rows} rows`;
	}
	case "p":
		return node.className ? `p ${node.className}${text(node) ? "" : ", empty"}` : "";
	default:
		return "";
	}
};
const walk = (node, depth) => {
	const words = described(node);
	if (words) lines.push([depth, words, node.checkVisibility({ checkVisibilityCSS: true })]);
	for (const child of node.children) walk(child, words ? depth + 1 : depth);
};
walk(document.body, 0);

/* Contrast as WCAG defines it. */
const parts = colour => colour.match(/[\d.]+/g).map(Number);
const luminance = colour => parts(colour).slice(0, 3)
	.map(channel => channel / 255)
	.map(channel => channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4)
	.reduce((sum, channel, at) => sum + channel * [0.2126, 0.7152, 0.0722][at], 0);
const behind = node => {
	for (let element = node; element; element = element.parentElement) {
		const colour = getComputedStyle(element).backgroundColor;
		if ((parts(colour)[3] ?? 1) > 0) return colour;
	}
	return "rgb(255, 255, 255)";
};
let least = [Infinity, ""];
for (const node of document.body.querySelectorAll("*")) {
	const own = [...node.childNodes].filter(child => child.nodeType === Node.TEXT_NODE).map(text).join("");
	if (!own || !node.checkVisibility({ checkVisibilityCSS: true })) continue;
	const style = getComputedStyle(node);
	const tones = [luminance(node instanceof SVGElement ? style.fill : style.color), luminance(behind(node))];
	const ratio = (Math.max(...tones) + 0.05) / (Math.min(...tones) + 0.05);
	if (ratio < least[0]) least = [ratio, own];
}
return [lines, least];
