// Step through timelines of trials. The page also works without this file, with one request per moment.
"use strict";
const GLYPHS = { met: "✓", kept: "✓", active: "○", waiting: "·", undone: "✗", broken: "✗", inconclusive: "?" };
const PHASES = ["agent", "act", "settle", "observe", "evaluate"];
const SVG = "http://www.w3.org/2000/svg";
const FOLLOW_MS = 1500;
const stored = document.querySelector("script.pictures");
const pictures = stored ? JSON.parse(stored.textContent) : null;

class Timeline {
  constructor(section) {
    this.section = section;
    this.data = JSON.parse(section.querySelector("script.data").textContent);
    this.moments = this.data.moments;
    this.states = null;
    this.range = section.querySelector("input[type=range]");
    this.strip = section.querySelector("canvas");
    this.nodes = new Map();
    for (const node of section.querySelectorAll("g.node")) this.nodes.set(node.dataset.node, node);
    this.before = this.field("before");
    this.index = Number(this.range ? this.range.value : 0);
    if (this.range) this.begin();
    if (!this.data.ended) setTimeout(() => this.follow(), FOLLOW_MS);
  }
  begin() {
    this.range.hidden = this.strip.hidden = this.before.disabled = false;
    this.range.addEventListener("input", () => this.go(Number(this.range.value)));
    this.before.addEventListener("change", () => this.draw());
    for (const image of this.section.querySelectorAll("figure img"))
      image.addEventListener("load", () => this.mark());
    this.strip.addEventListener("click", (event) => {
      const box = this.strip.getBoundingClientRect();
      this.go(Math.floor(((event.clientX - box.left) / box.width) * this.moments.length));
    });
    this.section.addEventListener("click", (event) => {
      const link = event.target.closest("[data-go], [data-at]");
      if (!link) return;
      event.preventDefault();
      if (link.dataset.at) this.go(Number(link.dataset.at));
      else this.turn(link.dataset.go);
    });
    this.draw();
  }
  field(name) { return this.section.querySelector(`[data-field=${name}]`); }
  turn(name) {
    const steps = { first: -Infinity, back: -1, on: 1, last: Infinity, far_back: -10, far_on: 10 };
    if (name in steps) return this.go(this.index + steps[name]);
    const isMarked = (moment) => moment.met || moment.kind === "refused" || moment.kind === "end";
    const ahead = name === "next";
    let index = this.index + (ahead ? 1 : -1);
    while (index > 0 && index < this.moments.length - 1 && !isMarked(this.moments[index])) index += ahead ? 1 : -1;
    this.go(index);
  }
  go(index) {
    this.index = Math.max(0, Math.min(this.moments.length - 1, index));
    this.draw();
    if (this.data.path && !pictures && this === views[0] && history.replaceState) {
      const address = new URL(location.href);
      address.searchParams.set("at", this.index);
      clearTimeout(this.pending);
      this.pending = setTimeout(() => history.replaceState(null, "", address), 300);
    }
  }
  statesAt(index) {
    // Apply changes forward from the last drawn index; restart when moving back.
    if (!this.states || this.stateIndex > index) { this.states = { ...this.data.start }; this.stateIndex = -1; }
    while (this.stateIndex < index) Object.assign(this.states, this.moments[++this.stateIndex].changes);
    return this.states;
  }
  draw() {
    const moment = this.moments[this.index];
    this.range.max = this.moments.length - 1;
    this.range.value = this.index;
    const setText = (name, text) => { const node = this.field(name); if (node) node.textContent = text; };
    const titles = { start: "Start", end: "End", step: `Step ${moment.n}`, refused: `Refused after step ${moment.n}`, consulted: `Between steps ${moment.n} and ${moment.n + 1}` };
    setText("index", this.index);
    setText("last", this.moments.length - 1);
    setText("title", titles[moment.kind] + (moment.member ? ` · ${moment.member}` : ""));
    setText("time", `${new Date(moment.t * 1000).toISOString().replace("T", " ").slice(0, 19)} UTC`);
    setText("action", moment.action ? JSON.stringify(moment.action) : "");
    setText("note", [moment.handover, moment.note].filter(Boolean).join("\n"));
    setText("why", moment.kind === "refused" ? moment.why || "" : "");
    setText("code", moment.code || "");
    setText("returned", moment.returned ? moment.returned.text || "" : "");
    this.drawPicture(moment.returned ? moment.returned.picture : "");
    setText("met", moment.met ? `met: ${moment.met.join(", ")}` : "");
    const spent = PHASES.filter((name) => moment.seconds && name in moment.seconds);
    const parts = spent.map((name) => `${name} ${moment.seconds[name].toFixed(2)} s`);
    if (moment.tokens) parts.push(`${moment.tokens} tokens`);
    setText("seconds", parts.join(" · "));
    setText("raw", JSON.stringify(moment));
    this.drawGraph();
    this.drawScreens(moment);
    this.drawStrip();
  }
  drawGraph() {
    const states = this.statesAt(this.index);
    for (const [name, node] of this.nodes) {
      const state = states[name] || "waiting";
      if (node.dataset.state === state) continue;
      for (const old of Object.keys(GLYPHS)) node.classList.remove(old);
      node.classList.add(state);
      node.dataset.state = state;
      node.querySelector(".glyph").textContent = GLYPHS[state];
      node.querySelector("title").textContent = `${name}: ${state}`;
    }
  }
  drawPicture(digest) {
    // The picture that an action returned, such as an enlarged region.
    const image = this.section.querySelector("img.returned");
    if (!image) return;
    image.hidden = !digest || (pictures && !pictures[digest]);
    if (image.hidden) return;
    image.src = pictures ? `data:image/png;base64,${pictures[digest]}` : `/api/v1/runs/${this.data.run}/pictures/${digest}`;
  }
  drawScreens(moment) {
    const shown = this.before.checked && this.index ? this.moments[this.index - 1] : moment;
    for (const figure of this.section.querySelectorAll("figure[data-role]")) {
      const digest = (shown.screens || {})[figure.dataset.role];
      const image = figure.querySelector("img");
      const tree = figure.querySelector("a.tree");
      const treeDigest = (shown.trees || {})[figure.dataset.role];
      if (tree) {
        tree.hidden = !treeDigest;
        tree.href = `/api/v1/runs/${this.data.run}/trees/${treeDigest}`;
      }
      image.alt = `Screen of ${figure.dataset.role} at ${this.index}`;
      if (!digest || image.dataset.digest === digest) continue;
      image.dataset.digest = digest;
      if (!pictures) image.src = `/api/v1/runs/${this.data.run}/pictures/${digest}`;
      else if (pictures[digest]) image.src = `data:image/png;base64,${pictures[digest]}`;
    }
    this.mark();
    for (const video of this.section.querySelectorAll("video"))
      if (video.paused && video.readyState) video.currentTime = Math.max(0, moment.t - this.data.video_s);
  }
  mark() {
    const { action, points } = this.moments[this.index];
    for (const figure of this.section.querySelectorAll("figure[data-role]")) {
      const image = figure.querySelector("img");
      const marks = figure.querySelector("svg.marks");
      marks.replaceChildren();
      const [from, to] = action && action.on === figure.dataset.role ? points || [] : [];
      if (!image.naturalWidth || !from) continue;
      marks.setAttribute("viewBox", `0 0 ${image.naturalWidth} ${image.naturalHeight}`);
      const size = Math.max(6, image.naturalWidth / 60);
      const add = (name, values) => {
        const shape = document.createElementNS(SVG, name);
        for (const [key, value] of Object.entries(values)) shape.setAttribute(key, value);
        marks.append(shape);
      };
      const [x, y] = from;
      if (to) {
        add("line", { x1: x, y1: y, x2: to[0], y2: to[1] });
        add("rect", { x: to[0] - size / 2, y: to[1] - size / 2, width: size, height: size });
      }
      add("circle", { cx: x, cy: y, r: size });
      add("circle", { cx: x, cy: y, r: size / 6 });
    }
  }
  drawStrip() {
    const pen = this.strip.getContext("2d");
    const { width, height } = this.strip;
    const style = getComputedStyle(this.section);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    if (this.painted !== this.moments.length) {
      this.painted = this.moments.length;
      pen.clearRect(0, 0, width, height);
      this.paint(pen, width, height, colour);
      this.bare = pen.getImageData(0, 0, width, height);
    } else pen.putImageData(this.bare, 0, 0);
    const step = width / this.moments.length;
    pen.fillStyle = colour("ink");
    pen.fillRect(Math.min(width - 2, this.index * step), 0, Math.max(2, Math.min(step, 6)), height);
  }
  paint(pen, width, height, colour) {
    // At most one column per pixel; of several moments in a column, the longest is drawn.
    const count = this.moments.length;
    const columns = Math.min(count, width);
    const total = (moment) => PHASES.reduce((sum, name) => sum + ((moment.seconds || {})[name] || 0), 0);
    const totals = this.moments.map(total);
    const sorted = [...totals].sort((a, b) => a - b);
    const full = Math.max(sorted[Math.floor(sorted.length * 0.98)] || 0, 0.001);
    for (let column = 0; column < columns; column++) {
      const from = Math.floor((column * count) / columns);
      const to = Math.max(from + 1, Math.floor(((column + 1) * count) / columns));
      let longest = from;
      let met = false;
      let refused = false;
      for (let index = from; index < to; index++) {
        if (totals[index] > totals[longest]) longest = index;
        met = met || Boolean(this.moments[index].met);
        refused = refused || this.moments[index].kind === "refused";
      }
      const x = (column * width) / columns;
      const wide = Math.max(1, width / columns - 1);
      let y = height - 5;
      for (const name of PHASES) {
        const tall = (Math.min(full, (this.moments[longest].seconds || {})[name] || 0) / full) * (height - 8);
        pen.fillStyle = colour(`phase-${name}`);
        pen.fillRect(x, Math.max(0, y - tall), wide, tall);
        y -= tall;
      }
      if (met || refused) {
        pen.fillStyle = colour(refused ? "fail" : "pass");
        pen.fillRect(x, height - 4, Math.max(2, wide), 4);
      }
    }
  }
  async follow() {
    const address = `${this.data.path}/moments?attempt=${this.data.attempt}&first=${this.moments.length}`;
    const reply = await fetch(address, { credentials: "same-origin" }).catch(() => null);
    if (!reply || !reply.ok || reply.redirected) return;
    const more = await reply.json();
    const wasLast = this.index >= this.moments.length - 1;
    const wasEmpty = !this.moments.length;
    this.moments.push(...more.moments);
    this.data.ended = more.ended;
    if (more.ended || (wasEmpty && this.moments.length)) return location.reload();
    if (more.moments.length) this.go(wasLast ? this.moments.length - 1 : this.index);
    setTimeout(() => this.follow(), FOLLOW_MS);
  }
}

const views = [...document.querySelectorAll("section.trial")].map((section) => new Timeline(section));
const help = document.querySelector("dialog.keys");
const KEYS = {
  ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last",
  PageUp: "far_back", PageDown: "far_on", n: "next", p: "previous",
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey) return;
  const isText = ["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName);
  if (isText && !["range", "checkbox"].includes(event.target.type)) return;
  if (event.key === "?") { event.preventDefault(); help.open ? help.close() : help.showModal(); }
  else if (help.open) return;
  else if (event.key === "b") for (const view of views) { view.before.checked = !view.before.checked; view.draw(); }
  else if (event.key in KEYS) {
    event.preventDefault();
    for (const view of views) if (view.moments.length) view.turn(KEYS[event.key]);
  }
});
for (const button of document.querySelectorAll("[data-help]")) {
  button.hidden = false;
  button.addEventListener("click", () => help.showModal());
}
