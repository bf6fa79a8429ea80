// The parts of the page: tabs over the text, the switch between parts where the window is narrow, and the bar that divides it.
import {$} from './dom.js';

const tabs = ['chapter', 'hints', 'solution'];

// tab shows one of the texts.
export function tab(name, focus = false) {
  for (const other of tabs) {
    $('tab-' + other).setAttribute('aria-selected', String(other === name));
    $('tab-' + other).tabIndex = other === name ? 0 : -1;
    $(other).hidden = other !== name;
  }
  show('read');
  if (focus) $('tab-' + name).focus();
}

export const current = () => tabs.find(name => !$(name).hidden);

// show brings a part to the front where only one has room.
export function show(part) {
  document.body.dataset.shown = part;
  for (const button of document.querySelectorAll('[data-show]')) button.setAttribute('aria-pressed', String(button.dataset.show === part));
}

// begin makes the parts work. opened is called with the name of a tab that was chosen; store remembers how wide the text is.
export function begin(opened, store) {
  for (const name of tabs) $('tab-' + name).addEventListener('click', () => { tab(name); opened(name); });
  document.querySelector('[role=tablist]').addEventListener('keydown', event => {
    const by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
    if (!by) return;
    const there = tabs.filter(name => !$('tab-' + name).hidden);
    const name = there[(there.indexOf(current()) + by + there.length) % there.length];
    tab(name, true);
    opened(name);
  });
  for (const button of document.querySelectorAll('[data-show]')) button.addEventListener('click', () => show(button.dataset.show));
  split(store);
}

function split(store) {
  const bar = $('split');
  const set = percent => {
    percent = Math.min(70, Math.max(20, percent));
    document.body.style.setProperty('--text', percent + '%');
    bar.setAttribute('aria-valuenow', String(Math.round(percent)));
    return percent;
  };
  const kept = store.recall('split');
  if (typeof kept === 'number') set(kept);
  bar.addEventListener('pointerdown', event => {
    event.preventDefault();
    bar.setPointerCapture(event.pointerId);
    bar.onpointermove = move => set(100 * move.clientX / innerWidth);
    bar.onpointerup = bar.onpointercancel = up => {
      bar.onpointermove = bar.onpointerup = bar.onpointercancel = null;
      store.remember('split', set(100 * up.clientX / innerWidth));
    };
  });
  bar.addEventListener('keydown', event => {
    const by = {ArrowRight: 2, ArrowLeft: -2}[event.key];
    if (by) store.remember('split', set(+bar.getAttribute('aria-valuenow') + by));
  });
}
