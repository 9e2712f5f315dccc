// <log-lab> for pages of other sites, served as /embed.js: a frame of a lab or a scenario, as high as it needs to be.
//
//   <log-lab src="https://lab.example/scenario/acks-1-leader-dies">
//     <a href="https://lab.example/scenario/acks-1-leader-dies">acks=1, and the leader dies</a>
//   </log-lab>
//
// With height="640" the height stays. What the frame says of its reader's progress comes out of the element as an event
// "loglab-progress" (README). What stands in the element is there for readers without JavaScript.

const standardHeight = 720
const progressEvent = 'loglab-progress'

class LogLab extends HTMLElement {
	static observedAttributes = ['src', 'height', 'title']
	#frame = document.createElement('iframe')
	#hears = (event) => this.#hear(event)

	constructor() {
		super()
		const frame = this.#frame
		frame.loading = 'lazy'
		frame.allow = 'clipboard-write'
		Object.assign(frame.style, { display: 'block', inlineSize: '100%', border: '0' })
		this.attachShadow({ mode: 'open' }).append(frame)
	}

	connectedCallback() {
		if (!this.style.display) this.style.display = 'block'
		addEventListener('message', this.#hears)
		this.#show()
	}

	disconnectedCallback() {
		removeEventListener('message', this.#hears)
	}

	attributeChangedCallback() {
		if (this.isConnected) this.#show()
	}

	// embedded is the address of the frame: a link to a lab's or a scenario's own page leads to the same, framed.
	get #embedded() {
		const url = new URL(this.getAttribute('src') ?? '', document.baseURI)
		if (url.protocol !== 'https:' && url.protocol !== 'http:') return
		if (!url.pathname.startsWith('/embed/')) url.pathname = '/embed' + url.pathname
		return url.href
	}

	#show() {
		const frame = this.#frame
		frame.title = this.getAttribute('title') ?? this.textContent.trim()
		frame.height = this.getAttribute('height') ?? standardHeight
		const address = this.#embedded
		if (address && frame.src !== address) frame.src = address
	}

	// Only what its own frame says, from the place it was loaded from, is heard.
	#hear({ source, origin, data }) {
		if (source !== this.#frame.contentWindow || origin !== new URL(this.#frame.src).origin || data?.type !== 'loglab') return
		if (data.event === 'height' && !this.hasAttribute('height')) this.#frame.height = data.height
		if (data.event === 'progress') this.dispatchEvent(new CustomEvent(progressEvent, { detail: data, bubbles: true, composed: true }))
	}
}

customElements.define('log-lab', LogLab)
