// Runs within a frame: tells the page around it how high the content is, and which line of the source a link leads to.
"use strict";
document.documentElement.style.overflow = "hidden";
document.body.style.cssText = "display: flow-root; padding: 0; margin: 0; max-width: none; background: transparent";
const tell = () => parent.postMessage({ height: document.body.getBoundingClientRect().height }, "*");
new ResizeObserver(tell).observe(document.body);
tell();
addEventListener("click", event => {
  const link = event.target.closest("a[href^='#']");
  if (!link) return;
  const to = document.getElementById(link.getAttribute("href").slice(1));
  if (!to) event.preventDefault();
  const line = /(\d+)$/.exec(link.textContent.trim()) ?? /-L?(\d+)$/.exec(link.getAttribute("href"));
  if (!to && line) parent.postMessage({ line: +line[1] }, "*");
});
