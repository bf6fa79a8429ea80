"use strict";
for (const scene of document.querySelectorAll(".scene")) {
  const bars = [...scene.querySelectorAll(".bar")];
  const detail = scene.querySelector(".detail");
  const scroll = scene.querySelector(".scroll");

  // One stop for the tabulator key in each picture; the arrow keys move within it.
  bars.forEach((b, i) => b.setAttribute("tabindex", i ? -1 : 0));
  const show = b => {
    detail.textContent = b.querySelector("title").textContent.split("\n").join(" · ");
    for (const o of bars) o.classList.toggle("same", o !== b && o.dataset.call === b.dataset.call);
  };
  const left = b => b.querySelector("rect").getBBox().x;
  const go = b => {
    if (!b) return;
    bars.forEach(o => o.setAttribute("tabindex", o === b ? 0 : -1));
    b.focus();
    b.scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const keys = { ArrowRight: [0, 1], ArrowLeft: [0, -1], ArrowDown: [1, 0], ArrowUp: [-1, 0] };
  for (const b of bars) {
    b.addEventListener("mouseenter", () => show(b));
    b.addEventListener("focus", () => show(b));
    b.addEventListener("keydown", e => {
      const move = keys[e.key];
      if (!move) return;
      e.preventDefault();
      const [rows, steps] = move;
      const row = bars.filter(o => +o.dataset.row === +b.dataset.row + rows);
      if (steps) return go(row[row.indexOf(b) + steps]);
      const x = left(b);
      go(row.sort((p, q) => Math.abs(left(p) - x) - Math.abs(left(q) - x))[0]);
    });
  }

  // Zooming stretches the time and leaves heights and letters as they are.
  const tools = scene.querySelector(".tools");
  const drawings = [...scene.querySelectorAll(".scroll svg")];
  const width = drawings[0].viewBox.baseVal.width;
  const kept = [];
  for (const svg of drawings) {
    for (const el of svg.querySelectorAll("rect, line, text, path, .number")) {
      if (el.closest("defs") || el.closest(".number") && !el.matches(".number")) continue;
      const was = {};
      for (const name of ["x", "x1", "x2", "width", "d", "transform"]) {
        if (el.hasAttribute(name)) was[name] = el.getAttribute(name);
      }
      kept.push([el, was]);
    }
  }
  const path = (d, z) => d.replace(/([MCHV])([^MCHVZ]*)/g, (all, command, rest) => {
    if (command === "V") return all;
    const numbers = rest.trim().split(/\s+/).map(Number);
    return command + numbers.map((n, i) => command === "H" || i % 2 === 0 ? n * z : n).join(" ");
  });
  const draw = z => {
    for (const svg of drawings) {
      svg.setAttribute("width", width * z);
      svg.setAttribute("viewBox", `0 0 ${width * z} ${svg.viewBox.baseVal.height}`);
    }
    for (const [el, was] of kept) {
      for (const [name, value] of Object.entries(was)) {
        if (name === "d") el.setAttribute(name, path(value, z));
        else if (name === "transform") el.setAttribute(name, value.replace(/\(([\d.]+)/, (_, x) => `(${x * z}`));
        else el.setAttribute(name, value * z);
      }
    }
    // Words that have no room any more are left out, and names are cut: their signs are in front.
    let end = -1;
    for (const text of scene.querySelectorAll(".time .tick text")) {
      const x = +text.getAttribute("x");
      text.style.display = x < end ? "none" : "";
      if (x >= end) end = x + 64;
    }
    for (const band of scene.querySelectorAll(".band")) {
      const text = band.querySelector("text");
      if (text) text.style.display = band.querySelector("rect").width.baseVal.value < text.textContent.length * 6.6 + 8 ? "none" : "";
    }
    for (const b of bars) {
      const text = b.querySelector("text"), rect = b.querySelector("rect");
      if (b.classList.contains("point")) continue;
      text.dataset.name ??= text.textContent;
      text.textContent = [...text.dataset.name].slice(0, Math.max(0, (rect.width.baseVal.value - 8) / 6.6)).join("").trim();
    }
  };
  // A picture opens as wide as the page, as long as names can be read, and at its fault.
  let zoom = Math.min(1.5, Math.max(0.6, scroll.clientWidth / width));
  draw(zoom);
  const fault = scene.querySelector(".bar.fault");
  if (fault) scroll.scrollLeft = left(fault) - scroll.clientWidth / 2;
  tools.hidden = false;
  for (const button of tools.querySelectorAll("button")) {
    button.addEventListener("click", () => {
      const by = button.dataset.zoom;
      if (by === "fit") zoom = scroll.clientWidth / width;
      else zoom = by === "reset" ? 1 : Math.min(8, Math.max(0.1, zoom * by));
      draw(zoom);
    });
  }
}

// A link into the source opens it.
const unfold = () => {
  const to = location.hash && document.getElementById(location.hash.slice(1));
  const own = to && to.matches("section") && to.querySelector("details");
  if (own) own.open = true;
  const folded = () => to && to.closest("details:not([open])");
  if (!folded()) return;
  while (folded()) folded().open = true;
  to.scrollIntoView({ block: "center" });
};
addEventListener("hashchange", unfold);
unfold();
