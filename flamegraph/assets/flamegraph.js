// The flame graph's behaviour: zoom, search, details, keyboard. No dependency, no request, no
// markup from data: names come out of <title> text and go in through textContent only.
//
// What the file gives is described in svg.h. One object a frame:
//   el, rect, lab, text   its elements; lab (a clipping <svg>) and text may be missing
//   name, facts, where    the lines of its <title>
//   x, v, d               start, total, depth: the tree's unit, rows from the root
//   up                    its caller's object
//   off, path, hit        hidden; a caller of the zoomed frame; matches the search
//   end                   index after its last descendant: frames are in document order
'use strict';
(() => {
	const ROW = 18, MARGIN = 7000, SPAN = 986000, CHAR = 7.3, PAD = 8, GROWN_MAX = 4000;
	const SVG = 'http://www.w3.org/2000/svg';
	const svg = document.currentScript ? document.currentScript.closest('svg') : document.documentElement;
	const id = (name) => svg.querySelector('#' + name);
	const group = id('frames'), bar = id('bar'), tool = id('tool'), input = id('q'), found = id('found');
	const rows = +svg.dataset.rows, down = svg.dataset.down === '1', top = +svg.dataset.top;
	const samples = +svg.dataset.samples, ns = svg.dataset.unit === 'ns';
	const HELP = ['Point at a frame, or move with Tab and the arrow keys.',
		'Click or Enter zooms, Escape shows all, Back undoes. / searches, n and N go through the hits, c copies the name.'];

	let frames = [];     // in document order, grown ones included
	let zoom, focus;     // the frame shown in full width; the one Tab reaches
	let grown = null;    // the merged frame whose contents are drawn, if any
	let hits = [], at = -1, term = '';
	let charPx = CHAR, widthPx = 0, barPx = 0;
	let moved = false;   // still where the file put them: the first drawing only fits labels

	// ---- frames ----

	function read(el) {
		const lines = el.querySelector('title').textContent.split('\n');
		const lab = el.querySelector('svg');
		const rect = el.querySelector('rect'), row = +rect.getAttribute('y') / ROW;
		return { el, rect, lab, text: lab && lab.querySelector('text'), name: lines[0], facts: lines[1],
			where: lines[2] || '', v: +el.dataset.v, d: down ? row : rows - 1 - row,
			merged: el.classList.contains('m'), thin: el.classList.contains('t'), off: false, path: false };
	}

	// Places in the tree follow from depth and total: children stand side by side at their parent's left.
	function link() {
		const path = [];
		frames.forEach((f, i) => {
			while (path.length > f.d) path.pop().end = i;
			f.up = path[f.d - 1];
			f.x = f.up ? f.up.next : 0;
			f.next = f.x;
			if (f.up) f.up.next += f.v;
			f.i = i;
			path.push(f);
			f.el.frame = f;
		});
		while (path.length) path.pop().end = frames.length;
	}

	const inside = (f, g) => f.i >= g.i && f.i < g.end;
	const pct = (part, whole) => {
		const p = whole ? 100 * part / whole : 0;
		return (p >= 99.995 || p === 0 ? p.toFixed(0) : p >= 0.01 ? p.toFixed(2) : '<0.01') + ' %';
	};
	const value = (v) => {
		if (!ns) return v.toLocaleString('en-US');
		const [n, u] = v >= 1e9 ? [v / 1e9, 's'] : v >= 1e6 ? [v / 1e6, 'ms'] : [v / 1e3, 'us'];
		return n.toPrecision(3) + ' ' + u;
	};

	// Half the 95 % interval of a share p of all samples.
	function error(f) {
		const p = f.v / frames[0].v;
		return '± ' + (196 * Math.sqrt(p * (1 - p) / samples)).toPrecision(2) + ' points';
	}

	// ---- drawing ----

	// Cuts the middle: names differ at their ends. The reason for a missing name goes first, and
	// of a merged frame only the number stays.
	function fit(f, room) {
		if (f.name.length <= room) return f.name;
		const name = f.merged ? f.name.split(' ')[0] : f.name.replace(/^\[unknown[^\]]*\] (?=.)/, '');
		if (name.length <= room) return name;
		if (room < 6) return ''; // "st..d" helps nobody
		const tail = Math.floor((room - 2) * 0.4);
		return name.slice(0, room - 2 - tail) + '..' + (tail ? name.slice(-tail) : '');
	}

	function label(f, w) {
		const text = fit(f, Math.floor((w / 100 * widthPx - PAD) / charPx));
		if (!f.lab) {
			if (!text) return;
			f.lab = document.createElementNS(SVG, 'svg');
			f.text = document.createElementNS(SVG, 'text');
			f.lab.setAttribute('y', f.rect.getAttribute('y'));
			f.lab.setAttribute('height', ROW - 1);
			f.text.setAttribute('x', 4);
			f.text.setAttribute('y', 12.5);
			f.lab.append(f.text);
			f.el.append(f.lab);
		}
		if (f.shown !== text) f.text.textContent = f.shown = text;
	}

	// Millionths of the width, rounded as the file's own positions are: left edges down, widths as
	// differences, so that neighbours meet and reset brings back what was there.
	const ppm = (v) => Math.floor((v - zoom.x) / zoom.v * SPAN + 1e-6);

	function place(f, from, to) {
		const X = ((MARGIN + from) / 1e4).toFixed(4) + '%', w = (to - from) / 1e4, W = w.toFixed(4) + '%', had = f.lab;
		if (moved && (f.X !== X || f.W !== W)) {
			f.X = X;
			f.W = W;
			f.rect.setAttribute('x', X);
			f.rect.setAttribute('width', W);
		}
		label(f, w);
		if (f.lab && f.shown && (moved || !had)) {
			f.lab.setAttribute('x', X);
			f.lab.setAttribute('width', W);
		}
		const thin = w / 100 * widthPx < 3;
		if (thin !== f.thin) f.el.classList.toggle('t', f.thin = thin);
	}

	// The zoomed frame and what it called at full scale, its callers as a path, nothing else.
	function draw() {
		const path = new Set();
		let deepest = zoom.d;
		moved ||= zoom !== frames[0];
		widthPx = svg.getBoundingClientRect().width;
		for (let f = zoom.up; f; f = f.up) path.add(f);
		for (const f of frames) {
			const on = inside(f, zoom), up = path.has(f);
			if (f.off !== (!on && !up)) f.el.classList.toggle('off', f.off = !on && !up);
			if (f.path !== up) f.el.classList.toggle('up', f.path = up);
			if (up) place(f, 0, SPAN);
			else if (on) place(f, ppm(f.x), ppm(f.x + f.v));
			if (on && f.d > deepest) deepest = f.d;
		}
		id('reset').disabled = zoom === frames[0];
		// The controls' height depends on the width; the picture is as high as what it shows.
		bar.setAttribute('height', 400);
		barPx = Math.ceil(tool.getBoundingClientRect().height);
		bar.setAttribute('height', barPx);
		// Where the window has room for all rows nothing moves: the frame clicked stays under the pointer.
		const room = Math.floor((innerHeight - top - barPx - 16) / ROW);
		const shown = Math.max(deepest + 1, Math.min(rows, room));
		group.setAttribute('transform', `translate(0,${top + barPx + 4 + (down ? 0 : (shown - rows) * ROW)})`);
		svg.setAttribute('height', top + barPx + shown * ROW + 12);
		stick();
	}

	// The controls stay in sight when the picture is higher than the window; frames end below them.
	function stick() {
		const y = Math.max(top, Math.round(scrollY));
		bar.setAttribute('y', y);
		id('below').firstElementChild.setAttribute('y', y + barPx);
	}

	const reveal = (f) => {
		const r = f.rect.getBoundingClientRect(), from = bar.getBoundingClientRect().bottom;
		if (r.bottom > innerHeight) scrollBy(0, r.bottom - innerHeight + ROW);
		else if (r.top < from) scrollBy(0, r.top - from - ROW);
	};

	// ---- details ----

	function details(f) {
		const lines = f ? [f.name] : [HELP[0]], rest = [];
		if (!f) rest.push(HELP[1]);
		if (f) {
			rest.push(f.facts);
			if (samples && f.d) rest.push(error(f));
			if (zoom.d && inside(f, zoom) && f !== zoom) rest.push(pct(f.v, zoom.v) + ' of the zoom');
			if (f.up && f.up.d) rest.push(pct(f.v, f.up.v) + (down ? ' of the frame above' : ' of its caller'));
			if (f.where) rest.push(f.where);
			if (f.note) rest.push(f.note);
		}
		id('name').className = f ? '' : 'help';
		id('name').textContent = lines[0];
		id('nums').textContent = rest.join(' · ');
	}

	// ---- state: what is zoomed and searched is in the address, Back undoes a zoom ----

	const key = (f) => f.part === undefined ? String(f.no) : f.owner.no + '.' + f.part;

	function save(push) {
		const p = new URLSearchParams();
		if (zoom !== frames[0]) p.set('z', key(zoom));
		if (term) p.set('s', term);
		const hash = '#' + p;
		if (hash === (location.hash || '#')) return;
		try { history[push ? 'pushState' : 'replaceState'](null, '', hash); } catch { location.hash = hash; }
	}

	async function restore() {
		const p = new URLSearchParams(location.hash.slice(1));
		const [no, part] = (p.get('z') || '0').split('.');
		let f = all.find((g) => String(g.no) === no) || all[0];
		if (part !== undefined && f.merged) {
			await grow(f);
			f = frames.find((g) => g.owner === f && String(g.part) === part) || f;
		}
		await show(f, false);
		const s = p.get('s') ?? new URLSearchParams(location.search).get('s') ?? '';
		if (s !== term) input.value = s;
		await search(s, false);
	}

	async function show(f, push = true) {
		if (f.merged || grown && !(f.owner === grown)) await grow(f.merged ? f : null);
		zoom = f;
		draw();
		details(f.d ? f : null);
		if (push) save(true);
		if (term) tell();
		if (document.activeElement && document.activeElement.frame && document.activeElement.frame.off) take(f);
	}

	// ---- merged frames: their contents are in a packed list (pack.h) ----

	let list; // a promise of { names, groups }, or of null

	function unpack() {
		return list ||= (async () => {
			const text = id('small').textContent.trim();
			if (!text) return null;
			const packed = Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
			const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
			const raw = new Uint8Array(await new Response(stream).arrayBuffer());
			let pos = 0;
			const varint = () => {
				let v = 0, scale = 1, c;
				do {
					c = raw[pos++];
					v += (c & 127) * scale;
					scale *= 128;
				} while (c & 128);
				return v;
			};
			const quantum = varint(), bytes = varint();
			const names = new TextDecoder().decode(raw.subarray(pos, pos += bytes)).split('\n');
			const groups = new Map();
			for (const f of all) {
				if (!f.merged) continue;
				const nodes = [];
				let n = varint(), depth = 0;
				nodes.missing = varint() * quantum;
				for (; n > 0; n--) {
					depth += 1 - varint();
					nodes.push({ d: depth, name: varint(), v: varint() * quantum, missing: varint() * quantum });
				}
				groups.set(f, nodes);
			}
			return { names, groups };
		})().catch(() => null); // too old a browser, or a damaged file
	}

	// Draws what merged frame @f holds above it, or takes such frames away (null).
	async function grow(f) {
		if (grown === f) return;
		const packed = f && await unpack();
		for (const g of frames) if (g.owner) g.el.remove();
		frames = all.slice();
		grown = f;
		const nodes = packed ? packed.groups.get(f) : [];
		let least = 0;
		if (nodes.length > GROWN_MAX)
			least = nodes.map((n) => n.v).sort((a, b) => b - a)[GROWN_MAX - 1];
		const made = [];
		let depth = 0;
		nodes.forEach((n, part) => {
			if (n.v <= least && least || n.d > depth + 1 || made.length >= GROWN_MAX) return;
			depth = n.d;
			const d = f.d + n.d, name = packed.names[n.name];
			const el = document.createElementNS(SVG, 'g'), title = document.createElementNS(SVG, 'title');
			const rect = document.createElementNS(SVG, 'rect');
			el.setAttribute('class', 'f ' + (/^[a-z]\d/.test(name) ? name.slice(0, 2) : 'u0'));
			rect.setAttribute('y', (down ? d : rows - 1 - d) * ROW);
			rect.setAttribute('height', ROW - 1);
			const facts = value(n.v) + ', ' + pct(n.v, all[0].v);
			title.textContent = name.slice(2) + '\n' + facts;
			el.append(title, rect);
			role(el);
			made.push({ el, rect, name: name.slice(2), facts, where: '', v: n.v, d, owner: f, part, off: false, path: false });
		});
		if (f) {
			const notes = [], narrow = nodes.length - made.length;
			if (!nodes.length) notes.push('its frames are not kept in this file');
			else if (nodes.missing) notes.push(pct(nodes.missing, f.v) + ' of it too small to list');
			if (narrow) notes.push(narrow + ' narrower ones not drawn');
			f.note = notes.join(' · ');
			f.el.after(...made.map((g) => g.el));
			frames.splice(f.i + 1, 0, ...made);
		}
		link();
		if (term) await search(term, false);
	}

	// ---- search ----

	// By merged frame: value and number of the matches inside, and the value whose names are not
	// kept and may match. Null: no search. turn: the search being worked on.
	let small = null, turn = 0;

	// What matches among frames [from, to): a match inside a match counts once.
	function matched(from, to) {
		let v = 0, missing = 0;
		for (let i = from; i < to; i++) {
			const f = frames[i], m = small.get(f);
			if (!f.hit && !m) continue;
			v += f.hit ? f.v : m.v;
			missing += f.hit ? 0 : m.missing;
			i = f.end - 1;
		}
		return { v, missing };
	}

	function lookInside(nodes, yes) {
		let v = 0, n = 0, missing = nodes.missing, under = Infinity;
		for (const node of nodes) {
			if (node.d <= under) under = Infinity;
			if (yes[node.name]) n++;
			if (under < Infinity) continue;
			if (yes[node.name]) {
				v += node.v;
				under = node.d;
			} else {
				missing += node.missing;
			}
		}
		return { v, n, missing };
	}

	async function search(text, keep = true) {
		let re = null;
		const mine = ++turn;
		term = text;
		if (keep) save(false);
		try {
			// Lower-case text ignores case.
			re = text ? new RegExp(text, /[A-Z]/.test(text.replace(/\\./g, '')) ? '' : 'i') : null;
		} catch (e) {
			clear('Not a regular expression: ' + e.message.split(': ').pop());
			found.classList.add('bad');
			return;
		}
		if (!re) return clear('');
		const packed = await unpack();
		if (mine !== turn) return;
		small = new Map();
		const yes = packed && packed.names.map((n) => re.test(n.slice(2)));
		for (const f of all)
			if (f.merged) small.set(f, packed ? lookInside(packed.groups.get(f), yes) : { v: 0, n: 0, missing: f.v });
		hits = [];
		at = -1;
		for (const f of frames) {
			f.hit = !f.merged && re.test(f.name);
			f.el.classList.toggle('hit', f.hit);
			const inner = f.merged === true && small.get(f).n > 0;
			f.el.classList.toggle('in', inner);
			if (f.hit || inner && f !== grown) hits.push(f);
		}
		tell();
	}

	function clear(message) {
		hits = [];
		small = null;
		for (const f of frames) {
			f.hit = false;
			f.el.classList.remove('hit', 'in');
		}
		found.classList.remove('bad');
		found.textContent = message;
		id('prev').disabled = id('next').disabled = true;
	}

	function tell() {
		if (!small) return;
		const root = frames[0], sum = matched(0, frames.length), cut = +id('small').dataset.cut;
		const drawn = hits.filter((f) => f.hit).length;
		let inner = 0;
		for (const [f, m] of small) if (f !== grown) inner += m.n;
		const parts = [`Matched: ${pct(sum.v, root.v)} of all`];
		if (sum.missing > root.v * 5e-5) parts[0] += `, and up to ${pct(sum.missing, root.v)} more in frames too small to list`;
		if (zoom.d) {
			let part = matched(zoom.i, zoom.end).v;
			for (let f = zoom; f; f = f.up) if (f.hit) part = zoom.v;
			parts.push(pct(part, zoom.v) + ' of the zoom');
		}
		parts.push(drawn + (drawn === 1 ? ' frame' : ' frames') + (inner ? ` and ${inner} small` : ''));
		if (at >= 0) parts.push(`hit ${at + 1} of ${hits.length}`);
		if (cut) parts.push(`${cut} long names not searched whole`);
		found.classList.remove('bad');
		found.textContent = parts.join(' · ');
		id('prev').disabled = id('next').disabled = !hits.length;
	}

	async function step(by) {
		if (!hits.length) return;
		at = (at + by + hits.length + (at < 0 && by < 0 ? 1 : 0)) % hits.length;
		const f = hits[at], index = at;
		// A hit too narrow to see, or outside the zoom: go where it shows.
		let to = inside(f, zoom) || f === zoom ? zoom : frames[0];
		if (f.v / to.v * widthPx < 4) {
			to = f.up || f;
			while (to.up && f.v / to.up.v * widthPx >= 24) to = to.up;
		}
		if (to !== zoom) await show(to);
		at = index;
		take(f);
		tell();
	}

	// ---- keyboard and pointer ----

	function role(el) {
		el.setAttribute('role', 'button');
		el.setAttribute('tabindex', -1);
	}

	// The one frame that Tab reaches moves along.
	function take(f) {
		if (focus) focus.el.setAttribute('tabindex', -1);
		focus = f;
		f.el.setAttribute('tabindex', 0);
		f.el.focus({ preventScroll: true });
		reveal(f);
	}

	const row = (f) => frames.filter((g) => g.d === f.d && !g.off);
	const widest = (f) => {
		let best = null;
		for (let i = f.i + 1; i < f.end; i = frames[i].end)
			if (!frames[i].off && (!best || frames[i].v > best.v)) best = frames[i];
		return best;
	};

	function move(f, arrow) {
		if (arrow === 'ArrowLeft') return row(f).filter((g) => g.i < f.i).pop();
		if (arrow === 'ArrowRight') return row(f).find((g) => g.i > f.i);
		return (arrow === 'ArrowDown') === down ? widest(f) : f.up;
	}

	function copy(text) {
		if (navigator.clipboard) navigator.clipboard.writeText(text).then(() => { id('nums').textContent = 'Copied.'; }, () => {});
	}

	function stack(f) {
		const names = [];
		for (; f; f = f.up) names.unshift(f.name);
		return names.join(';');
	}

	const frameOf = (target) => {
		const el = target.closest && target.closest('.f');
		return el && el.frame;
	};

	document.addEventListener('click', (e) => {
		const f = frameOf(e.target);
		if (f) show(f).then(() => take(f));
	});
	group.addEventListener('mouseover', (e) => details(frameOf(e.target)));
	group.addEventListener('mouseleave', () => details(focus && document.activeElement === focus.el ? focus : zoom.d ? zoom : null));
	// On the document: Chromium makes an SVG element with a listener for focus a stop of the Tab key.
	document.addEventListener('focusin', (e) => { if (frameOf(e.target)) details(focus = frameOf(e.target)); });
	id('reset').addEventListener('click', () => show(all[0]));
	id('next').addEventListener('click', () => step(1));
	id('prev').addEventListener('click', () => step(-1));
	let wait = 0;
	input.addEventListener('input', () => {
		clearTimeout(wait);
		wait = setTimeout(() => search(input.value), 120);
	});
	document.addEventListener('keydown', (e) => {
		const f = frameOf(e.target), typing = e.target === input;
		if ((e.ctrlKey || e.metaKey) && e.key === 'f' && !typing || e.key === '/' && !typing) {
			input.focus();
			input.select();
		} else if (e.ctrlKey || e.metaKey || e.altKey) {
			return;
		} else if (typing) {
			if (e.key === 'Enter') {
				clearTimeout(wait);
				(input.value === term ? Promise.resolve() : search(input.value)).then(() => step(e.shiftKey ? -1 : 1)).then(() => input.focus());
			} else if (e.key === 'Escape') {
				input.value = '';
				clearTimeout(wait);
				search('');
				input.blur();
			} else {
				return;
			}
		} else if (e.key === 'Escape') {
			show(all[0]);
		} else if (e.key === 'n' || e.key === 'N') {
			step(e.key === 'n' ? 1 : -1);
		} else if (f && (e.key === 'Enter' || e.key === ' ')) {
			show(f).then(() => take(f));
		} else if (f && e.key.startsWith('Arrow')) {
			const to = move(f, e.key);
			if (to) take(to);
		} else if (f && (e.key === 'c' || e.key === 'C')) {
			copy(e.key === 'c' ? f.name : stack(f));
		} else {
			return;
		}
		e.preventDefault();
	});
	addEventListener('popstate', restore);
	addEventListener('scroll', stick, { passive: true });
	let frame = 0;
	addEventListener('resize', () => {
		cancelAnimationFrame(frame);
		frame = requestAnimationFrame(draw);
	});

	// ---- start ----

	const all = [...group.children].map(read);
	all.forEach((f, no) => {
		f.no = no;
		role(f.el);
	});
	frames = all.slice();
	link();
	zoom = all[0];
	focus = all[0];
	focus.el.setAttribute('tabindex', 0);
	svg.classList.add('js');
	id('view').setAttribute('clip-path', 'url(#below)');
	const probe = all.find((f) => f.text);
	if (probe && probe.text.getComputedTextLength) {
		const n = probe.text.textContent.length;
		charPx = n ? probe.text.getComputedTextLength() / n || CHAR : CHAR;
	}
	clear('');
	restore().then(() => {
		// A picture higher than the window starts where the root is.
		if (!down && !location.hash) scrollTo(0, document.documentElement.scrollHeight);
	});
})();
