// Films and pictures: parts of the page that `cudalab check --html` writes, each in a frame that can reach nothing of this page.
import {el} from './dom.js';

const base = import.meta.url;
let inside; // the script by which a frame tells how high it is

// Frames say how high they are, and which lines were asked for.
const waiting = new Map();
addEventListener('message', event => {
  for (const [frame, heard] of waiting) {
    if (!frame.isConnected) waiting.delete(frame);
    else if (frame.contentWindow === event.source) heard(event.data);
  }
});

// Report is the page of a check.
export class Report {
  #document;

  constructor(html) {
    this.html = html;
    this.#document = new DOMParser().parseFromString(html, 'text/html');
  }

  // picture is a frame with the picture of the finding of that number, from 1; null where it has none.
  async picture(number, opened) {
    const figure = this.#document.querySelector(`#finding${number} > figure`);
    return figure && this.#frame(figure.outerHTML, figure.querySelector('h4').textContent, opened);
  }

  get pictured() {
    return this.#document.querySelector('figure:not(.source)') !== null;
  }

  // whole is the page in a frame.
  whole(opened) {
    const main = this.#document.body.cloneNode(true);
    main.querySelectorAll('script, header, footer, .skip').forEach(s => s.remove());
    return this.#frame(main.innerHTML, 'Films and pictures of this check', opened);
  }

  async #frame(body, title, opened) {
    inside ??= await (await fetch(new URL('inside.js', base))).text();
    const style = [...this.#document.querySelectorAll('style')].map(s => s.outerHTML).join('');
    const script = this.#document.querySelector('body > script')?.textContent ?? '';
    const frame = el('iframe', {sandbox: 'allow-scripts', title});
    frame.srcdoc = `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">`
      + `<meta name="color-scheme" content="light dark">${style}</head><body class="framed">${body}<script>${script}</script><script>${inside}</script></body></html>`;
    waiting.set(frame, said => {
      if (said.height) frame.style.height = Math.ceil(said.height) + 'px';
      if (said.line) opened?.(said.line);
    });
    return frame;
  }
}
