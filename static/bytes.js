// Bytes and fields: to point at one, or to focus it, marks the other. Without this file a link from one leads to the other
// and marks its start.

if (!document.getElementById('lab')) document.documentElement.classList.add('js') // of a lab's page lab.js says it

let pointed // the element last pointed at or focused; a frame may have replaced it

function mark(target) {
	pointed = target
	const part = target?.closest('[data-field]') ?? document.activeElement?.closest('[data-field]')
	const field = part?.dataset.field
	for (const e of document.querySelectorAll('.marked')) if (e.dataset.field !== field) e.classList.remove('marked')
	if (field) for (const e of document.querySelectorAll(`[data-field="${CSS.escape(field)}"]`)) e.classList.add('marked')
}

let pointer = '' // where it is: scrolling moves other parts under one that rests, and points at nothing

document.addEventListener('pointerover', ({ target, screenX, screenY }) => {
	const at = screenX + ' ' + screenY
	if (at !== pointer) mark(target)
	pointer = at
})
document.addEventListener('focusin', ({ target }) => mark(target))
document.addEventListener('focusout', ({ relatedTarget }) => mark(relatedTarget))
document.addEventListener('pointerleave', () => mark())
document.addEventListener('click', (event) => { // one is marked already: only bring the other into sight
	const part = event.target.closest('.anatomy a[href^="#"]')
	if (!part || event.defaultPrevented || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
	event.preventDefault()
	document.getElementById(part.hash.slice(1)).scrollIntoView({ block: 'nearest' })
})

document.addEventListener('frame', () => mark(pointed)) // of a lab: it replaces elements
