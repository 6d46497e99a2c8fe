// Show a machine live by noVNC, over plain HTTP; where that ends, pictures go on.
const live = document.querySelector("[data-live]");
const path = live.dataset.live;
const screen = live.querySelector("[data-screen-of]");
const note = live.querySelector("[data-field=note]");
const control = live.querySelector("[data-control]");
const picture = document.querySelector("img[data-screen]");

// What noVNC takes in place of a WebSocket: the machine's bytes come in one reply that does not end, the
// viewer's go out in requests, one after the other.
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
    // Later, as a WebSocket does: noVNC is in the middle of its own closing.
    setTimeout(() => this.onclose?.({ code: reason ? 1006 : 1000, reason, wasClean: !reason }));
  }
}

let viewer = null;
function held(isHeld) {
  if (!viewer) return;
  if (viewer.viewOnly) note.textContent = "Live, to look at.";
  else if (isHeld) note.textContent = "Live: keys and pointer reach the machine, and nobody else gets it. Shift+Esc gives them back.";
  else note.textContent = "Live. Keys and pointer do not reach the machine while somebody else has it.";
}
function act(isActing) {
  viewer.viewOnly = !isActing;
  control.setAttribute("aria-pressed", String(isActing));
  control.textContent = isActing ? "Give keys and pointer back" : "Take keys and pointer";
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
    note.textContent = "The live screen has ended: pictures, about one a second. Load the page anew to try again.";
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
import("/static/novnc/core/rfb.js").then((module) => connect(module.default), () => { note.textContent = "noVNC cannot be loaded: pictures, about one a second."; });
