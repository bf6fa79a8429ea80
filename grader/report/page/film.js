// A film is a strip of frames; here one of them is shown at a time, and what moves from one to the next is seen moving.
for (const film of document.querySelectorAll(".film")) {
  const takes = [...film.querySelectorAll(".take")].map(take => [...take.querySelectorAll(".frame")]);
  const player = film.querySelector(".player"), slider = player.querySelector("input"), said = player.querySelector("output");
  const first = film.classList.contains("drawing") ? 1 : 0;
  const button = player.querySelector("button"), live = film.querySelector("[aria-live]");
  const last = takes[0].length - 1, wrong = +film.dataset.start;
  const still = matchMedia("(prefers-reduced-motion: reduce)");
  let now = -1, timer = 0;

  const places = frame => new Map([...frame.querySelectorAll("[data-s]")].map(c => [c.dataset.s, c.getBoundingClientRect()]));
  const show = (k, tell) => {
    k = Math.max(0, Math.min(last, k));
    for (const frames of takes) {
      const before = now >= 0 && !still.matches && places(frames[now]);
      frames.forEach((f, i) => f.classList.toggle("shown", i === k));
      if (!before) continue;
      for (const chip of frames[k].querySelectorAll("[data-s]")) {
        const from = before.get(chip.dataset.s), to = chip.getBoundingClientRect();
        const x = from.left - to.left, y = from.top - to.top;
        if (x || y) chip.animate([{ transform: `translate(${x}px, ${y}px)` }, { transform: "none" }], { duration: 350, easing: "ease-out" });
      }
    }
    now = k;
    slider.value = k;
    said.textContent = `${k + first} of ${last + first}`;
    slider.setAttribute("aria-valuetext", `step ${k + first} of ${last + first}`);
    if (tell) live.textContent = takes[takes.length - 1][k].querySelector("p").textContent;
  };
  const stop = () => {
    clearInterval(timer);
    timer = 0;
    button.textContent = "▶ play";
  };
  const play = () => {
    if (timer) return stop();
    show(now === last || now === wrong ? 0 : now + 1, true);
    button.textContent = "⏸ pause";
    timer = setInterval(() => {
      show(now + 1, true);
      if (now === wrong || now === last) stop(); // it stays where it goes wrong
    }, 1400);
  };
  const keys = { ArrowRight: () => now + 1, ArrowUp: () => now + 1, ArrowLeft: () => now - 1, ArrowDown: () => now - 1, Home: () => 0, End: () => last };
  player.addEventListener("keydown", e => {
    if (!keys[e.key]) return;
    e.preventDefault();
    stop();
    show(keys[e.key](), true);
  });
  slider.addEventListener("input", () => {
    stop();
    show(+slider.value, true);
  });
  button.addEventListener("click", play);
  film.classList.add("live");
  player.hidden = last === 0;
  show(wrong, false);
}
