// What the browser keeps of a student's work: for each exercise the files as they are now, how far they came, and which hints
// were given. It is written at every pause in typing and when the page goes away, so that a lost tab loses no code.

// Sites under other paths of the same host keep theirs apart.
const prefix = 'cudalab:' + new URL('.', location.href).pathname + ':';

// An entry is {files: {name: text}, before: files, status, score, max, best, passed, seed, when, findings, hints: {todo: n}, report}:
// before is what the files were when they were last replaced as a whole, seed the one that the code failed on.
export class Store {
  #entries = new Map();
  #broken = '';
  onchange = () => {};    // another tab has written: called with the exercise's name
  onbroken = () => {};    // nothing can be kept: called once, with a sentence that says so

  constructor() {
    addEventListener('storage', event => {
      if (!event.key?.startsWith(prefix)) return;
      const name = event.key.slice(prefix.length);
      this.#entries.delete(name);
      this.onchange(name);
    });
  }

  get(name) {
    if (!this.#entries.has(name)) this.#entries.set(name, this.#read(name));
    return this.#entries.get(name);
  }

  // change replaces parts of an entry and keeps it.
  change(name, parts) {
    const entry = {...this.get(name), ...parts};
    this.#entries.set(name, entry);
    try {
      localStorage.setItem(prefix + name, JSON.stringify(entry));
    } catch (error) {
      this.#fail(error.name === 'QuotaExceededError'
        ? 'The browser has no room left to keep your work in.' : 'The browser does not let this page keep anything.');
    }
    return entry;
  }

  // replace puts other files in the place of an exercise's, and keeps those that were there.
  replace(name, files) {
    const {files: before} = this.get(name);
    return this.change(name, before ? {files, before} : {files});
  }

  // recall is what was kept under a name that is no exercise's, such as the lesson last read.
  recall(name) {
    return this.get('.' + name).value;
  }

  remember(name, value) {
    this.change('.' + name, {value});
  }

  #read(name) {
    try {
      const entry = JSON.parse(localStorage.getItem(prefix + name) ?? '{}');
      if (entry && typeof entry === 'object') return entry;
    } catch (error) {
      if (!(error instanceof SyntaxError)) this.#fail('The browser does not let this page keep anything.');
    }
    return {};
  }

  #fail(why) {
    if (this.#broken) return;
    this.#broken = why + ' Your code is safe only as long as this tab is open: export your work before you close it.';
    this.onbroken(this.#broken);
  }
}

// record is what an entry keeps of a report, as .cudalab/progress.json does on a command line.
export function record(entry, report) {
  const best = entry.best && entry.best.score >= report.score || report.score === 0 ? entry.best
    : {score: report.score, max_score: report.max_score, device: report.device.kind, when: new Date().toISOString()};
  const ran = ['failed', 'timeout', 'crashed'].includes(report.status);
  const built = !['build-failed', 'refused', 'error'].includes(report.status);
  return {
    status: report.status, score: report.score, max: report.max_score, best, when: new Date().toISOString(), report,
    passed: entry.passed || (report.status === 'passed' ? new Date().toISOString() : undefined),
    seed: ran ? report.seed : built ? undefined : entry.seed,
    findings: errors(report),
  };
}

// errors are the errors that a report names, each once in each place, those that come of others last: {rule, file, line}.
function errors(report) {
  const found = new Map(), all = report.checks.flatMap(c => c.findings);
  for (const f of [...all.filter(f => !f.follows), ...all.filter(f => f.follows)]) {
    if (f.severity !== 'error') continue;
    const file = f.file ? f.file.replace(/.*[/\\]/, '') : undefined;
    found.set([f.rule, file, f.line].join(), {rule: f.rule, file, line: f.line || undefined});
  }
  return [...found.values()];
}
