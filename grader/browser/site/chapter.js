// The chapter, and the code in any of the course's texts.
import {classHighlighter, goLanguage, highlightCode} from './codemirror/codemirror.js';
import {el} from './dom.js';

// show puts a text of the course into a box. It was made from the course's own Markdown when the site was built.
export function show(box, html) {
  box.innerHTML = html;
  box.querySelectorAll('pre > code.language-go').forEach(colour);
  for (const table of box.querySelectorAll('table')) {
    const wide = el('div', {class: 'wide'});
    table.replaceWith(wide);
    wide.append(table);
  }
}

// colour gives a piece of Go the colours that it has in the editor.
function colour(code) {
  const text = code.textContent;
  code.textContent = '';
  highlightCode(text, goLanguage.parser.parse(text), classHighlighter,
    (part, style) => code.append(style ? el('span', {class: style}, part) : part), () => code.append('\n'));
}
