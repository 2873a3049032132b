// SPDX-License-Identifier: BSD-2-Clause
// browser.js PLAIN.svg HOSTILE.svg INVERTED.svg LARGE.svg: uses our flame graphs as a person does, in a
// headless Chromium, over its debugging pipe (no package beyond node and chromium). What the pictures
// hold is made by browser.sh. Lines "ok NAME" or "FAIL NAME: why". SHOT=DIR keeps screenshots.
'use strict';
const { spawn } = require('child_process');
const fs = require('fs'), os = require('os'), path = require('path');

const [plain, hostile, inverted, large] = process.argv.slice(2).map((f) => path.resolve(f));
const home = fs.mkdtempSync(path.join(os.tmpdir(), 'profbpf-browser.'));
const chromium = spawn(process.env.CHROMIUM || 'chromium', ['--headless=new', '--no-sandbox', '--disable-gpu',
	'--disable-dev-shm-usage', '--no-first-run', '--disable-background-networking', '--disable-component-update',
	'--remote-debugging-pipe', '--user-data-dir=' + home, '--window-size=1200,800', 'about:blank'],
{ stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], env: { ...process.env, HOME: home } });
let failed = 0, id = 0, session, rest = '';
const waiting = new Map();
let trouble = []; // exceptions, errors, dialogs and requests of the page

chromium.stdio[4].on('data', (data) => {
	const parts = (rest + data).split('\0');
	rest = parts.pop();
	for (const part of parts) {
		const m = JSON.parse(part);
		if (m.id) {
			const { resolve, reject } = waiting.get(m.id);
			waiting.delete(m.id);
			if (m.error) reject(new Error(m.error.message));
			else resolve(m.result);
		} else if (m.method === 'Runtime.exceptionThrown') {
			trouble.push('exception: ' + (m.params.exceptionDetails.exception || {}).description);
		} else if (m.method === 'Log.entryAdded' && m.params.entry.level === 'error') {
			trouble.push('error: ' + m.params.entry.text);
		} else if (m.method === 'Page.javascriptDialogOpening') {
			trouble.push('dialog: ' + m.params.message);
			send('Page.handleJavaScriptDialog', { accept: false });
		} else if (m.method === 'Network.requestWillBeSent' && !/^(file|data|blob|about):/.test(m.params.request.url)) {
			trouble.push('request: ' + m.params.request.url);
		}
	}
});

function send(method, params = {}) {
	return new Promise((resolve, reject) => {
		waiting.set(++id, { resolve, reject });
		chromium.stdio[3].write(JSON.stringify({ id, method, params, sessionId: session }) + '\0');
	});
}
const sleep = (ms) => new Promise((r) => setTimeout(r, ms));

async function js(expression) {
	const r = await send('Runtime.evaluate', { expression, returnByValue: true, awaitPromise: true });
	if (r.exceptionDetails) throw new Error(r.exceptionDetails.exception.description);
	return r.result.value;
}
// Waits until the expression is true: pictures are redrawn after a promise or two.
async function until(expression, what) {
	for (let i = 0; i < 60; i++) {
		if (await js(expression)) return;
		await sleep(50);
	}
	throw new Error(what || 'never became true: ' + expression);
}
async function open(file) {
	trouble = [];
	await send('Page.navigate', { url: 'about:blank' });
	await send('Page.navigate', { url: 'file://' + file });
	await until("document.querySelector('svg.js') !== null", 'the script did not start');
	await sleep(150);
}
const key = async (k, code = k, text) => {
	await send('Input.dispatchKeyEvent', { type: text ? 'keyDown' : 'rawKeyDown', key: k, code, text, windowsVirtualKeyCode: { Escape: 27, Enter: 13 }[k] || 0 });
	await send('Input.dispatchKeyEvent', { type: 'keyUp', key: k, code });
};
const mouse = (type, p, more) => send('Input.dispatchMouseEvent', { type, x: p.x, y: p.y, ...more });
async function click(p) {
	await mouse('mouseMoved', p);
	await mouse('mousePressed', p, { button: 'left', clickCount: 1 });
	await mouse('mouseReleased', p, { button: 'left', clickCount: 1 });
	await sleep(150);
}
// The frame of this name: where its middle is, and how wide it is.
const frame = (name) => js(`(() => {
	const el = [...document.querySelectorAll('#frames > .f')].find((g) => g.querySelector('title').textContent.split('\\n')[0] === ${JSON.stringify(name)});
	if (!el) return null;
	el.scrollIntoView({ block: 'center' });
	const r = el.querySelector('rect').getBoundingClientRect();
	return { x: r.left + r.width / 2, y: r.top + r.height / 2, w: r.width, off: el.classList.contains('off') };
})()`);
const text = (selector) => js(`document.querySelector(${JSON.stringify(selector)}).textContent`);
function expect(condition, what) {
	if (!condition) throw new Error(what);
}
const near = (a, b) => Math.abs(a - b) < 2.5;

async function test(name, run) {
	try {
		await run();
		expect(!trouble.length, trouble.join('; '));
		console.log('ok ' + name);
	} catch (e) {
		failed++;
		console.log('FAIL ' + name + ': ' + e.message.split('\n')[0]);
	}
	if (process.env.SHOT) {
		const shot = await send('Page.captureScreenshot', {});
		fs.writeFileSync(path.join(process.env.SHOT, name + '.png'), Buffer.from(shot.data, 'base64'));
	}
}

async function main() {
	const { targetInfos } = await send('Target.getTargets');
	const page = targetInfos.find((t) => t.type === 'page');
	({ sessionId: session } = await send('Target.attachToTarget', { targetId: page.targetId, flatten: true }));
	for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await send(domain + '.enable');

	await test('opens', async () => {
		await open(plain);
		const all = await frame('all');
		const main_ = await frame('main');
		expect(all && main_ && near(all.w, main_.w), 'main is not as wide as all');
		expect(near((await frame('hash_block')).w, all.w * 0.5), 'hash_block is not half of all');
	});
	await test('hover-shows-details', async () => {
		await mouse('mouseMoved', await frame('hash_block'));
		await sleep(100);
		expect(await text('#name') === 'hash_block', 'the name is not shown');
		expect(/50(\.0+)? %/.test(await text('#nums')), 'its share is not shown: ' + await text('#nums'));
	});
	await test('click-zooms-and-escape-resets', async () => {
		const wide = (await frame('all')).w;
		await click(await frame('digest'));
		expect(near((await frame('hash_block')).w, wide), 'the zoomed frame does not fill the width');
		expect((await frame('parse_record')).off, 'a frame outside the zoom is still drawn');
		expect(!(await frame('main')).off, 'the callers are gone');
		await key('Escape');
		await sleep(150);
		expect(near((await frame('hash_block')).w, wide * 0.5), 'Escape does not show all again');
		expect(!(await frame('parse_record')).off, 'a frame did not come back');
	});
	await test('back-undoes-a-zoom', async () => {
		const wide = (await frame('all')).w;
		await click(await frame('digest'));
		await js('history.back()');
		await sleep(300);
		expect(near((await frame('hash_block')).w, wide * 0.5), 'the zoom is still there');
	});
	await test('search-shows-its-share', async () => {
		await key('/', 'Slash', '/');
		await send('Input.insertText', { text: 'hash|parse' });
		await until("/Matched: 70(\\.0+)? %/.test(document.querySelector('#found').textContent)", 'no "Matched: 70 %": ' + await text('#found'));
		expect(await js("document.querySelectorAll('#frames > .hit').length") === 2, 'not two hits');
		await key('Escape');
	});
	await test('bad-pattern-is-said', async () => {
		await key('/', 'Slash', '/');
		await send('Input.insertText', { text: '(' });
		await until("/regular expression/.test(document.querySelector('#found').textContent)");
		await key('Escape');
	});
	await test('keyboard-alone', async () => {
		await key('Escape');
		const wide = (await frame('all')).w;
		await js("document.querySelector('#frames > [tabindex=\"0\"]').focus()");
		await key('ArrowUp');
		await key('ArrowUp');
		expect(await js("document.activeElement.querySelector('title').textContent.split('\\n')[0]") === 'main' ||
			await js("document.activeElement.querySelector('title').textContent.split('\\n')[0]") === 'digest', 'the arrow does not move to a callee');
		await key('Enter');
		await sleep(150);
		expect((await frame('all')).w === wide, 'zoom by Enter broke the root');
		await key('Escape');
	});
	await test('hostile-names-stay-text', async () => {
		await open(hostile);
		const names = await js("[...document.querySelectorAll('#frames title')].map((t) => t.textContent.split('\\n')[0])");
		expect(names.includes('<script>alert(1)</script>'), 'the name is not shown as it is: ' + names.join(' | '));
		expect(await js("document.querySelectorAll('script').length") === 1, 'a second script');
		expect(await js("document.querySelectorAll('#frames img, #frames a, #frames foreignObject').length") === 0, 'markup from a name');
		await key('/', 'Slash', '/');
		await send('Input.insertText', { text: 'onload' });
		await until("/Matched/.test(document.querySelector('#found').textContent)");
		expect(await js('window.owned') === undefined, 'a name was run');
		await key('Escape');
	});
	await test('inverted', async () => {
		await open(inverted);
		const [top, below] = [await js("document.querySelector('#frames > .f rect').getBoundingClientRect().top"),
			await js(`[...document.querySelectorAll('#frames > .f')].find((g) => g.querySelector('title').textContent.startsWith('digest\\n')).querySelector('rect').getBoundingClientRect().top`)];
		expect(below > top, 'callers are not below the leaf');
	});
	await test('large-and-merged-frames', async () => {
		await open(large);
		const n = await js("document.querySelectorAll('#frames > .f').length");
		expect(n > 500 && n < 20000, n + ' frames drawn');
		const merged = await js(`(() => {
			const m = [...document.querySelectorAll('#frames > .m')].sort((a, b) => b.querySelector('rect').getBoundingClientRect().width - a.querySelector('rect').getBoundingClientRect().width)[0];
			if (!m) return null;
			m.scrollIntoView({ block: 'center' });
			const r = m.querySelector('rect').getBoundingClientRect();
			return { x: r.left + r.width / 2, y: r.top + r.height / 2 };
		})()`);
		expect(merged, 'nothing is merged');
		await click(merged);
		await until(`document.querySelectorAll('#frames > .f').length > ${n}`, 'a merged frame does not show what it holds');
	});
}

const limit = setTimeout(() => { console.log('FAIL browser: still busy after 90 s'); end(1); }, 90000);
function end(status) {
	clearTimeout(limit);
	chromium.kill('SIGKILL');
	chromium.on('exit', () => {
		fs.rmSync(home, { recursive: true, force: true, maxRetries: 5 });
		process.exit(status);
	});
	setTimeout(() => process.exit(status), 3000).unref();
}
chromium.on('error', (e) => { console.log('FAIL browser: ' + e.message); process.exit(1); });
main().then(() => end(failed ? 1 : 0), (e) => { console.log('FAIL browser: ' + e.message); end(1); });
