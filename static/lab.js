// What a lab page does beyond its links and forms: the next frame is fetched and morphed into #lab, the
// page's address follows, Play opens one stream. Without this file every control still works.
//
// A press means the control of that id in the frame then shown. One fetch is under way at a time; presses
// made meanwhile wait for its frame. So an older frame never follows a newer one, and no press is lost.
//
// Frames come from the same address under /frame, streams under /play. Datastar's bundle reads the stream
// and morphs; none of its expressions is used, so the site's policy needs no eval.
//
// In another site's page it does the same with three differences: the frame's history is only replaced, Play
// asks for one frame after the other, and it waits while the frame is out of sight. Nothing here uses storage,
// cookies or messages from other frames, so it does not matter what a browser lets a frame have of them.

import { actions } from './dist/datastar.js'

const root = document.documentElement
const byID = (id) => document.getElementById(id)
const lab = () => byID('lab')
const embedded = location.pathname.startsWith('/embed/')
const say = (text, stays = 0) => {
	byID('net').textContent = text
	said = performance.now() + stays
}
let said = 0 // until when what is said stays, though frames arrive

// ---- one frame

let busy // the abort controller of the one fetch or stream under way
let fetching = false // busy is a fetch: presses wait for its frame
let presses = [] // { id, name, value }: a control's id and the button of a form that was pressed

// load shows the frame of an address; how is the history method that then takes its address, if any.
async function load(address, how, press) {
	busy?.abort()
	const mine = (busy = new AbortController())
	fetching = true
	let shown = false
	try {
		const { status, isFrame, html } = (await takeAhead(address)) ?? (await ask(address, mine.signal))
		if (mine.signal.aborted) return
		if (status >= 502) throw status
		if (!isFrame) return embedded ? location.replace(address) : location.assign(address) // an error page speaks for itself
		const asked = why()
		if (how === 'pushState' && timer) write('replaceState') // the entry that is left keeps its own last address
		morph(html)
		if (how === 'pushState') write(how)
		else if (how) follow()
		if (press?.id === 'step') askAhead()
		if (press?.name === 'at' || why() && why() !== asked) byID('inspector')?.scrollIntoView({ block: 'nearest' })
		say('')
		shown = true
	} catch (failure) {
		if (!mine.signal.aborted) say(`The server ${failure === 503 ? 'is busy' : 'does not answer'}. This frame stays; press again.`)
	} finally {
		if (busy === mine) {
			busy = undefined
			fetching = false
			if (shown) drain()
			else presses = []
		}
	}
}

// why is the event whose causes are shown, if any.
const why = () => new URL(lab().dataset.address, location).searchParams.get('why')

// The set-up of a run is the same in all of its frames. It is asked for once: a frame of the run that is shown
// comes without it, and the page keeps its own, which is led on to the tick shown.
const has = () => byID('set-up') ? '&has=' + byID('set-up').dataset.run : ''

function keepSetUp() {
	for (const part of lab().querySelectorAll('.of-run')) part.toggleAttribute('data-ignore-morph', true) // holds only if the next frame says so too
	const tick = new URL(lab().dataset.address, location).searchParams.get('t') ?? '0'
	for (const form of lab().querySelectorAll('#set-up form')) {
		const field = form.querySelector('[type=hidden][name=t]') ?? form.appendChild(Object.assign(document.createElement('input'), { type: 'hidden', name: 't' }))
		field.value = tick
		for (const link of form.querySelectorAll('a')) {
			const to = new URL(link.href)
			to.searchParams.set('t', tick)
			for (const name of ['at', 'why']) to.searchParams.delete(name)
			link.href = to.pathname + to.search
		}
	}
}

async function ask(address, signal) {
	const answer = await fetch('/frame' + address + has(), { signal })
	return { status: answer.status, isFrame: answer.headers.has('Lab-Frame'), html: await answer.text() }
}

// Who steps once will most likely step again: the next frame is asked for before it is wanted, so that a
// press shows it without waiting for the network.
let ahead // { address, answer }: a promise of the frame, of nothing where it failed

function askAhead() {
	const { pathname, search, ariaDisabled } = byID('step')
	if (ariaDisabled !== 'true') ahead = { address: pathname + search, answer: ask(pathname + search).then((next) => next.isFrame ? next : undefined, () => undefined) }
}

function takeAhead(address) {
	const answer = ahead?.address === address ? ahead.answer : undefined
	ahead = undefined
	return answer
}

function morph(html) {
	document.dispatchEvent(new CustomEvent('datastar-fetch', {
		detail: { type: 'datastar-patch-elements', el: lab(), argsRaw: { elements: html } },
	}))
}

// Runs after every morph, of a fetched frame and of a frame of the stream: the bundle listened first.
document.addEventListener('datastar-fetch', (event) => {
	if (event.detail.type === 'error') refusal = event.detail.argsRaw.status
	if (event.detail.type !== 'datastar-patch-elements') return
	dress()
	keepSetUp()
	keepFocus()
	keepTyped()
	showNewest()
	watchStream()
	keepHand()
	document.dispatchEvent(new Event('frame')) // for bytes.js and parent.js
	if (!fetching) {
		if (performance.now() > said) say('')
		follow()
	}
})

// ---- the focus: of a control that a frame no longer has, it goes to the one that took its place, and from
// a closed inspector to where it was opened. Resume stands where Pause was.

const usable = 'a[href], button, input:not([type="hidden"]), select, textarea, summary'
let opener // the control outside the inspector that had the focus last
let keepFocus = () => {}

addEventListener('datastar-fetch', () => { // at the window first: before the bundle morphs
	const active = document.activeElement
	const part = active.closest('.panel, #inspector')
	if (!part) return (keepFocus = () => {})
	const place = part.id === 'inspector' ? 0 : [...part.querySelectorAll(usable)].indexOf(active)
	keepFocus = () => {
		if (active.isConnected) return
		const left = part.querySelectorAll(usable)
		if (left.length) left[Math.min(place, left.length - 1)].focus({ preventScroll: true })
		else byID(opener)?.focus()
	}
}, true)
document.addEventListener('focusin', ({ target }) => {
	if (target.id && !target.closest('#inspector')) opener = target.id
})

function dress() {
	const { theme, size } = lab().dataset
	for (const look of ['light', 'dark']) root.classList.toggle('theme-' + look, theme === look)
	root.classList.toggle('size-projector', size === 'projector')
}

// Where strips are wider than their boxes, on small windows, the record to look at comes into sight. The
// answer to whether they are is kept until the window changes, since asking makes the browser lay out the
// page at once.
let wide // strips are wider than their boxes; undefined: not known

function showNewest() {
	const first = lab().querySelector('.strip')
	if (first) wide ??= first.scrollWidth > first.clientWidth
	if (!wide) return
	for (const strip of lab().querySelectorAll('.strip')) {
		const cell = strip.querySelector('.selected') ?? [...strip.querySelectorAll('.new')].at(-1)
		if (cell) strip.scrollLeft = cell.offsetLeft + 2 * cell.offsetWidth - strip.clientWidth
	}
}

// ---- presses

function press(id, button) {
	presses.push({ id, name: button?.name, value: button?.value })
	if (!fetching) drain()
}

function drain() {
	const next = presses.shift()
	if (!next) return
	const control = byID(next.id)
	if (!control || control.ariaDisabled === 'true') return drain()
	if (control.dataset.play) return play(control.dataset.play)
	if (control.localName === 'form') for (const field of control.elements) typed.delete(field.id)
	if (control.dataset.step) return load(stepped(control), 'replaceState', next)
	const address = target(control, next)
	if (next.name === 'beside') control.reset() // what was changed is the twin's; the form is the run's own
	load(address, historyOf(control), next)
}

// historyOf is the history method that takes the address to which a control leads.
const historyOf = (control) => control.dataset.go === 'push' && !embedded ? 'pushState' : 'replaceState'

// stepped is the address that a step leads to, steps that wait included.
function stepped(control) {
	const stepOf = (waiting) => waiting && +byID(waiting.id)?.dataset.step
	if (!stepOf(presses[0])) return control.pathname + control.search
	let ticks = +control.dataset.step
	while (stepOf(presses[0])) ticks += stepOf(presses.shift())
	const url = new URL(lab().dataset.address, location)
	const tick = +url.searchParams.get('t') + ticks
	url.searchParams.set('t', Math.min(Math.max(tick, 0), +lab().dataset.last))
	return url.pathname + url.search
}

// target is where a link leads or what a form would ask for.
function target(control, { name, value }) {
	if (control.localName === 'a') return control.pathname + control.search
	const fields = new URLSearchParams(new FormData(control))
	if (name) fields.append(name, value)
	return new URL(control.getAttribute('action'), location).pathname + '?' + fields
}

// plain is a press that a browser would not answer with a new tab or a menu.
const plain = (event) =>
	!(event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.altKey)

document.addEventListener('click', (event) => {
	const link = event.target.closest(embedded ? '#lab a[href^="/embed/"]' : 'a[data-go]')
	if (!link || !plain(event) || event.shiftKey) return
	event.preventDefault()
	if (link.id) press(link.id)
	else load(link.pathname + link.search, historyOf(link)) // in prose: it has no place in the next frame
})

document.addEventListener('submit', (event) => {
	if (event.defaultPrevented) return
	if (embedded && event.target.method === 'post') return post(event)
	if (!event.target.dataset.go) return
	event.preventDefault()
	press(event.target.getAttribute('id'), event.submitter) // a field may be called id
})

// What an embedded frame posts goes out without an entry in the history; the answer says where the frame is.
async function post(event) {
	event.preventDefault()
	const form = event.target
	try {
		const answer = await fetch(form.action, { method: 'POST', body: new FormData(form) })
		if (!answer.ok) throw answer.status
		const { pathname, search } = new URL(answer.url)
		for (const field of form.elements) typed.delete(field.id)
		load(pathname + search, 'replaceState')
	} catch {
		form.submit() // the browser shows what is wrong
	}
}

// ---- fields: what has been typed stays until its form is sent, whatever the frames say

const typed = new Map() // { value, caret } by the field's id; only text has a caret

document.addEventListener('input', ({ target }) => {
	if (target.type !== 'range' && target.type !== 'file') typed.set(target.id, { value: target.value, caret: target.selectionEnd ?? null })
})

function keepTyped() {
	for (const [id, { value, caret }] of typed) {
		const field = byID(id)
		if (!field || field.value === value) continue
		field.value = value
		if (caret !== null && field === document.activeElement) field.setSelectionRange(caret, caret)
	}
}

// ---- the scrubber: moving it asks for the frame it stands at, always the newest

let hand // where the hand holds the scrubber; frames do not move it away
let held = false

document.addEventListener('input', (event) => {
	if (event.target.type !== 'range') return
	hand = event.target.value
	if (presses.at(-1)?.id !== 'jump') press('jump')
})
document.addEventListener('pointerdown', (event) => { held = event.target.type === 'range' })
for (const end of ['pointerup', 'pointercancel']) document.addEventListener(end, () => { held = false })

function keepHand() {
	if (hand === undefined) return
	const waits = presses.some(({ id }) => id === 'jump')
	if (held || waits) byID('jump').querySelector('[type=range]').value = hand
	else hand = undefined
}

// ---- play

let refusal // the status of an answer that was no stream, 'network' where none came
let late // runs when no frame has arrived for a while

function play(address) {
	if (embedded) return playFrames(address)
	busy?.abort()
	const mine = (busy = new AbortController())
	refusal = undefined
	// The bundle must not try again by itself: it would ask for the first frame once more.
	const options = { openWhenHidden: true, retryMaxCount: 0, requestCancellation: mine }
	actions.get({ el: lab(), error: Error, cleanups: new Map() }, address + has(), options)
		.catch(() => { refusal ??= 'network' })
		.finally(() => {
			if (busy !== mine) return
			busy = undefined
			if (!rest() && refusal) cannotPlay(refusal)
		})
}

// rest asks for the frame shown as one at rest, where it is one of a stream that has broken off.
function rest() {
	const { stream, address } = lab().dataset
	if (stream) load(address, 'replaceState')
	return stream
}

function cannotPlay(status) {
	say(status > 0 ? `The server cannot play now (${status}). Stepping works; try again later.` : 'The server does not answer. Press again.')
}

// A browser has six connections to a server without TLS, for all frames of a page together: six streams
// would hold all of them, and then no press anywhere on the page would be answered. So an embedded frame plays
// by requests that end. They take turns by themselves, also among frames that may not know of each other.
async function playFrames(address) {
	busy?.abort()
	const mine = (busy = new AbortController())
	try {
		for (let first = true; ; first = false) {
			const begun = performance.now()
			const { status, isFrame, html } = await ask(address, mine.signal)
			if (mine.signal.aborted) return
			if (!isFrame) throw status
			morph(html)
			const { stream, pace, rests } = lab().dataset
			if (!stream || (rests !== undefined && !first)) break
			await new Promise((resolve) => setTimeout(resolve, begun + 1000 / pace - performance.now()))
			if (mine.signal.aborted) return
			const next = byID('step')
			address = '/play' + next.pathname + next.search
		}
	} catch (failure) {
		if (!mine.signal.aborted) cannotPlay(failure)
	} finally {
		if (busy === mine) {
			busy = undefined
			rest()
		}
	}
}

function watchStream() {
	clearTimeout(late)
	root.classList.remove('stalled')
	if (lab().dataset.stream) late = setTimeout(() => root.classList.add('stalled'), 3000)
}

// Nothing plays out of sight; what was playing goes on from the frame shown once it is in sight again.
let outside = false // an embedded frame that its page has scrolled away

function playInSight() {
	if (!lab().dataset.stream) return
	if (document.hidden || outside) {
		busy?.abort()
		busy = undefined
		clearTimeout(late)
	} else if (!busy) play(lab().dataset.stream)
}

document.addEventListener('visibilitychange', playInSight)
if (embedded) {
	new IntersectionObserver((seen) => {
		outside = !seen.at(-1).isIntersecting
		playInSight()
	}).observe(lab())
}

// ---- the page's address
//
// Browsers ration history: Chromium drops writes after 200 in 10 s, Safari after 100 in 30 s. A step or a
// frame of a stream therefore writes at most once in 400 ms, and the last one always.

const pause = 400
let timer = 0 // a write that is to come
let written = { address: location.pathname + location.search, at: -pause }

function write(method) {
	clearTimeout(timer)
	timer = 0
	const address = lab().dataset.address
	if (address === written.address) method = 'replaceState'
	try { history[method](null, '', address) } catch { /* rationed: the next write says it */ }
	written = { address, at: performance.now() }
}

function follow() {
	if (timer) return
	const wait = written.at + pause - performance.now()
	if (wait <= 0) write('replaceState')
	else timer = setTimeout(write, wait, 'replaceState')
}

addEventListener('popstate', () => {
	const address = location.pathname + location.search
	if (address === written.address) return // only the part after # changed
	clearTimeout(timer)
	timer = 0
	written = { address, at: performance.now() }
	presses = []
	typed.clear()
	load(address)
})
addEventListener('pagehide', () => { if (timer) write('replaceState') })

// ---- keys

document.addEventListener('keydown', (event) => {
	if (event.key === 'Escape') return closePopups()
	if (!plain(event) || event.target.closest('input, select, textarea')) return
	if (event.key === '?') return toggleHelp()
	if (event.shiftKey || (event.key === ' ' && event.target.closest('button, summary'))) return
	const key = event.key === ' ' ? 'Space' : event.key
	const control = lab().querySelector(`[data-key="${CSS.escape(key)}"]`)
	if (!control) return
	event.preventDefault()
	if (!event.repeat || control.dataset.step) control.click()
})

function closePopups() {
	for (const id of ['share', 'help']) {
		const popup = byID(id)
		if (!popup?.open) continue
		const inside = popup.contains(document.activeElement)
		popup.open = false
		if (inside) byID('copy').focus()
	}
}

function toggleHelp() {
	const help = byID('help')
	if (!help) return
	help.open = !help.open
	if (help.open) help.querySelector('summary').focus()
}

// ---- copy the link, or the code that puts this frame into another page

// frameLink leads to the lab's own page. An embedded frame names it.
const frameLink = () => new URL((embedded && byID('whole')?.getAttribute('href')) || lab().dataset.address, location).href

const escaped = (text) => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;')

// The page came with the code for its first frame; another has another title and address.
function embedCode() {
	const { address } = lab().dataset
	const title = `${lab().querySelector('h1').textContent}, tick ${new URL(address, location).searchParams.get('t') ?? 0}`
	const attributes = ` title="${escaped(title)}" src="${escaped(new URL('/embed' + address, location).href)}"`
	return byID('share-embed').defaultValue.replace(/ title="[^"]*" src="[^"]*"/, () => attributes)
}

async function copy(id, what) {
	const texts = { 'share-link': frameLink() }
	if (byID('share-embed')) texts['share-embed'] = embedCode()
	try {
		await navigator.clipboard.writeText(texts[id])
		say(`The ${what} is copied.`, 2500)
	} catch { // no clipboard on plain HTTP, nor in a frame that may not have it
		for (const field in texts) byID(field).value = texts[field]
		if (byID('share')) byID('share').open = true
		byID(id).hidden = false
		byID(id).select()
		say(`The ${what} is selected: copy it with Ctrl+C or ⌘C.`, 2500)
	}
}

document.addEventListener('click', ({ target }) => {
	if (target.id === 'copy') copy('share-link', 'link')
	if (target.id === 'make-embed') target.search = '?url=' + encodeURIComponent(lab().dataset.address) // the frame now shown
	if (target.id === 'copy-embed') copy('share-embed', 'code for another page')
})

addEventListener('resize', () => { wide = undefined; showNewest() })
keepSetUp()
showNewest()
root.classList.add('js')
