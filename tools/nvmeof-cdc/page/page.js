// SPDX-License-Identifier: LGPL-2.1-or-later
// Shows /api/state, and updates it after each change in /api/events and every few seconds, because hosts come and go.
import { HostMap } from './map.js';

const often = 4000, soon = 150, settling = [600, 1800]; // ms
const mostChanges = 100, mostRows = 500, mostBars = 9;

const states = ['current', 'behind', 'unread', 'away'];
const stateTexts = {
	current: 'has the current log', behind: 'has not read the last change', unread: 'has not read its log',
	away: 'not connected',
};
const anaStates = ['optimized', 'non-optimized', 'change', 'inaccessible', 'persistent-loss'];

const byId = id => document.getElementById(id);
const number = new Intl.NumberFormat('en');
const count = value => number.format(value);
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

let state = null, before = null, filter = '';
let changes = new Map(); // by number
let since = null;        // of the instance

function make(name, properties = {}, ...children) {
	const element = Object.assign(document.createElement(name), properties);
	element.append(...children.filter(child => child !== null && child !== undefined));
	return element;
}

function bytes(many) {
	let power = 0;
	for (; many >= 999.5 && power < 5; power++)
		many /= 1000;
	return `${many.toFixed(many >= 100 || !power ? 0 : 1)} ${['B', 'kB', 'MB', 'GB', 'TB', 'PB'][power]}`;
}

function plural(many, word) {
	return `${count(many)} ${word}${many === 1 ? '' : 's'}`;
}

const line = (name, className, textContent) => make(name, { className, textContent });

function swatch(colour) {
	const element = make('span', { className: 'swatch' });
	element.style.background = `var(--${colour})`;
	return element;
}

function age(seconds) {
	const units = [[86400, 'd'], [3600, 'h'], [60, 'min'], [1, 's']];
	const at = units.findIndex(([size]) => seconds >= size);
	if (at < 0)
		return '0 s';
	const [[size, name], [less, nameOfLess] = []] = units.slice(at);
	const rest = less ? ` ${Math.floor(seconds % size / less)} ${nameOfLess}` : '';
	return `${Math.floor(seconds / size)} ${name}${rest}`;
}

const clock = time => new Date(time * 1000).toTimeString().slice(0, 8);

function portOf({ transport, traddr, trsvcid }) {
	return `${transport} ${traddr.includes(':') ? `[${traddr}]` : traddr}:${trsvcid}`;
}

// Numbers in names by their size: node2 before node10
const inOrder = new Intl.Collator('en', { numeric: true }).compare;

function zoneName(view) {
	const one = state.views[view];
	if (!one)
		return 'unknown';
	return one.zones.length ? one.zones.join(' + ') : one.all ? 'no zone, sees all' : 'no zone';
}

function teller(record) {
	const sources = {
		file: 'configuration', control: 'manual change', pull: 'pull from ', push: 'registration of ',
	};
	return sources[record.source] +
		(record.source === 'pull' || record.source === 'push' ? record.owner || '' : '');
}

// ---- summary

function figure(name, value, more = '', warn = false) {
	const element = make('div', { className: 'figure' }, line('div', 'name', name), line('div', 'value', value),
		line('div', warn ? 'more warn' : 'more', more));
	const old = [...byId('figures').children].find(one => one.firstChild.textContent === name);
	if (old && old.children[1].textContent !== value)
		element.classList.add('changed');
	return element;
}

function rate(counter, text) {
	const time = state.time - before.time;
	const many = time > 0 ? (state.counters[counter] - before.counters[counter]) / time : NaN;
	return many >= 0 ? `${text(many)}/s` : '\u2013';
}

function showFigures() {
	const { counts } = state;
	const connected = counts.hosts - counts.away;
	const usable = state.targets.filter(target => target.state === 'optimized').length;
	const late = counts.behind + counts.unread;
	const last = [...changes.values()].at(-1);
	const inAll = (counter, text) => `${text(state.counters[counter])} in total`;
	const figures = [
		['Generation', count(state.generation), last ? `last change ${clock(last.time)}` : ''],
		['Hosts connected', count(connected), late ? `${count(late)} not up to date` : connected ? 'all up to date' : '',
			late > 0],
		['Registered', count(counts.registered), counts.away ? `${count(counts.away)} away` : ''],
		['Targets', count(counts.targets), `${usable === counts.targets ? 'all' : count(usable)} optimized`],
		['Zones', count(counts.zones), plural(state.views.length, 'view')],
		['Log reads', rate('log_reads', compact.format), inAll('log_reads', compact.format)],
		['Events', rate('events', compact.format), inAll('events', compact.format)],
		['Sent', rate('sent_bytes', bytes), inAll('sent_bytes', bytes)],
	];
	byId('figures').replaceChildren(...figures.map(one => figure(...one)));
}

function showAlerts() {
	const { store, instance } = state;
	const texts = [];
	if (!state.serving)
		texts.push('The store has not loaded its records yet: no host is served.');
	if (instance.draining)
		texts.push('This instance is draining: it hands its hosts over and then ends.');
	if (!store.writable)
		texts.push(`The store cannot be written${store.trouble ? `: ${store.trouble}` : ''}.`);
	if (store.stale_since)
		texts.push(`Changes of other instances have not arrived for ${age(state.time - store.stale_since)}.`);
	byId('alerts').replaceChildren(...texts.map(text => line('p', 'alert', text)));
}

// ---- the map

const map = new HostMap(byId('map'), showDetail);

function matches(text) {
	return text.toLowerCase().includes(filter);
}

function hostMatches(host) {
	return matches(host.nqn) || matches(host.address || '') || matches(host.name || '') || matches(host.state) ||
		(state.views[host.view]?.zones || []).some(matches);
}

const targetMatches = target => matches(target.key) || matches(target.state);

// What fits the filter. Where only hosts do, they are shown with all targets, and the other way round.
function shown() {
	for (const [place, target] of state.targets.entries())
		Object.assign(target, { place, key: `${target.nqn} ${portOf(target)}` });
	const hosts = state.hosts.filter(hostMatches), targets = state.targets.filter(targetMatches);
	const none = !hosts.length && !targets.length;
	const shownTargets = targets.length || none ? targets : [...state.targets];
	return { hosts: ordered(hosts.length || none ? hosts : state.hosts),
		targets: shownTargets.sort((a, b) => inOrder(a.key, b.key)) };
}

function ordered(hosts) {
	const names = state.views.map((_, view) => zoneName(view));
	return [...hosts].sort((a, b) => inOrder(names[a.view] || '', names[b.view] || '') || inOrder(a.nqn, b.nqn));
}

function showMap() {
	const { hosts, targets } = shown();
	map.show(hosts, targets, state.views.map(view => new Set(view.targets)), zoneName);
	const some = (list, all, word) => list.length === all.length ? plural(all.length, word)
		: `${count(list.length)} of ${plural(all.length, word)}`;
	const counted = [some(hosts, state.hosts, 'host'), some(targets, state.targets, 'target')];
	byId('map-count').textContent = counted.join(', ');
	const empty = byId('map-empty');
	empty.hidden = hosts.length > 0 && targets.length > 0;
	empty.textContent = !state.targets.length ? 'No target is known yet.'
		: state.hosts.length ? 'Nothing matches the filter.' : 'No host is connected, and none has registered.';
	const used = new Set(state.targets.map(target => target.state));
	const entry = (colour, text, apart) => make('li', { className: apart ? 'apart' : '' }, swatch(colour), text);
	byId('legend').replaceChildren(
		...anaStates.filter(name => used.has(name)).map(name => entry(name, name)),
		...states.filter(name => state.counts[name])
			.map((name, i) => entry(name, name === 'away' ? name : `log ${name}`, i === 0)));
	showHosts(hosts);
	showTargets(targets);
}

function hostLines(host) {
	const of = [host.name, host.address, `zone: ${zoneName(host.view)}`];
	const log = [`log: ${host.state}, ${stateTexts[host.state]}`, host.generation && `generation ${count(host.generation)}`,
		host.persistent && 'waits for events', !host.first_choice && 'prefers another instance'];
	return [of, log].map(words => words.filter(Boolean).join(', '));
}

function showDetail(host, target) {
	const detail = byId('detail');
	if (!host || !target)
		return detail.replaceChildren(
			line('p', 'muted', 'Point at the map, or focus it and use the arrow keys.'));
	const sees = state.views[host.view]?.targets.includes(target.place);
	const of = (title, name, lines) => make('div', {}, line('b', '', title), line('span', 'code', name),
		...lines.map(text => line('div', 'muted', text)));
	detail.replaceChildren(of('Host', host.nqn, hostLines(host)),
		of('Target', target.nqn, [`${portOf(target)}, ${target.state}, source: ${teller(target)}`,
			`visible to ${plural(target.visible_to, 'host')}; this host ${sees ? 'sees it' : 'does not see it'}`]));
}

// ---- generations, changes, the service

function showGenerations() {
	const groups = new Map();
	for (const host of state.hosts) {
		if (host.state === 'away')
			continue;
		const key = host.generation || 0;
		const group = groups.get(key) || { current: 0, behind: 0, unread: 0, all: 0 };
		group[host.state]++;
		group.all++;
		groups.set(key, group);
	}
	const order = [...groups].sort((a, b) => b[0] - a[0]);
	const rest = order.splice(mostBars);
	const most = Math.max(1, ...order.map(([, group]) => group.all));
	const bars = order.map(([generation, group]) => {
		const track = make('span', { className: 'track' });
		for (const name of ['current', 'behind', 'unread']) {
			const part = make('i', { className: name });
			part.style.width = `${group[name] / most * 100}%`;
			track.append(part);
		}
		return make('div', { className: 'bar' }, line('span', '', generation ? count(generation) : 'none'), track,
			line('span', 'number', count(group.all)));
	});
	const others = rest.reduce((sum, [, group]) => sum + group.all, 0);
	if (others)
		bars.push(line('p', 'muted note', `and ${plural(others, 'host')} with ${plural(rest.length, 'older one')}`));
	if (!bars.length)
		bars.push(line('p', 'muted', 'No host is connected.'));
	byId('generations').replaceChildren(...bars);
}

// Of a key: targets/NQN tcp 10.0.0.1 4420
function record(key, className) {
	const [kind, name] = [key.slice(0, key.indexOf('/')), key.slice(key.indexOf('/') + 1)];
	const word = { targets: 'target', zones: 'zone', hosts: 'host', instances: 'instance' }[kind] || kind;
	const [nqn, transport, traddr, trsvcid] = name.split(' ');
	return make('span', { className: `record ${className}` }, `${word} `, line('span', 'code', nqn),
		trsvcid ? line('span', 'port muted', ` ${portOf({ transport, traddr, trsvcid })}`) : null);
}

function changeItem(change, isNew) {
	const item = make('li', { className: isNew ? 'new' : '' });
	item.append(line('time', '', clock(change.time)),
		line('span', 'muted', change.dropped ? '' : count(change.generation)));
	const what = make('div');
	if (change.dropped)
		what.append(`${plural(change.dropped, 'change')} not shown, because they followed too fast`);
	if (change.whole)
		what.append('the whole store was read');
	for (const [name, keys] of [['put', change.put], ['removed', change.removed]])
		what.append(...(keys || []).slice(0, 4).map(key => record(key, name)));
	const more = (change.put || []).slice(4).length + (change.removed || []).slice(4).length + (change.more || 0);
	if (more)
		what.append(line('span', 'muted', `and ${count(more)} more`));
	item.append(what);
	return item;
}

function showChanges(fresh) {
	const list = [...changes.values()].slice(-mostChanges).reverse();
	byId('changes').replaceChildren(...list.map(change => changeItem(change, fresh?.has(change.number))));
	if (!list.length)
		byId('changes').append(line('li', 'muted', 'None yet.'));
}

function addChanges(list, fresh) {
	const added = new Set();
	for (const change of list)
		if (!changes.has(change.number)) {
			changes.set(change.number, change);
			added.add(change.number);
		}
	if (!added.size)
		return;
	changes = new Map([...changes].sort((a, b) => a[0] - b[0]).slice(-mostChanges));
	showChanges(fresh ? added : null);
}

function showService() {
	const { instance, store } = state;
	byId('who').textContent = instance.nqn;
	document.title = `${instance.draining ? 'draining, ' : ''}generation ${state.generation} \u2013 nvmeof-cdc`;
	const { counters } = state;
	const lines = [
		['Version', instance.version],
		['Up', age(state.time - instance.since)],
		['Store', `${store.engine}, ${store.writable ? 'writable' : 'not writable'}`],
		['', store.place],
		['Connections', count(state.counts.connections)],
		['Admitted', `${count(counters.hosts)} hosts, ${count(counters.hosts_waited)} of them waited`],
		['Refused', `${count(counters.hosts_busy)} busy, ${count(counters.hosts_refused)} failed, ` +
			`${count(counters.connections_refused)} over a limit`],
		['Identity', `${count(counters.authentications_failed + counters.tls_handshakes_failed)} wrong keys, ` +
			`${count(counters.hosts_refused_no_key + counters.hosts_refused_bad_key)} without a usable key, ` +
			`${count(counters.hosts_refused_plain)} without TLS`],
		['Closed', `${count(counters.faults)} protocol errors, ${count(counters.late)} timeouts`],
	];
	byId('service').replaceChildren(...lines.flatMap(([name, text]) => [line('dt', '', name), line('dd', '', text)]));
	byId('instances').replaceChildren(...state.instances.map(one => make('li', {},
		one.addresses.join(', ') || 'no address',
		one.self ? line('span', 'tag', 'this one') : null,
		one.draining ? line('span', 'tag', 'draining') : null,
		line('span', 'code muted', one.nqn))));
}

// ---- tables

const cell = (text, className = '') => line('td', className, text);
const stateCell = colour => make('td', {}, make('span', { className: 'state' }, swatch(colour), colour));

// Of a section that is not open its count alone
function rows(name, list, row) {
	const open = byId(`${name}-section`).open;
	const some = open && list.length > mostRows ? `the first ${count(mostRows)} of ` : '';
	byId(`${name}-count`).textContent = some + count(list.length);
	byId(name).replaceChildren(...(open ? list.slice(0, mostRows).map(one => make('tr', {}, ...row(one))) : []));
}

// How the host of the first connection has proved its identity
function proofOf({ address, authentication, tls }) {
	const proofs = [authentication && `${authentication.hash} ${authentication.dhgroup}`, tls && tls.cipher];
	return proofs.filter(Boolean).join(', ') || (address ? 'not proven' : '');
}

function showHosts(hosts) {
	rows('hosts', hosts, host => [cell(host.nqn, 'code'), cell(host.address || ''), stateCell(host.state),
		cell(host.generation ? count(host.generation) : '', 'number'), cell(host.persistent ? 'waits' : ''),
		cell(host.first_choice ? 'here' : 'elsewhere'), cell(proofOf(host)), cell(zoneName(host.view))]);
}

function showTargets(targets) {
	rows('targets', targets, target => [cell(target.nqn, 'code'), cell(portOf(target)), stateCell(target.state),
		cell(teller(target)), cell(count(target.visible_to), 'number')]);
}

// ---- what comes

function show(next) {
	if (since !== null && next.instance.since !== since)
		changes.clear(); // another one, which counts anew
	since = next.instance.since;
	if (state && next.time - state.time > 1)
		before = state;
	if (!before)
		before = next;
	state = next;
	addChanges(state.changes, false);
	showAlerts();
	showFigures();
	showMap();
	showGenerations();
	showService();
	document.documentElement.dataset.generation = state.generation; // for tests
}

let timer = null, loading = false, again = false;

async function load() {
	clearTimeout(timer);
	if (loading) {
		again = true;
		return;
	}
	loading = true;
	try {
		const answer = await fetch('api/state', { cache: 'no-store' });
		if (answer.ok)
			show(await answer.json());
	} catch (error) {
		console.warn('no state:', error);
	}
	loading = false;
	timer = setTimeout(() => document.hidden || load(), again ? soon : often);
	again = false;
}

function live(on, text) {
	byId('live').className = on ? 'on' : 'off';
	byId('live-text').textContent = text;
}

function follow() {
	const source = new EventSource('api/events');
	source.onopen = () => {
		live(true, 'live');
		load();
	};
	source.onerror = () => {
		live(false, 'not connected, retrying');
		if (source.readyState === EventSource.CLOSED) // refused, not lost
			setTimeout(follow, often);
	};
	source.addEventListener('change', event => {
		addChanges([JSON.parse(event.data)], true);
		for (const delay of [soon, ...settling])
			setTimeout(load, delay);
	});
	source.addEventListener('dropped', event => {
		const number = Math.max(0, ...changes.keys()) + .5;
		addChanges([{ number, time: Date.now() / 1000, dropped: JSON.parse(event.data).dropped }], true);
		setTimeout(load, soon);
	});
}

byId('filter').addEventListener('input', event => {
	filter = event.target.value.trim().toLowerCase();
	if (state)
		showMap();
});
document.addEventListener('keydown', event => {
	if (event.key === '/' && event.target.tagName !== 'INPUT') {
		event.preventDefault();
		byId('filter').focus();
	}
});
document.addEventListener('visibilitychange', () => document.hidden || load());
for (const id of ['hosts-section', 'targets-section'])
	byId(id).addEventListener('toggle', () => state && showMap());
showDetail(null, null);
showChanges();
follow();
load();
