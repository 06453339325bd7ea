/* SPDX-License-Identifier: Apache-2.0 */
/* The search runs in a worker, and browsers start none for pages that are opened as files. There a
 * hidden frame takes its place; the theme knows it by this name, and where the script is from. */
if (location.protocol === "file:") {
  window.IFrameWorker = class IFrameWorker extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      frame.srcdoc = "<!doctype html><title>Search</title><body>"
      this.ready = new Promise(done => frame.addEventListener("load", done, { once: true }))
        .then(() => this.open(frame.contentWindow, new URL(url, document.baseURI).href))
      document.body.append(frame)
      this.terminate = () => frame.remove()
    }

    open(inside, url) {
      const load = source => new Promise((done, failed) => {
        const script = inside.document.createElement("script")
        script.src = source
        script.onload = done
        script.onerror = () => failed(new Error(`${source} cannot be loaded`))
        inside.document.body.append(script)
      })
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data }))
      inside.importScripts = (...sources) =>
        sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve())
      this.inside = inside
      return load(url)
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new MessageEvent("message", { data })))
    }
  }
  window.Worker = window.IFrameWorker
}
