// In a lesson: the lab itself takes the place of its picture when its reader asks. Without this file the link leads to the
// lab's page.

document.documentElement.classList.add('js')

const frames = new Map() // a frame's window and its element

function goLive(link) {
	const { embed, height, title } = link.dataset
	const frame = document.createElement('iframe')
	Object.assign(frame, { src: embed, height, title, allow: 'clipboard-write' })
	link.closest('figure').querySelector('.still').replaceWith(frame)
	frames.set(frame.contentWindow, frame)
	link.classList.remove('live')
	link.textContent = 'Open it in a page of its own'
	frame.focus()
}

document.addEventListener('click', (event) => {
	const link = event.target.closest('a.live')
	if (!link || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
	event.preventDefault()
	goLive(link)
})

// A frame says how high it is.
addEventListener('message', ({ source, data }) => {
	const frame = frames.get(source)
	if (frame && data?.type === 'loglab' && data.event === 'height') frame.height = data.height
})
