/* SPDX-License-Identifier: GPL-2.0-or-later
 * Draws the plots of a report in place of the static pictures, which stay for paper and for readers
 * without scripts. */
(() => {
	"use strict";
	const specs = JSON.parse(document.getElementById("data").textContent);
	document.documentElement.classList.add("live");
	document.querySelectorAll("[data-plot]").forEach((host, index) => spekPlot.draw(host, specs[index]));
	document.documentElement.dataset.ready = String(Math.round(performance.now()));
})();
