// Refresh the page when a run of the queue changes. The pages also work without this file.
"use strict";
let timer = 0;
async function refresh() {
  timer = 0;
  const active = document.activeElement;
  if (active && ["INPUT", "SELECT", "TEXTAREA"].includes(active.tagName)) return;
  if (document.querySelector("main details[open]")) return;
  const reply = await fetch(location.href, { credentials: "same-origin" });
  if (!reply.ok || reply.redirected) return;
  const fresh = new DOMParser().parseFromString(await reply.text(), "text/html");
  const main = document.querySelector("main");
  const next = fresh.querySelector("main");
  if (main && next) main.replaceWith(next);
}
const since = document.body.dataset.change;
if (since && !document.querySelector("main[data-still]")) {
  const events = new EventSource("/api/v1/events?since=" + since);
  events.addEventListener("run", () => { if (!timer) timer = setTimeout(refresh, 700); });
}
