// What is wrong with how a page is seen, in lines: texts that are too small, cut, covered, on one another or too pale, and
// pictures that have no name. It is the tests' and on no page.
(() => {
  const wrong = [], says = (what, el) => wrong.push(`${what}: ${(el.closest("figure, li, article") || el).id || el.closest("[class]")?.className} "${el.textContent.trim().slice(0, 40)}"`);
  const rgba = text => {
    const n = text.match(/[\d.e-]+/g).map(Number);
    return text.startsWith("color(") ? [n[0] * 255, n[1] * 255, n[2] * 255, n[3] ?? 1] : [n[0], n[1], n[2], n[3] ?? 1];
  };
  const over = (a, b) => [0, 1, 2].map(i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
  const light = c => {
    const [r, g, b] = c.slice(0, 3).map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const paper = (x, y, el) => {
    const stack = document.elementsFromPoint(x, y), from = Math.max(0, stack.findIndex(e => e === el || el.contains(e)));
    const grounds = [];
    for (const e of stack.slice(from)) {
      const style = getComputedStyle(e);
      const c = rgba(e instanceof SVGElement && e.tagName !== "svg" ? (style.fill === "none" || /^(text|line|path|g|tspan|a)$/.test(e.tagName) ? "rgba(0,0,0,0)" : style.fill) : style.backgroundColor);
      if (c[3] > 0) grounds.push(c);
      if (c[3] === 1) break;
    }
    grounds.push(rgba(getComputedStyle(document.body).backgroundColor));
    return grounds.reduceRight((under, c) => over(c, under));
  };
  const texts = [], walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; (n = walk.nextNode());) {
    const el = n.parentElement;
    if (!n.data.trim() || el.closest("script, style, title, desc, .hidden, .skip, option") || !el.checkVisibility({ visibilityProperty: true })) continue;
    const range = document.createRange();
    range.selectNodeContents(n);
    for (const r of range.getClientRects()) if (r.width > 0 && r.height > 0) texts.push({ n, el, r });
  }
  for (const text of texts) {
    const { el, r } = text;
    const style = getComputedStyle(el), svg = el.closest("svg"), scale = svg ? svg.getScreenCTM().a : 1;
    if (parseFloat(style.fontSize) * scale < (innerWidth === 1400 && el.closest(".box, .work i, .stage i") ? 11.99 : 10.99)) says(`${(parseFloat(style.fontSize) * scale).toFixed(1)} px`, el);
    const x = r.left + r.width / 2, y = r.top + r.height / 2;
    let cut = false;
    for (let e = el; e && e !== document.body; e = e.parentElement) {
      const flow = getComputedStyle(e);
      if (flow.overflowX === "visible" || e instanceof SVGElement && e.tagName !== "svg") continue;
      const b = e.getBoundingClientRect();
      if (flow.overflowX !== "auto" && (r.left < b.left - 1 || r.right > b.right + 1)) cut = `${Math.round(r.left)}…${Math.round(r.right)} of ${Math.round(b.left)}…${Math.round(b.right)}`;
      if (flow.overflowX === "auto" && (r.left < b.left - 1 || r.right > b.right + 1)) { cut = null; break; } // it can be scrolled there
    }
    if (cut === null) { text.off = true; continue; }
    if (cut) says(`cut, ${cut}`, el);
    if (r.left < -1 || r.right > innerWidth + 1) says("beyond the page", el);
    const top = document.elementFromPoint(x, y);
    if (top && top !== el && !el.contains(top) && !top.contains(el) && !(svg && svg.contains(top))) says("covered", el);
    const ink = rgba(svg ? style.fill : style.color), ground = paper(x, y, el);
    const [a, b] = [light(over(ink, ground)), light(ground)].sort((a, b) => b - a);
    const contrast = (a + 0.05) / (b + 0.05);
    if (contrast < 4.495) says(`contrast ${contrast.toFixed(2)}`, el);
  }
  for (const fig of document.querySelectorAll("figure")) {
    const own = texts.filter(t => !t.off && fig.contains(t.el)).sort((a, b) => a.r.top - b.r.top);
    own.forEach((a, i) => {
      for (let j = i + 1; j < own.length && own[j].r.top < a.r.bottom - 2; j++) {
        const b = own[j], wide = Math.min(a.r.right, b.r.right) - Math.max(a.r.left, b.r.left);
        const high = Math.min(a.r.bottom, b.r.bottom) - Math.max(a.r.top, b.r.top);
        if (a.n !== b.n && !a.el.closest(".lines") && wide > 1 && high > 3) says(`on "${b.n.data.trim().slice(0, 30)}"`, a.el);
      }
    });
    if (!fig.checkVisibility() || fig.matches(".source")) continue;
    const named = document.getElementById(fig.getAttribute("aria-labelledby") || "-");
    if (!named || !named.textContent.trim()) says("a picture without a name", fig);
  }
  for (const lane of document.querySelectorAll(".lane"))
    for (const box of lane.querySelectorAll(".box")) {
      const mine = [...box.querySelectorAll("b")].filter(b => b.checkVisibility());
      if (mine.length > 1) says("two labels in one box", box);
      const kin = [...lane.querySelectorAll(".box")].filter(o => o.className === box.className && o.dataset.kind === box.dataset.kind && o.querySelector("b") && box.querySelector("b"));
      if (kin.some(o => [...o.querySelectorAll("b")].some(b => b.checkVisibility()) !== mine.length > 0)) says("some boxes of a kind have names and some have none", box);
    }
  // What is drawn is told from what is around it: borders, strokes and stripes. A lane's line and a frame only guide the eye.
  const drawnOn = el => {
    const grounds = [rgba(getComputedStyle(document.body).backgroundColor)];
    for (let e = el; e; e = e.parentElement) grounds.splice(1, 0, rgba(getComputedStyle(e).backgroundColor));
    return grounds.reduce((under, c) => over(c, under));
  };
  for (const el of document.querySelectorAll("figure .box, .work i, .may i, .held, .stage i, .stage u, .edge, .gauge i, .mark-at, .hold-sign, button, figure svg :is(path, line, rect, circle)")) {
    const style = getComputedStyle(el), edges = [], filled = rgba(style.backgroundColor);
    if (!el.checkVisibility({ visibilityProperty: true }) || el.closest("marker, pattern, .tick")) continue;
    if (el instanceof SVGElement) edges.push(style.stroke === "none" ? style.fill : style.stroke);
    else for (const side of ["Top", "Right", "Bottom", "Left"]) if (parseFloat(style[`border${side}Width`]) > 0 && style[`border${side}Style`] !== "none") edges.push(style[`border${side}Color`]);
    if (!edges.length && filled[3] === 1 && !el.matches(".words")) edges.push(style.backgroundColor);
    for (const stripe of style.backgroundImage.matchAll(/(rgba?|color)\([^)]*\)/g)) if (rgba(stripe[0])[3] > 0 && !el.matches(".track")) edges.push(stripe[0]);
    const ground = drawnOn(el.parentElement), pale = light(ground);
    for (const edge of edges) {
      const [a, b] = [light(over(rgba(edge), ground)), pale].sort((a, b) => b - a);
      if ((a + 0.05) / (b + 0.05) < 2.995) says(`an edge of contrast ${((a + 0.05) / (b + 0.05)).toFixed(2)}`, el);
    }
  }
  for (const e of document.querySelectorAll("[role=img], button, input")) {
    if (innerWidth === 420 && e.closest(".player") && e.checkVisibility() && e.offsetHeight < 44) says("too low for a thumb", e);
    if (e.checkVisibility() && !(e.getAttribute("aria-label") || e.getAttribute("aria-labelledby") || e.textContent.trim())) says("no name", e);
  }
  // What goes wrong, what waits and what is not there is told from all else without colour: by its border or its pattern.
  for (const legend of document.querySelectorAll("figure .legend")) {
    const seen = new Map();
    for (const sign of legend.querySelectorAll(".box.sign")) {
      const style = getComputedStyle(sign);
      const drawn = [style.borderTopStyle, style.borderBottomWidth, style.borderTopWidth, style.boxShadow === "none", style.backgroundImage, style.height, style.borderRadius].join(" ").replaceAll(/(rgb|color)\([^)]*\)/g, "colour");
      const other = seen.get(drawn);
      const alone = /fault|wrong|wait|none|free|back|buddy/;
      if (other && (alone.test(other.className) || alone.test(sign.className))) says(`looks like "${other.parentElement.textContent}" but for its colour`, sign.parentElement);
      seen.set(drawn, sign);
    }
  }
  // On paper, and where no script runs, every step is there.
  const steps = [...document.querySelectorAll(".frame")].filter(f => f.closest("figure").checkVisibility());
  const shown = steps.filter(f => getComputedStyle(f).visibility === "visible" && f.getBoundingClientRect().width > 0);
  if ((matchMedia("print").matches || !document.querySelector(".live")) && shown.length < steps.length) wrong.push(`${shown.length} of ${steps.length} steps are there`);
  // No two pictures are the same, each fault has one, and none is a single block.
  const boxes = fig => [...fig.querySelectorAll(".box:not(.sign)")].map(b => b.className + b.getAttribute("style") + b.textContent).join();
  const drawings = new Map();
  for (const fig of document.querySelectorAll("figure:not(.source)")) {
    const drawn = fig.className + boxes(fig) + [...fig.querySelectorAll(".frame, path, line, rect")].map(e => e.tagName === "LI" ? e.textContent : [...e.attributes].map(a => a.value)).join();
    if (drawings.has(drawn)) says(`drawn twice, as ${drawings.get(drawn)}`, fig);
    drawings.set(drawn, fig.id);
    if (fig.querySelectorAll(".frame").length === 1 && fig.querySelectorAll(".frame .box").length < 2) says("one frame with one block", fig);
    const stops = [...fig.querySelectorAll("button, input, summary, [tabindex='0']")].filter(e => e.checkVisibility());
    if (stops.length > 6) says(`${stops.length} stops of the tabulator`, fig);
  }
  for (const card of document.querySelectorAll(".finding.error")) {
    const own = [...card.querySelectorAll("figure")].filter(f => f.checkVisibility());
    if (own.length > 1) says(`${own.length} pictures`, card);
  }
  const found = document.querySelectorAll(".finding").length, most = { 1400: 2600, 420: 5000 }[innerWidth];
  if (found === 1 && document.documentElement.scrollHeight > most) wrong.push(`the page is ${document.documentElement.scrollHeight} px high`);
  const wide = document.documentElement.scrollWidth - innerWidth;
  if (wide > 0) wrong.push(`the page is ${wide} px too wide`);
  return [...new Set(wrong)].join("\n");
})()
