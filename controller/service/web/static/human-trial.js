// Show live screens and send a person's input: one action per click, drag or pause in typing.
"use strict";
const trial = document.querySelector(".human-trial");
const base = `/human/${trial.dataset.run}`;
const FRAME_MS = 400;
const PAUSE_MS = 600;
const DOUBLE_MS = 280;
const NEAR_PX = 6;
const DESKTOP_KEYS = {
  Enter: "Return", Backspace: "BackSpace", Tab: "Tab", Escape: "Escape", Delete: "Delete", Home: "Home", End: "End",
  ArrowLeft: "Left", ArrowRight: "Right", ArrowUp: "Up", ArrowDown: "Down", PageUp: "Prior", PageDown: "Next", Insert: "Insert",
};
const PHONE_KEYS = { Enter: "ENTER", Backspace: "DEL", Tab: "TAB", Escape: "BACK", Home: "HOME" };
const field = (name) => trial.querySelector(`[data-field=${name}]`);
let queue = Promise.resolve();
let isOver = false;
let phase = "";

function act(on, name, args = {}) {
  queue = queue.then(() => send({ on, do: name, with: args }));
  return queue;
}
async function send(action) {
  if (isOver) return;
  const reply = await fetch(`${base}/act`, {
    method: "POST", credentials: "same-origin", headers: { "Content-Type": "application/json" }, body: JSON.stringify(action),
  });
  const body = await reply.json();
  field("feedback").textContent = reply.ok ? body.feedback : body.error.brief;
  if (reply.ok) showState(body);
}
function showState(state) {
  phase = state.phase;
  field("phase").textContent = state.phase;
  field("steps").textContent = state.steps;
  const left = state.left_s;
  field("clock").textContent = left === null ? "-" : `${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, "0")}`;
  if (state.phase === "over" && !isOver) { isOver = true; location.reload(); }
}
async function watch() {
  const reply = await fetch(`${base}/state`, { credentials: "same-origin" }).catch(() => null);
  if (reply && reply.ok) showState(await reply.json());
  if (!isOver) setTimeout(watch, 1000);
}
watch();

for (const figure of trial.querySelectorAll("figure")) {
  const { role, kind } = figure.dataset;
  const frame = figure.querySelector(".frame");
  const image = figure.querySelector("img");
  const isPhone = kind === "phone";
  let text = "";
  let pause = 0;
  let pressed = null;
  let waiting = 0;
  let notches = 0;
  const again = () => setTimeout(() => {
    if (isOver) return;
    if (phase === "acting") image.src = `${base}/screen/${encodeURIComponent(role)}?t=${Date.now()}`;
    else again();
  }, FRAME_MS);
  image.addEventListener("load", again);
  image.addEventListener("error", again);
  again();
  const place = (event) => {
    const box = image.getBoundingClientRect();
    const scale = (at, size, whole) => Math.max(0, Math.min(whole - 1, Math.round((at / size) * whole)));
    return { x: scale(event.clientX - box.left, box.width, image.naturalWidth), y: scale(event.clientY - box.top, box.height, image.naturalHeight) };
  };
  const flush = () => {
    clearTimeout(pause);
    if (text) act(role, "type_text", { text });
    text = "";
  };
  frame.addEventListener("contextmenu", (event) => event.preventDefault());
  frame.addEventListener("pointerdown", (event) => {
    event.preventDefault();
    frame.focus();
    flush();
    pressed = { ...place(event), button: event.button };
    frame.setPointerCapture(event.pointerId);
  });
  frame.addEventListener("pointerup", (event) => {
    if (!pressed) return;
    const from = pressed;
    pressed = null;
    const to = place(event);
    const isDrag = Math.hypot(to.x - from.x, to.y - from.y) > NEAR_PX;
    const at = { x: from.x, y: from.y };
    if (isDrag) act(role, isPhone ? "swipe" : "drag", { ...at, to_x: to.x, to_y: to.y });
    else if (from.button === 2) act(role, isPhone ? "long_tap" : "right_click", at);
    else if (isPhone) act(role, "tap", at);
    else if (waiting) { clearTimeout(waiting); waiting = 0; act(role, "double_click", at); }
    else waiting = setTimeout(() => { waiting = 0; act(role, "click", at); }, DOUBLE_MS);
  });
  frame.addEventListener("wheel", (event) => {
    if (isPhone) return;
    event.preventDefault();
    const at = place(event);
    if (!notches) setTimeout(() => { act(role, "scroll", { ...at, notches: Math.max(-10, Math.min(10, notches)) || 1 }); notches = 0; }, PAUSE_MS);
    notches += Math.sign(event.deltaY);
  }, { passive: false });
  frame.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && event.shiftKey) { flush(); frame.blur(); return; }
    const keys = isPhone ? PHONE_KEYS : DESKTOP_KEYS;
    const isChord = !isPhone && (event.ctrlKey || event.altKey || event.metaKey);
    if (event.key.length === 1 && !isChord) {
      event.preventDefault();
      text += event.key;
      clearTimeout(pause);
      pause = setTimeout(flush, PAUSE_MS);
      return;
    }
    const name = keys[event.key] || (event.key.length === 1 || /^F\d+$/.test(event.key) ? event.key : "");
    if (!name) return;
    event.preventDefault();
    if (event.key === "Enter" && text && !isChord) { text += "\n"; flush(); return; }
    flush();
    if (isPhone) { act(role, "key", { name }); return; }
    const chord = [event.ctrlKey && "ctrl", event.altKey && "alt", event.metaKey && "super", event.shiftKey && name.length > 1 && "shift"];
    act(role, "key", { keys: [...chord.filter(Boolean), name] });
  });
  for (const button of figure.querySelectorAll("[data-key]")) button.addEventListener("click", () => { flush(); act(role, "key", { name: button.dataset.key }); });
}
trial.querySelector("form[data-answer]").addEventListener("submit", (event) => {
  event.preventDefault();
  const name = event.submitter.value;
  const answer = event.target.elements.text.value;
  act(null, name, { submit: { answer }, declare_infeasible: { reason: answer }, complete: {} }[name]);
});
