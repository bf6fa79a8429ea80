// Elements of the page, made in one expression each.

// el makes an element: el('a', {href: '#x', class: 'link', onclick: f}, 'text', child). Text is never read as HTML.
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value == null) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.filter(c => c != null && c !== false));
  return made;
}

// fill puts children in the place of all that an element has.
export function fill(box, ...children) {
  box.replaceChildren(...children.filter(c => c != null && c !== false));
}

export const $ = id => document.getElementById(id);

export const plural = (n, noun) => `${n} ${noun}${n === 1 ? '' : 's'}`;

// megabytes is a size for people.
export const megabytes = (bytes, as = bytes) => (bytes / 1e6).toFixed(as < 1e7 ? 1 : 0) + (bytes === as ? ' MB' : '');

// announce has a screen reader say something that the page shows elsewhere.
export function announce(words) {
  $('announce').textContent = words;
}

// toast shows a sentence for some seconds, and has it read out.
let hiding = 0;
export function toast(words) {
  const box = $('toast');
  box.textContent = words;
  box.classList.add('shown');
  announce(words);
  clearTimeout(hiding);
  hiding = setTimeout(() => box.classList.remove('shown'), 3000 + 60 * words.length);
}
