/* SPDX-License-Identifier: MIT */
/* Hover and zoom. Everything is readable without this: line charts become uPlot, heat maps follow the zoom. */
(function () {
"use strict";
var groups = {};
function css(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
function seconds(v) {
	if (v == null) return "-";
	if (v === 0) return "0 s";
	var a = Math.abs(v);
	if (a < 0.00000995) return (v * 1e6).toFixed(1) + " us";
	if (a < 0.0000995) return (v * 1e6).toFixed(0) + " us";
	if (a < 0.00995) return (v * 1e3).toFixed(1) + " ms";
	if (a < 0.9995) return (v * 1e3).toFixed(0) + " ms";
	return a < 9.995 ? v.toFixed(2) + " s" : v.toFixed(1) + " s";
}
var words = {
	s: seconds,
	B: function (v) { if (v == null) return "-"; var u = ["B", "KiB", "MiB", "GiB", "TiB"], i = 0; while (v >= 1023.5 && i < 4) { v /= 1024; i++; } return (i && v < 9.95 ? v.toFixed(1) : v.toFixed(0)) + " " + u[i]; },
	"B/s": function (v) { return v == null ? "-" : v >= 9.995e8 ? (v / 1e9).toFixed(1) + " GB/s" : v >= 9.995e5 ? (v / 1e6).toFixed(v >= 9.95e6 ? 0 : 1) + " MB/s" : (v / 1e3).toFixed(0) + " kB/s"; },
	"%": function (v) { return v == null ? "-" : (v * 100).toFixed(v < 0.0995 ? 1 : 0) + "%"; },
	"": function (v) { return v == null ? "-" : String(+v.toPrecision(4)); }
};
function zoomed(group, min, max, from) {
	(groups[group] || []).forEach(function (c) { if (c !== from) c.set(min, max); });
}
function lines(fig, d) {
	var svg = fig.querySelector("svg"), box = document.createElement("div"), busy = false;
	var fx = words[d.ux] || words[""], fy = words[d.uy] || words[""];
	var opts = {
		width: Math.max(280, fig.clientWidth), height: Math.max(180, Math.min(320, fig.clientWidth * 0.4)),
		scales: { x: { time: false, distr: d.xlog ? 3 : 1, range: d.xlog ? function (u, a, b) { return [a, b]; } : undefined },
			y: d.ylog ? { distr: 3 } : { range: function (u, min, max) { return [Math.min(0, min), max > 0 ? max * 1.05 : 1]; } } },
		cursor: { sync: d.group ? { key: d.group } : undefined, drag: { x: true, y: false } },
		series: [{ label: d.xlabel, value: function (u, v) { return fx(v); } }].concat(d.lines.map(function (l, i) {
			return { label: l.label, stroke: l.limit ? css("--bad") : css("--c" + (l.colour % 6)), width: l.limit ? 1.3 : 1.6,
				dash: l.limit ? [6, 4] : undefined, spanGaps: false, points: { show: l.n < 60 },
				value: function (u, v) { return fy(v); } };
		})),
		axes: [{ stroke: css("--dim"), grid: { stroke: css("--line") }, values: function (u, vs) { return vs.map(function (v) { return v == null ? "" : fx(v); }); }, space: 70 },
			{ stroke: css("--dim"), grid: { stroke: css("--line") }, values: function (u, vs) { return vs.map(function (v) { return v == null ? "" : fy(v); }); }, size: 76 }],
		hooks: { setScale: [function (u, key) { if (key === "x" && !busy && d.group && u.scales.x.min != null) zoomed(d.group, u.scales.x.min, u.scales.x.max, me); }],
			drawClear: [function (u) {
				var c = u.ctx;
				d.bands.forEach(function (b) {
					var a = Math.max(u.bbox.left, u.valToPos(b.x0, "x", true)), z = Math.min(u.bbox.left + u.bbox.width, u.valToPos(b.x1, "x", true));
					if (z <= a) return;
					c.save(); c.globalAlpha = b.shade ? 0.09 : 0.5; c.fillStyle = css(["--box", "--c2", "--c1", "--c3"][b.shade % 4]);
					c.fillRect(a, u.bbox.top, z - a, u.bbox.height); c.restore();
				});
				d.upright.forEach(function (x) {
					var p = u.valToPos(x, "x", true);
					if (p < u.bbox.left || p > u.bbox.left + u.bbox.width) return;
					c.save(); c.strokeStyle = css("--bad"); c.setLineDash([6, 4]); c.beginPath(); c.moveTo(p, u.bbox.top); c.lineTo(p, u.bbox.top + u.bbox.height); c.stroke(); c.restore();
				});
			}] }
	};
	box.className = "live";
	svg.parentNode.insertBefore(box, svg);
	svg.style.display = "none";
	var u = new uPlot(opts, d.data, box), full = [d.data[0][0], d.data[0][d.data[0].length - 1]];
	var me = { set: function (min, max) { busy = true; u.setScale("x", { min: min, max: max }); busy = false; }, full: full };
	if (d.group) (groups[d.group] = groups[d.group] || []).push(me);
	box.tabIndex = 0;
	box.setAttribute("role", "group");
	box.setAttribute("aria-label", fig.querySelector("figcaption").textContent + ": arrow keys move the cursor, plus and minus zoom, 0 shows all");
	box.addEventListener("keydown", function (e) {
		var i = u.cursor.idx == null ? 0 : u.cursor.idx, n = d.data[0].length, s = u.scales.x, mid = (s.min + s.max) / 2, half = (s.max - s.min) / 2;
		if (e.key === "ArrowRight" || e.key === "ArrowLeft") {
			i = Math.max(0, Math.min(n - 1, i + (e.key === "ArrowRight" ? 1 : -1)));
			u.setCursor({ left: u.valToPos(d.data[0][i], "x"), top: 10 }); e.preventDefault();
		} else if (e.key === "+" || e.key === "-") { half *= e.key === "+" ? 0.5 : 2; u.setScale("x", { min: Math.max(full[0], mid - half), max: Math.min(full[1], mid + half) }); }
		else if (e.key === "0") u.setScale("x", { min: full[0], max: full[1] });
	});
	box.addEventListener("dblclick", function () { if (d.group) zoomed(d.group, full[0], full[1], null); });
	window.addEventListener("resize", function () { u.setSize({ width: Math.max(280, fig.clientWidth), height: Math.max(180, Math.min(320, fig.clientWidth * 0.4)) }); });
	fig.stallmark = u;
}
function heat(fig, d) {
	var inner = fig.querySelector("svg svg"), tip = document.createElement("p"), w = 1000;
	if (!inner) return;
	tip.className = "tip"; tip.setAttribute("aria-live", "polite"); fig.appendChild(tip);
	var me = { set: function (min, max) {
		var a = (min - d.x0) / (d.x1 - d.x0), b = (max - d.x0) / (d.x1 - d.x0);
		a = Math.max(0, Math.min(1, a)); b = Math.max(a + 1e-6, Math.min(1, b));
		inner.setAttribute("viewBox", (a * w) + " 0 " + ((b - a) * w) + " 1000");
		fig.querySelectorAll(".xt").forEach(function (t, i, all) { t.textContent = seconds(min + (max - min) * i / (all.length - 1)); });
	} };
	if (d.group) (groups[d.group] = groups[d.group] || []).push(me);
	var cell = {}, at = -1, lo = d.x0, hi = d.x1;
	for (var i = 0; i < d.cells.length; i += 2) cell[d.cells[i]] = d.cells[i + 1];
	function tell(col, row) {
		var n = cell[row * d.cols + col], f = words[d.uy] || words[""], r = d.y1 / d.y0;
		at = row * d.cols + col;
		tip.textContent = (words[d.ux] || words[""])(d.x0 + (d.x1 - d.x0) * (col + 0.5) / d.cols) + ": " + (n || "no") + (n === 1 ? " wait of " : " waits of ") +
			f(d.y0 * Math.pow(r, row / d.rows)) + " to " + f(d.y0 * Math.pow(r, (row + 1) / d.rows));
	}
	var zoom = me.set;
	me.set = function (min, max) { lo = Math.max(d.x0, min); hi = Math.min(d.x1, max); zoom(min, max); };
	inner.addEventListener("mousemove", function (e) {
		var m = inner.ownerSVGElement.getBoundingClientRect(), k = m.width / 1000;
		var x = (e.clientX - m.left - 96 * k) / (888 * k), y = 1 - (e.clientY - m.top - 8 * k) / (248 * k), t = lo + (hi - lo) * x;
		if (x < 0 || x > 1 || y < 0 || y > 1) return;
		tell(Math.min(d.cols - 1, Math.floor((t - d.x0) / (d.x1 - d.x0) * d.cols)), Math.min(d.rows - 1, Math.floor(y * d.rows)));
	});
	inner.ownerSVGElement.setAttribute("tabindex", "0");
	inner.ownerSVGElement.addEventListener("keydown", function (e) {
		var filled = Object.keys(cell).map(Number).sort(function (a, b) { return a % d.cols - b % d.cols || a - b; }), i = filled.indexOf(at);
		if (e.key !== "ArrowRight" && e.key !== "ArrowLeft") return;
		i = Math.max(0, Math.min(filled.length - 1, i + (e.key === "ArrowRight" ? 1 : -1)));
		if (filled.length) tell(filled[i] % d.cols, Math.floor(filled[i] / d.cols));
		e.preventDefault();
	});
	inner.addEventListener("mouseover", function (e) { var t = e.target.querySelector && e.target.querySelector("title"); if (t) tip.textContent = t.textContent; });
}
document.querySelectorAll("figure").forEach(function (fig) {
	var s = fig.querySelector("script[type='application/json']"), d;
	if (!s) return;
	d = JSON.parse(s.textContent);
	if (d.kind === "heat") heat(fig, d);
	else if (d.kind === "lines" && typeof uPlot !== "undefined" && d.data[0].length > 1) lines(fig, d);
});
document.documentElement.setAttribute("data-ready", "1");
})();
