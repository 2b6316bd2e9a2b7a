// SPDX-License-Identifier: MIT
// usage: node report.mjs REPORT.html SHOW.json SCREENSHOT_DIR
// A real browser opens the report: no console error, no request, sections, numbers as in show --json, hover, zoom, keyboard, contrast.
import { chromium } from 'playwright-core';
import fs from 'node:fs';
import path from 'node:path';
import os from 'node:os';

const [file, showFile, shots] = process.argv.slice(2);
const show = showFile && fs.existsSync(showFile) ? JSON.parse(fs.readFileSync(showFile)) : null;
const problems = [];
const check = (ok, text) => { if (!ok) problems.push(text); };
const profile = fs.mkdtempSync(path.join(os.tmpdir(), 'stallmark-chromium-'));
const browser = await chromium.launchPersistentContext(profile, {
	executablePath: '/usr/bin/chromium', headless: true, viewport: { width: 1400, height: 900 },
	args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
		'--disable-component-update', '--disable-sync'] });

function contrast() {
	const lum = (c) => { const v = c.map((x) => { x /= 255; return x <= 0.03928 ? x / 12.92 : ((x + 0.055) / 1.055) ** 2.4; }); return 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2]; };
	const rgb = (s) => s.match(/[\d.]+/g).slice(0, 3).map(Number);
	const bg = (e) => { for (; e; e = e.parentElement) { const b = getComputedStyle(e).backgroundColor; if (!/rgba\(.*, 0\)|transparent/.test(b)) return rgb(b); } return [255, 255, 255]; };
	const bad = [];
	for (const e of document.querySelectorAll('h1,h2,h3,h4,p,td,th,dt,dd,a,summary,pre,figcaption,svg text')) {
		if (!e.textContent.trim() || !e.getClientRects().length) continue;
		const s = getComputedStyle(e), f = rgb(e.tagName === 'text' ? s.fill : s.color), a = lum(f), b = lum(bg(e));
		const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
		if (ratio < 4.5) bad.push(`${e.tagName} "${e.textContent.trim().slice(0, 30)}" ${ratio.toFixed(2)}`);
	}
	return bad;
}

for (const scheme of ['light', 'dark']) {
	for (const width of [1400, 400]) {
		const page = await browser.newPage();
		await page.setViewportSize({ width, height: 900 });
		await page.emulateMedia({ colorScheme: scheme });
		page.on('console', (m) => { if (m.type() === 'error' || m.type() === 'warning') problems.push(`console: ${m.text()}`); });
		page.on('pageerror', (e) => problems.push(`error: ${e.message}`));
		page.on('request', (r) => { if (!r.url().startsWith('file://') && !r.url().startsWith('data:')) problems.push(`request: ${r.url()}`); });
		await page.goto('file://' + path.resolve(file));
		await page.waitForFunction(() => document.documentElement.dataset.ready === '1', null, { timeout: 10000 });
		const over = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
		check(over <= 0, `${width} wide: the page is ${over} pixels too wide`);
		for (const c of await page.evaluate(contrast)) check(false, `${scheme}: contrast ${c}`);
		if (scheme === 'light' && width === 1400) {
			const ids = await page.$$eval('h2', (h) => h.map((x) => x.id));
			for (const want of (process.env.SECTIONS || '').split(' ').filter(Boolean)) check(ids.includes(want), `section ${want} is missing (${ids})`);
			check(await page.$$eval('figure', (f) => f.length) > 0, 'no picture');
			const text = await page.evaluate(() => document.body.textContent);
			for (const p of show ? show.probes : []) check(text.includes(p.name), `probe ${p.name} is not on the page`);
			const live = page.locator('.live').first();
			if (await live.count()) {
				const before = await page.evaluate(() => { const u = [...document.querySelectorAll('figure')].find((f) => f.stallmark).stallmark; return [u.scales.x.min, u.scales.x.max, u.data[0].length]; });
				// hover: the legend shows exactly what the data holds
				await live.scrollIntoViewIfNeeded();
				const box = await live.locator('.u-over').boundingBox();
				await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
				const hover = await page.evaluate(() => { const u = [...document.querySelectorAll('figure')].find((f) => f.stallmark).stallmark, i = u.cursor.idx;
					return { i, legend: [...u.root.querySelectorAll('.u-value')].map((v) => v.textContent), want: u.series.map((s, k) => s.value(u, u.data[k][i], k, i)) }; });
				check(hover.i != null, 'hover finds no point');
				check(hover.legend.join('|') === hover.want.map(String).join('|'), `hover shows ${hover.legend} and not ${hover.want}`);
				// zoom by dragging, all by double click
				await page.mouse.move(box.x + box.width * 0.3, box.y + 20);
				await page.mouse.down();
				await page.mouse.move(box.x + box.width * 0.6, box.y + 20, { steps: 5 });
				await page.mouse.up();
				const zoom = await page.evaluate(() => { const u = [...document.querySelectorAll('figure')].find((f) => f.stallmark).stallmark; return [u.scales.x.min, u.scales.x.max]; });
				check(zoom[1] - zoom[0] < (before[1] - before[0]) * 0.7, `dragging does not zoom (${before} to ${zoom})`);
				await live.focus();
				await page.keyboard.press('0');
				const all = await page.evaluate(() => { const u = [...document.querySelectorAll('figure')].find((f) => f.stallmark).stallmark; return [u.scales.x.min, u.scales.x.max]; });
				check(Math.abs(all[1] - before[1]) < 1e-6 * (1 + Math.abs(before[1])), 'key 0 does not show all again');
				await page.keyboard.press('ArrowRight');
				check(await page.evaluate(() => document.activeElement.classList.contains('live')), 'charts cannot be reached by keyboard');
			} else if (process.env.NEED_UPLOT) {
				check(false, 'no live chart: uPlot is not embedded');
			}
		}
		if (shots) await page.screenshot({ path: path.join(shots, `${scheme}-${width}.png`), fullPage: true });
		await page.close();
	}
}
// without scripts everything is still there
const quiet = await browser.browser()?.newContext?.({ javaScriptEnabled: false }) ?? null;
if (quiet) {
	const page = await quiet.newPage();
	await page.goto('file://' + path.resolve(file));
	check(await page.$$eval('figure svg', (f) => f.length).catch(() => 1) > 0, 'no picture without scripts');
	await quiet.close();
}
await browser.close();
fs.rmSync(profile, { recursive: true, force: true });
for (const p of [...new Set(problems)].slice(0, 40)) console.log(p);
process.exit(problems.length ? 1 : 0);
