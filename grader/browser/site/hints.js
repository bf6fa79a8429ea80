// Which hint helps now: with the first gap that is left, or, once all are filled, with what the last check found. It is chosen
// as `cudalab hint` chooses it.
import {$, el, fill} from './dom.js';
import {functions, gaps} from './source.js';

// choose is {todo, finding}, or {nothing: a sentence} where no hint suggests itself.
export function choose(lesson, entry, hints) {
  const [file] = Object.keys(lesson.files);
  const code = entry.files ?? lesson.files;
  const left = Object.values(code).flatMap(gaps).find(gap => hints.some(h => h.todo === gap.id));
  if (left) return {todo: left.id};
  if (entry.status === 'passed') return {nothing: 'It has passed: there is nothing to help with.'};
  if (!entry.findings?.length) return {nothing: 'Every gap is filled, and no check has found a fault yet. Check your code.'};
  const within = finding => todosAround(lesson.files[file], code, finding);
  return match(hints, entry.findings, within) ?? {nothing: 'No hint belongs to what the last check found.'};
}

// match finds the gap that a finding belongs to: by its rule, and among several by the function that it is in; where no rule is
// known, by the function alone. A finding with a line says more than one without.
function match(hints, findings, within) {
  const ordered = [...findings.filter(f => f.line), ...findings.filter(f => !f.line)];
  for (const finding of ordered) {
    const candidates = hints.filter(h => h.rules.includes(finding.rule)).map(h => h.todo);
    const todo = within(finding).find(t => candidates.includes(t)) ?? candidates[0];
    if (todo) return {todo, finding};
  }
  for (const finding of ordered) {
    const [todo] = within(finding);
    if (todo) return {todo, finding};
  }
  return null;
}

// todosAround are the gaps that the function had that a finding lies in, as the exercise was handed out.
function todosAround(skeleton, code, finding) {
  if (!finding.line) return [];
  const around = functions(code[finding.file] ?? '').find(f => f.first <= finding.line && finding.line <= f.last);
  const was = around && functions(skeleton).find(f => f.name === around.name);
  return was ? gaps(was.text).map(g => g.id) : [];
}

// show fills the panel: the hints that were given for the gap, and a button for the next one.
export function show(lesson, entry, hints, handout, give) {
  const {todo, finding, nothing} = choose(lesson, entry, hints);
  if (nothing) return fill($('hints'), el('p', {class: 'quiet'}, nothing), others(entry, hints));
  const texts = hints.find(h => h.todo === todo).text;
  const given = Math.min(entry.hints?.[todo] ?? 0, texts.length);
  const about = finding
    ? el('p', {}, 'The last check found ', el('code', {}, finding.rule), finding.line ? ` in line ${finding.line}` : '', ', and that belongs here.')
    : el('p', {}, `For the first gap that is left. There are ${texts.length}, from a nudge to nearly the code.`);
  const next = given < texts.length
    ? el('button', {class: 'primary', id: 'next-hint', onclick: () => give(todo, given + 1)},
      given ? `Show hint ${given + 1} of ${texts.length}` : 'Show the first hint')
    : el('p', {class: 'quiet'}, `That was the last hint for TODO(${todo}). `
      + (handout ? 'If it does not get you on, ask your instructor.' : 'The solution is under Solution.'));
  // That search needs the types of the course's packages where the judge runs, and here compiler and linker alone have them.
  const why = finding ? el('p', {class: 'quiet'}, 'cudalab on a computer can look for the line where one change is enough: ',
    el('code', {}, `cudalab why ${lesson.name}`), '. This page cannot.') : null;
  fill($('hints'), el('h2', {}, `Hints for TODO(${todo})`), about, ...texts.slice(0, given).map((t, i) => hint(t, i, texts.length)), next, why,
    others(entry, hints, todo));
}

function hint(html, i, of) {
  const box = el('div', {class: 'hint', tabindex: -1, 'aria-label': `Hint ${i + 1} of ${of}`}, el('h3', {}, `Hint ${i + 1} of ${of}`));
  box.insertAdjacentHTML('beforeend', html); // the course's own, made from its Markdown
  return box;
}

// others are the hints that were given for other gaps, folded.
function others(entry, hints, but) {
  const all = hints.filter(h => h.todo !== but && entry.hints?.[h.todo]);
  return el('div', {class: 'others'}, ...all.map(h => el('details', {}, el('summary', {}, `What you were told about TODO(${h.todo})`),
    ...h.text.slice(0, entry.hints[h.todo]).map((t, i) => hint(t, i, h.text.length)))));
}
