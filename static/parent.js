// What an embedded frame tells the page around it: how high it is, and how far its reader has come. The README lists the
// messages. It tells whoever has put it there, which it cannot know, and listens to nobody.

const version = 1
const most = 20_000 // pixels
const tell = (message) => parent.postMessage(message, '*')
let height, progress

function tellHeight() {
	const now = Math.min(Math.ceil(document.documentElement.getBoundingClientRect().height), most)
	if (now === height) return
	height = now
	tell({ type: 'loglab', version, event: 'height', height })
	tell({ subject: 'lti.frameResize', height })
}

function tellProgress() {
	const lab = document.getElementById('lab')
	const { address, progress: now } = lab.dataset
	if (address + now === progress) return
	progress = address + now
	tell({ type: 'loglab', version, event: 'progress', address, title: lab.querySelector('h1').textContent, ...JSON.parse(now) })
}

if (parent !== window) {
	new ResizeObserver(tellHeight).observe(document.documentElement)
	document.addEventListener('frame', tellProgress) // each frame that lab.js has shown
	tellProgress()
}
