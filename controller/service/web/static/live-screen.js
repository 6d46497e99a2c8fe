// Show a machine live with noVNC over plain HTTP; fall back to screenshots when that ends.
const live = document.querySelector("[data-live]");
const path = live.dataset.live;
const screen = live.querySelector("[data-screen-of]");
const note = live.querySelector("[data-field=note]");
const control = live.querySelector("[data-control]");
const picture = document.querySelector("img[data-screen]");

// Replacement for noVNC's WebSocket: the machine's bytes arrive in one endless reply, the viewer's are
// sent in requests, one after the other.
class Channel {
  binaryType = "arraybuffer";
  protocol = "";
  readyState = "connecting";
  onopen = null;
  onmessage = null;
  onerror = null;
  onclose = null;
  #abort = new AbortController();
  #out = [];
  #isSending = false;
  #session = "";

  constructor() {
    this.#receive();
  }
  send(data) {
    this.#out.push(new Uint8Array(data).slice());
    this.#flush();
  }
  close() {
    this.#end("");
  }
  async #receive() {
    try {
      const reply = await fetch(path, { credentials: "same-origin", signal: this.#abort.signal });
      this.#session = reply.headers.get("X-Live-Session");
      if (!reply.ok || !this.#session) throw new Error(reply.statusText || "refused");
      this.readyState = "open";
      this.onopen?.({});
      const reader = reply.body.getReader();
      for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        this.onmessage?.({ data: value.slice().buffer });
      }
      this.#end("");
    } catch (error) {
      this.#end(String(error));
    }
  }
  async #flush() {
    if (this.#isSending || this.readyState !== "open") return;
    this.#isSending = true;
    try {
      while (this.#out.length) {
        const body = new Blob(this.#out.splice(0));
        const reply = await fetch(`${path}/${this.#session}`, {
          method: "POST", credentials: "same-origin", headers: { "Content-Type": "application/octet-stream" }, body,
        });
        if (!reply.ok) throw new Error(reply.statusText || "refused");
        held(reply.headers.get("X-Live-Held") === "1");
      }
    } catch (error) {
      this.#end(String(error));
    }
    this.#isSending = false;
  }
  #end(reason) {
    if (this.readyState === "closed") return;
    this.readyState = "closed";
    this.#abort.abort();
    // Asynchronously, as a WebSocket does: noVNC is still closing.
    setTimeout(() => this.onclose?.({ code: reason ? 1006 : 1000, reason, wasClean: !reason }));
  }
}

let viewer = null;
function held(isHeld) {
  if (!viewer) return;
  if (viewer.viewOnly) note.textContent = "Live, view only.";
  else if (isHeld) note.textContent = "Live: you control the machine and nobody else can use it. Shift+Esc releases it.";
  else note.textContent = "Live. Keys and pointer do not reach the machine while it is in use.";
}
function act(isActing) {
  viewer.viewOnly = !isActing;
  control.setAttribute("aria-pressed", String(isActing));
  control.textContent = isActing ? "Release control" : "Take control";
  held(false);
  if (isActing) viewer.focus();
  else control.focus();
}
function connect(RFB) {
  screen.hidden = false;
  viewer = new RFB(screen, new Channel(), { shared: true });
  viewer.viewOnly = true;
  viewer.scaleViewport = true;
  viewer.addEventListener("connect", () => {
    picture.hidden = true;
    screen.querySelector("canvas").setAttribute("aria-label", `Screen of ${screen.dataset.screenOf}`);
    if (control) control.hidden = false;
    held(false);
  });
  viewer.addEventListener("disconnect", () => {
    viewer = null;
    screen.hidden = true;
    picture.hidden = false;
    if (control) control.hidden = true;
    note.textContent = "The live screen has ended; about one screenshot per second. Reload the page to try again.";
  });
}
if (control) {
  control.addEventListener("click", () => { if (viewer) act(viewer.viewOnly); });
  screen.addEventListener("keydown", (event) => {
    if (!viewer || viewer.viewOnly || event.key !== "Escape" || !event.shiftKey) return;
    event.preventDefault();
    event.stopPropagation();
    act(false);
  }, true);
}
import("/static/novnc/core/rfb.js").then((module) => connect(module.default), () => { note.textContent = "noVNC cannot be loaded; about one screenshot per second."; });
