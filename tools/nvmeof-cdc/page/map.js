// SPDX-License-Identifier: LGPL-2.1-or-later
// A canvas of hosts (from left to right, those of the same zones together) by targets (from top to bottom): a pixel or
// more for each pair, in the colour of the target's state where the host sees it. Above, what hosts know.

const gutter = 190, zoneLine = 18, strip = 9, gap = 4;
const mostHeight = 560, leastRow = 2, mostRow = 22, mostColumn = 120;

function rgb(text) {
	const probe = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
	probe.fillStyle = text;
	probe.fillRect(0, 0, 1, 1);
	return probe.getImageData(0, 0, 1, 1).data;
}

// What names have in common at their beginning, up to a separator
function commonPrefix(names) {
	if (names.length < 2)
		return '';
	let prefix = names[0];
	for (const name of names)
		while (!name.startsWith(prefix))
			prefix = prefix.slice(0, -1);
	return prefix.slice(0, Math.max(prefix.lastIndexOf(':'), prefix.lastIndexOf('.')) + 1);
}

export class HostMap {
	// selected(host, target): of those shown, or null
	constructor(canvas, selected) {
		this.canvas = canvas;
		this.selected = selected;
		this.base = document.createElement('canvas');
		this.cells = document.createElement('canvas');
		this.hosts = [];
		this.targets = [];
		this.at = null; // {host, target}: places
		canvas.addEventListener('pointermove', event => this.point(event));
		canvas.addEventListener('keydown', event => this.key(event));
		new ResizeObserver(() => this.draw()).observe(canvas.parentElement);
		matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
	}

	// hosts: in order, with view (a set of places in targets) and state
	show(hosts, targets, views, zoneName) {
		const { at } = this;
		const before = at && { host: this.hosts[at.host]?.nqn, target: this.targets[at.target]?.key };
		Object.assign(this, { hosts, targets, views, zoneName });
		if (before) {
			const host = hosts.findIndex(one => one.nqn === before.host);
			const target = targets.findIndex(one => one.key === before.target);
			this.at = host >= 0 && target >= 0 ? { host, target } : null;
		}
		this.draw();
	}

	colour(name) {
		return getComputedStyle(this.canvas).getPropertyValue('--' + name).trim();
	}

	layout() {
		const width = this.canvas.parentElement.clientWidth;
		const room = width - gutter;
		this.column = Math.min(room / this.hosts.length, mostColumn);
		this.row = Math.max(leastRow, Math.min(mostRow, mostHeight / this.targets.length));
		this.left = gutter;
		this.top = zoneLine + strip + gap;
		this.width = width;
		this.height = this.top + this.row * this.targets.length + 2;
	}

	draw() {
		const shown = this.hosts.length > 0 && this.targets.length > 0;
		this.canvas.hidden = !shown;
		if (!shown)
			return;
		this.layout();
		const scale = window.devicePixelRatio || 1;
		for (const canvas of [this.canvas, this.base]) {
			canvas.width = Math.round(this.width * scale);
			canvas.height = Math.round(this.height * scale);
		}
		this.canvas.style.height = this.height + 'px';
		const to = this.base.getContext('2d');
		to.setTransform(scale, 0, 0, scale, 0, 0);
		this.drawCells(to);
		this.drawStrip(to);
		this.drawGroups(to);
		this.drawTargets(to);
		this.mark();
	}

	// One pixel a pair, which the browser makes larger, or averages where there are more than fit
	drawCells(to) {
		const { hosts, targets, cells } = this;
		const colours = new Map();
		const of = state => colours.get(state) || colours.set(state, rgb(this.colour(state))).get(state);
		cells.width = hosts.length;
		cells.height = targets.length;
		const from = cells.getContext('2d');
		const image = from.createImageData(hosts.length, targets.length);
		const field = rgb(this.colour('field'));
		hosts.forEach((host, x) => {
			const view = this.views[host.view];
			targets.forEach((target, y) => {
				const colour = view && view.has(target.place) ? of(target.state) : field;
				const alpha = host.state === 'away' && colour !== field ? 110 : 255;
				image.data.set([colour[0], colour[1], colour[2], alpha], (y * hosts.length + x) * 4);
			});
		});
		from.putImageData(image, 0, 0);
		const width = this.column * hosts.length, height = this.row * targets.length;
		to.imageSmoothingEnabled = this.column * (window.devicePixelRatio || 1) < 1;
		to.imageSmoothingQuality = 'high';
		to.drawImage(cells, this.left, this.top, width, height);
		this.drawGrid(to, width, height);
	}

	drawGrid(to, width, height) {
		to.fillStyle = this.colour('panel');
		if (this.column >= 5)
			for (let x = 0; x <= this.hosts.length; x++)
				to.fillRect(this.left + x * this.column - .5, this.top, 1, height);
		if (this.row >= 5)
			for (let y = 0; y <= this.targets.length; y++)
				to.fillRect(this.left, this.top + y * this.row - .5, width, 1);
	}

	drawStrip(to) {
		const gapped = this.column >= 5 ? 1 : 0;
		for (const state of ['current', 'away', 'unread', 'behind']) { // the last is seen, however narrow
			to.fillStyle = this.colour(state);
			const width = Math.max(this.column - gapped, state === 'current' ? .5 : 1.5);
			this.hosts.forEach((host, x) => host.state === state &&
				to.fillRect(this.left + x * this.column, zoneLine, width, strip));
		}
	}

	// Zones above, with a line between one group of hosts and the next
	drawGroups(to) {
		to.font = '11.5px system-ui, sans-serif';
		to.textBaseline = 'middle';
		let free = 0;
		for (let begin = 0; begin < this.hosts.length;) {
			let end = begin;
			while (end < this.hosts.length && this.hosts[end].view === this.hosts[begin].view)
				end++;
			const x = this.left + begin * this.column, room = (end - begin) * this.column;
			const name = this.zoneName(this.hosts[begin].view);
			if (begin > 0) {
				to.fillStyle = this.colour('ink');
				to.globalAlpha = .55;
				to.fillRect(x - .5, zoneLine, 1, this.height - zoneLine);
				to.globalAlpha = 1;
			}
			to.fillStyle = this.colour('muted');
			if (x >= free && room >= 14) {
				const label = this.fitted(to, name, room - 6);
				to.fillText(label, x + (begin ? 3 : 0), zoneLine / 2);
				free = x + to.measureText(label).width + 6;
			}
			begin = end;
		}
	}

	fitted(to, text, room) {
		if (to.measureText(text).width <= room)
			return text;
		while (text && to.measureText(text + '\u2026').width > room)
			text = text.slice(0, -1);
		return text ? text + '\u2026' : '';
	}

	// The subsystem of as many rows as there is room for
	drawTargets(to) {
		const prefix = commonPrefix([...new Set(this.targets.map(target => target.nqn))]);
		to.font = '11.5px ui-monospace, "DejaVu Sans Mono", monospace';
		to.textAlign = 'right';
		to.fillStyle = this.colour('muted');
		let last = -100;
		for (let begin = 0; begin < this.targets.length;) {
			let end = begin;
			while (end < this.targets.length && this.targets[end].nqn === this.targets[begin].nqn)
				end++;
			const y = this.top + (begin + end) / 2 * this.row;
			if (y - last >= 13) {
				let name = this.targets[begin].nqn.slice(prefix.length);
				while (to.measureText(name).width > gutter - 12)
					name = '\u2026' + name.slice(name[0] === '\u2026' ? 2 : 1);
				to.fillText(name, this.left - 8, y);
				last = y;
			}
			begin = end;
		}
		to.textAlign = 'left';
	}

	mark() {
		const to = this.canvas.getContext('2d');
		to.setTransform(1, 0, 0, 1, 0, 0);
		to.clearRect(0, 0, this.canvas.width, this.canvas.height);
		to.drawImage(this.base, 0, 0);
		if (!this.at)
			return this.selected(null, null);
		const scale = window.devicePixelRatio || 1;
		to.setTransform(scale, 0, 0, scale, 0, 0);
		const x = this.left + this.at.host * this.column, y = this.top + this.at.target * this.row;
		to.fillStyle = this.colour('ink');
		to.globalAlpha = .22;
		to.fillRect(x, zoneLine, Math.max(this.column, 1), this.height - zoneLine);
		to.fillRect(this.left, y, this.column * this.hosts.length, this.row);
		to.globalAlpha = 1;
		to.strokeStyle = this.colour('ink');
		to.lineWidth = 1.5;
		to.strokeRect(x - 2.5, y - 2.5, Math.max(this.column, 1) + 5, this.row + 5);
		this.selected(this.hosts[this.at.host], this.targets[this.at.target]);
	}

	select(host, target) {
		const within = (value, count) => Math.max(0, Math.min(count - 1, value));
		this.at = { host: within(host, this.hosts.length), target: within(target, this.targets.length) };
		this.mark();
	}

	point(event) {
		const box = this.canvas.getBoundingClientRect();
		const host = Math.floor((event.clientX - box.left - this.left) / this.column);
		const target = Math.floor((event.clientY - box.top - this.top) / this.row);
		if (host >= 0 && host < this.hosts.length)
			this.select(host, target);
	}

	key(event) {
		const at = this.at || { host: 0, target: 0 };
		const steps = {
			ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
			PageUp: [0, -10], PageDown: [0, 10], Home: [-1e9, 0], End: [1e9, 0],
		};
		if (event.key === 'Escape') {
			this.at = null;
			this.mark();
		} else if (steps[event.key] && !event.altKey && !event.metaKey) {
			const by = event.shiftKey ? 10 : 1;
			event.preventDefault();
			this.select(at.host + steps[event.key][0] * by, at.target + steps[event.key][1] * by);
		}
	}
}
