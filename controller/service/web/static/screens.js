// Refresh the visible screens repeatedly; screens outside the viewport are not requested.
"use strict";
const EVERY_MS = 1500;
const seen = new Set();
function show(image) {
  return new Promise((done) => {
    image.onload = () => { image.classList.remove("blank"); done(); };
    image.onerror = () => { image.classList.add("blank"); done(); };
    image.src = `${image.dataset.screen}?t=${Date.now()}`;
  });
}
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) entry.isIntersecting ? seen.add(entry.target) : seen.delete(entry.target);
});
for (const image of document.querySelectorAll("img[data-screen]")) watcher.observe(image);
async function round() {
  // One after the other, so that a host under load gets no requests faster than it replies.
  if (!document.hidden) for (const image of [...seen]) await show(image);
  setTimeout(round, EVERY_MS);
}
setTimeout(round, 50);
