// The page: one lesson at a time, its text, the student's code, and what the check says of it.
import * as chapter from './chapter.js';
import {$, announce, el, toast} from './dom.js';
import {Editor} from './editor.js';
import * as hints from './hints.js';
import * as lessonList from './lessons.js';
import * as loading from './loading.js';
import * as menu from './menu.js';
import * as offline from './offline.js';
import * as panels from './panels.js';
import {gaps} from './source.js';
import {record, Store} from './store.js';
import * as verdict from './verdict.js';

const base = new URL('.', import.meta.url);
const load = async path => {
  const answer = await fetch(new URL(path, base));
  if (!answer.ok) throw new Error(`${path} could not be loaded (status ${answer.status}). Reload the page; if that does not help, the site is incomplete.`);
  return answer.json();
};

const store = new Store();
let course, lesson, texts, file, engine, busy = false;

const entry = () => store.get(lesson.name);
const files = () => entry().files ?? lesson.files;
const mainFile = () => Object.keys(lesson.files)[0];

// The editor, and what follows from an edit.
let saving = 0;
const editor = new Editor($('editor'), {
  changed: () => { clearTimeout(saving); saving = setTimeout(save, 200); },
  keys: [
    {key: 'Mod-Enter', run: () => (check(), true)}, {key: 'Mod-s', run: () => (check(), true)},
    {key: 'Alt-g', run: () => (nextGap(), true)}, {key: 'Alt-h', run: () => (hint(), true)},
  ],
});

function save() {
  clearTimeout(saving);
  saving = 0;
  if (!lesson || editor.text === files()[file]) return;
  store.change(lesson.name, {files: {...files(), [file]: editor.text}});
  showGap();
}

addEventListener('pagehide', save);
document.addEventListener('visibilitychange', save);

function showGap() {
  const left = Object.values(files()).flatMap(gaps);
  $('gap').hidden = left.length === 0;
  if (left.length) {
    $('gap').textContent = `Gap ${left[0].id}`;
    $('gap').setAttribute('aria-label', `Go to the next gap, ${left[0].id}. ${left.length} left.`);
    $('gap').title = `Go to the next gap (Alt G); ${left.length} left`;
  }
}

function nextGap(id) {
  save();
  for (const [name, text] of Object.entries(files())) {
    const found = gaps(text).find(g => !id || g.id === id);
    if (!found) continue;
    open(name);
    panels.show('code');
    editor.select(found.from, found.to);
    return;
  }
  toast(id ? `TODO(${id}) is not in your code any more.` : 'Every gap is filled.');
}

// open shows one of the exercise's files.
function open(name, anew = false) {
  if (file !== name || anew) {
    if (!anew) save();
    file = name;
    editor.open(files()[name], gaps(files()[name])[0]?.from);
    if (entry().report) mark(entry().report);
  }
  $('files').replaceChildren(...Object.keys(files()).map(other => other === file && Object.keys(files()).length === 1
    ? el('span', {class: 'file'}, other)
    : el('button', {class: 'file', 'aria-pressed': String(other === file), onclick: () => open(other)}, other)));
}

const named = path => path.replace(/.*[/\\]/, '') || mainFile();

function mark(report) {
  editor.mark(verdict.findingsOf(report).filter(f => f.line && named(f.file) === file));
}

const acts = {
  goTo(path, line) {
    const name = named(path);
    if (name in files()) open(name);
    panels.show('code');
    editor.goTo(line);
  },
  gap: id => nextGap(id),
};

// go shows a lesson: the one in the address, or the one that was read last.
async function go() {
  save();
  const wanted = decodeURIComponent(location.hash.slice(1)) || store.recall('lesson');
  const next = course.lessons.find(l => l.name === wanted) ?? course.lessons[0];
  const read = await load(`lessons/${next.name}.json`);
  lesson = next;
  texts = read;
  store.remember('lesson', lesson.name);
  document.title = `${lesson.title} – cudalab`;
  $('pick-number').textContent = `Lesson ${lesson.number} of ${course.lessons.length}`;
  $('pick-title').textContent = lesson.title;
  chapter.show($('chapter'), texts.chapter);
  panels.tab('chapter');
  $('chapter').scrollTop = 0;
  open(mainFile(), true);
  showGap();
  showVerdict(entry().report);
  $('tab-solution').hidden = !texts.solution; // a handout has none
  showSolution();
  announce(`Lesson ${lesson.number}: ${lesson.title}`);
  engine?.warm(lesson.name);
}

function showVerdict(report, html) {
  $('verdict-note').textContent = '';
  if (report) {
    const after = course.lessons[lesson.number];
    verdict.show(report, html, {...acts, next: after && (() => { location.hash = after.name; }),
      solution: texts.solution && (() => { panels.tab('solution', true); showSolution(); })});
    if (!html) $('verdict-note').textContent = 'from your last visit';
    return;
  }
  const state = el('p', {class: 'quiet'});
  $('said').replaceChildren(el('div', {class: 'empty'},
    el('p', {}, 'Read the chapter, fill the first gap, and press ', el('b', {}, 'Check'), '. Check as often as you like: it costs nothing.'),
    el('p', {class: 'quiet'}, 'The compiler, the simulated GPU and the grader run in this tab. Your code stays in this browser.'), state));
  loading.shownIn(state);
}

async function check() {
  if (busy) return;
  busy = true;
  save();
  const {name} = lesson, checked = files(), seed = entry().seed;
  $('check').setAttribute('aria-disabled', 'true');
  panels.show('verdict');
  announce('Checking.');
  $('verdict-note').textContent = '';
  let stopped = false; // also before there is an engine
  loading.during(verdict.pending(() => {
    stopped = true;
    engine?.cancel();
  }));
  try {
    await started;
    if (!engine) throw new Error($('engine-words').textContent);
    const answer = engine.check({exercise: name, files: checked, seed, replayed: Boolean(seed)});
    if (stopped) engine.cancel();
    const {json, html} = await answer;
    store.change(name, record(store.get(name), json));
    if (lesson.name !== name) return;
    showVerdict(json, html);
    mark(json);
    showSolution();
    if (panels.current() === 'hints') showHints();
    announce(verdict.summary(json));
  } catch (error) {
    $('said').replaceChildren(el('p', {class: 'message', role: 'alert'}, error.message), el('p', {class: 'buttons'},
      el('button', {onclick: () => location.reload()}, 'Reload the page'), el('span', {class: 'quiet'}, 'Your code is kept.')));
  } finally {
    loading.during(null);
    busy = false;
    $('check').removeAttribute('aria-disabled');
  }
}

function showHints() {
  hints.show(lesson, entry(), texts.hints, !texts.solution, (todo, count) => {
    store.change(lesson.name, {hints: {...entry().hints, [todo]: count}});
    showHints();
    [...$('hints').querySelectorAll(':scope > .hint')].at(-1)?.focus();
  });
}

function hint() {
  save();
  panels.tab('hints');
  showHints();
  ($('next-hint') ?? $('hints')).focus();
}

// showSolution shows it to who has passed, and to who asks for it twice.
function showSolution(anyway = false) {
  if (!texts.solution) return;
  if (entry().passed || anyway) {
    chapter.show($('solution'), texts.solution);
  } else {
    $('solution').replaceChildren(el('p', {}, 'It is here once you have passed. You learn more from one more hint.'),
      el('p', {class: 'buttons'}, el('button', {onclick: hint}, 'Give me a hint'),
        el('button', {class: 'plain', onclick: () => { showSolution(true); $('solution').focus(); }}, 'Show the solution all the same')));
  }
}

// adopt takes files in the place of the student's, which are kept.
function adopt(name, changed) {
  store.replace(name, changed);
  if (name === lesson.name) {
    open(mainFile() in files() ? mainFile() : Object.keys(files())[0], true);
    showGap();
    showVerdict(entry().report);
  }
}

store.onchange = name => {
  if (name !== lesson?.name || editor.focused) return;
  if (files()[file] !== editor.text) open(file in files() ? file : mainFile(), true);
  showGap();
};
store.onbroken = toast;

$('check').addEventListener('click', check);
$('hint').addEventListener('click', hint);
$('gap').addEventListener('click', () => nextGap());
document.addEventListener('keydown', event => {
  if (event.defaultPrevented || document.querySelector('dialog[open]')) return;
  const run = {
    'Enter': event.ctrlKey || event.metaKey ? check : null, 's': event.ctrlKey || event.metaKey ? check : null,
    'g': event.altKey ? nextGap : null, 'h': event.altKey ? hint : null, 'l': event.altKey ? () => $('pick').click() : null,
  }[event.key];
  if (!run) return;
  event.preventDefault();
  run();
});
if (/Mac|iPhone|iPad/.test(navigator.platform)) $('check-key').textContent = '⌘ ⏎';

let started = begin();

async function begin() {
  try {
    course = await load('course.json');
    await go();
  } catch (error) {
    loading.failed(error.message);
    return;
  }
  panels.begin(name => { if (name === 'hints') showHints(); }, store);
  lessonList.begin(course, store);
  menu.begin({course, store, adopt, save, lesson: () => lesson});
  addEventListener('hashchange', go);
  try {
    await offline.begin();
    const {start} = await import('./engine.js');
    engine = await start({base: base.href, onProgress: loading.progress});
    engine.warm(lesson.name);
    engine.ready.then(() => { loading.finished(); offline.finish(); }, error => loading.failed(error.message));
  } catch (error) {
    loading.failed(error.message);
  }
}
