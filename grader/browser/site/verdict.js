// The verdict of a check: the document that `cudalab check --json` writes, with the films of its page.
import {$, el, fill, plural} from './dom.js';
import {Report} from './frames.js';

const names = {
  'passed': ['passed', 'good', '✓'], 'failed': ['not yet right', 'bad', '✗'], 'not-started': ['not started', 'odd', '○'],
  'build-failed': ['does not compile', 'bad', '✗'], 'refused': ['refused', 'bad', '✗'], 'timeout': ['ran too long', 'bad', '✗'],
  'crashed': ['crashed', 'bad', '✗'], 'error': ['could not be checked', 'odd', '!'],
};
const signs = {passed: '✓', failed: '✗', skipped: '·'};

export const findingsOf = report => report.checks.flatMap(c => c.findings);

// summary is a verdict in a sentence, to be read out.
export function summary(report) {
  const [name] = names[report.status] ?? [report.status];
  const found = findingsOf(report).length;
  return `${name[0].toUpperCase()}${name.slice(1)}: ${report.score} of ${report.max_score} points.`
    + (found ? ` ${plural(found, 'finding')}.` : '') + (report.message ? ' ' + report.message : '');
}

// show fills the panel. acts are what it can have done: goTo(file, line), solution(), next() where there is a next lesson.
export function show(report, html, acts) {
  const pages = html ? new Report(html) : null;
  const [name, mood, sign] = names[report.status] ?? [report.status, 'odd', '!'];
  const share = report.max_score ? report.score / report.max_score : 0;
  const goTo = line => { $('pictures').close(); acts.goTo('', line); };
  const {told, following} = causes(report);
  const box = $('said');
  fill(box,
    el('div', {class: `outcome ${mood}`},
      el('span', {class: 'sign', 'aria-hidden': 'true'}, sign),
      el('div', {}, el('h3', {}, name),
        report.max_score ? el('p', {class: 'score'}, el('b', {}, String(report.score)), ` of ${report.max_score} points`) : null),
      report.max_score ? el('div', {class: 'meter', 'aria-hidden': 'true'}, el('i', {style: `width:${100 * share}%`})) : null),
    report.message ? el('p', {class: 'message'}, report.message) : null,
    report.status === 'passed' ? passed(acts) : next(report, acts),
    el('ol', {class: 'findings'}, ...told.map((f, i) => finding(f, i + 1, following.get(f) ?? [], pages, acts))),
    pages?.pictured ? el('p', {class: 'buttons'}, el('button', {id: 'show-pictures', onclick: async () => {
      $('pictures-box').replaceChildren(await pages.whole(goTo));
      $('pictures').showModal();
    }}, 'Pictures of your streams and memory')) : null,
    checks(report),
    report.output ? el('details', {open: true}, el('summary', {}, 'What your code printed'), el('pre', {}, report.output)) : null,
    el('p', {class: 'quiet facts'}, [report.device.name, `seed ${report.seed}`, `${(report.duration_ms / 1000).toFixed(1)} s`].filter(Boolean).join(' · ')));
  box.scrollTop = 0;
}

function passed(acts) {
  return el('p', {class: 'buttons'},
    acts.next ? el('button', {class: 'primary', id: 'next-lesson', onclick: acts.next}, 'Next lesson') : el('strong', {}, 'That was the last lesson.'),
    acts.solution ? el('button', {onclick: acts.solution}, 'Compare with the solution') : null);
}

// next is what to do next, where that is more than to mend what stands below it. Words of a command line are left out.
function next(report, acts) {
  const {gap} = report;
  if (gap) {
    return el('p', {class: 'message'}, el('b', {}, 'Next: '), 'write ',
      el('button', {class: 'link', onclick: () => acts.gap(gap.id)}, `TODO(${gap.id})`), gap.text ? `: ${gap.text}.` : '.');
  }
  const words = (report.next ?? '').replace(/^mend the first error.*/, '').replace(/; --seed \d+ draws the same workloads$/, '')
    .replace(/`cudalab check [\w-]+`/g, 'check');
  return words ? el('p', {class: 'message'}, el('b', {}, 'Next: '), words[0].toLowerCase() + words.slice(1), /[.!?]$/.test(words) ? '' : '.') : null;
}

// causes sorts the findings as the page of a check does: those that are told, in the order of their numbers there, and for each
// the errors that come of it.
function causes(report) {
  const all = findingsOf(report);
  const told = all.filter(f => !f.follows), following = new Map();
  for (const f of all.filter(f => f.follows)) {
    const {rule, file, line} = f.follows;
    const cause = told.find(o => o.severity === 'error' && o.rule === rule && (o.file ?? '') === (file ?? '') && (o.line ?? 0) === (line ?? 0));
    if (cause) following.set(cause, [...following.get(cause) ?? [], f]);
    else told.push(f);
  }
  return {told, following};
}

function finding(f, number, followers, pages, acts) {
  const place = p => p.line ? el('button', {class: 'link', onclick: () => acts.goTo(p.file, p.line)}, `line ${p.line}`) : null;
  const item = el('li', {class: `finding ${f.severity}`, id: `said-${number}`},
    el('h4', {}, el('span', {class: 'rule'}, f.severity === 'error' ? f.rule : `${f.severity}: ${f.rule}`), f.line ? ' in ' : '', place(f)),
    el('p', {}, f.message),
    f.why ? el('p', {class: 'why'}, el('b', {}, 'Why: '), f.why) : null,
    f.fix ? el('p', {class: 'fix'}, el('b', {}, 'Fix: '), f.fix) : null,
    f.related?.length ? el('ul', {class: 'related'}, ...f.related.map(r => el('li', {}, r.message, r.line ? ': ' : '', place(r)))) : null);
  if (followers.length) {
    item.append(el('p', {class: 'why'}, 'And because of that:'), el('ul', {}, ...followers.map(o => el('li', {},
      el('b', {}, o.rule), o.line ? ' in ' : '', place(o), ': ', o.message))));
  }
  const drawn = f.picture ? el('pre', {class: 'picture'}, f.picture) : null;
  if (drawn) item.append(drawn);
  pages?.picture(number, line => acts.goTo(f.file, line)).then(figure => {
    if (!figure) return;
    if (drawn) drawn.replaceWith(figure);
    else item.append(figure);
  });
  return item;
}

function checks(report) {
  if (!report.checks.some(c => c.max_points)) return null;
  const items = report.checks.map(c => el('li', {class: c.status},
    el('span', {class: 'sign', 'aria-hidden': 'true'}, signs[c.status] ?? '·'),
    el('div', {}, el('span', {class: 'hidden'}, c.status + ': '), c.name, c.message ? el('p', {class: 'quiet'}, c.message) : null,
      ...c.measurements.map(m => el('p', {class: 'quiet'}, measured(m)))),
    c.max_points ? el('span', {class: 'points'}, `${c.points}/${c.max_points}`) : null));
  return el('section', {class: 'checks', 'aria-label': 'Checks'}, el('h4', {}, 'Checks'), el('ol', {}, ...items));
}

const figure = v => Number(v.toPrecision(3)).toLocaleString('en');
const measured = m => `${m.name}: ${figure(m.value)} ${m.unit}` + (m.limit ? `, limit ${figure(m.limit)} ${m.unit}` : '');

// pending is the panel while a check is under way; what it returns takes the words that come meanwhile.
export function pending(stop) {
  const words = el('p', {class: 'message'}, 'Checking…'), clock = el('span', {class: 'quiet clock'});
  const bar = el('progress', {'aria-label': 'Check under way'});
  const began = performance.now();
  $('said').replaceChildren(el('div', {class: 'pending'}, words, bar, el('p', {class: 'buttons'}, el('button', {id: 'stop', onclick: stop}, 'Stop'), clock)));
  const timer = setInterval(() => {
    if (!clock.isConnected) return clearInterval(timer);
    clock.textContent = `${((performance.now() - began) / 1000).toFixed(0)} s`;
  }, 500);
  return said => { words.textContent = said; };
}
