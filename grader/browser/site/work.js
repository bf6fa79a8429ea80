// A student's work as a whole: out of the browser as a zip that `cudalab grade` takes, and back in from a zip or a folder.
import {pack, unpack} from './zip.js';
import {packageOf} from './source.js';

const progress = '.cudalab/progress.json';

// exported is an archive of every exercise that was begun, laid out as the course is. It has the progress with it, in the form
// that the command line keeps, so that unpacking it over a course goes on there.
export function exported(lessons, store) {
  const files = {}, kept = {};
  for (const lesson of lessons) {
    const entry = store.get(lesson.name);
    if (entry.files && !same(entry.files, lesson.files)) {
      for (const [name, text] of Object.entries(entry.files)) files[`exercises/${lesson.package}/${name}`] = text;
    }
    if (entry.status || entry.hints) {
      kept[lesson.name] = {
        status: entry.status ?? '', score: entry.score ?? 0, max_score: entry.max ?? 0, device: 'sim', failing_seed: entry.seed,
        when: entry.when ?? new Date(0).toISOString(), first_passed: entry.passed, best: entry.best, findings: entry.findings, hints: entry.hints,
      };
    }
  }
  const count = Object.keys(files).length;
  if (Object.keys(kept).length) files[progress] = JSON.stringify(kept, null, 2) + '\n';
  return {count, blob: pack(files)};
}

// fromZip is {path: text} of an archive's Go files, and of the progress in it.
export async function fromZip(file) {
  return unpack(await file.arrayBuffer(), path => path.endsWith('.go') || path.endsWith(progress));
}

// fromFolder is the same of what a folder was chosen by.
export async function fromFolder(list) {
  const files = {};
  for (const file of list) {
    const path = file.webkitRelativePath || file.name;
    if (path.endsWith('.go') || path.endsWith(progress)) files[path] = await file.text();
  }
  return files;
}

// sorted says which files belong to which exercise, by the package that they say they are of: {exercise: {name: text}}. What
// lies in another folder of the course, such as its solutions, is not the student's.
export function sorted(lessons, files) {
  const found = {};
  for (const [path, text] of Object.entries(files)) {
    if (!path.endsWith('.go') || path.endsWith('_test.go') || /(^|\/)(solutions|grader|native|kernels|cmd|lessons|__MACOSX)\//.test(path)) continue;
    const lesson = lessons.find(l => l.package === packageOf(text));
    if (lesson) (found[lesson.name] ??= {})[path.replace(/.*\//, '')] = text;
  }
  return found;
}

// progressIn is what an import says of how far its exercises came, by exercise, as the store keeps it; nothing where it is not to be read.
export function progressIn(files) {
  const path = Object.keys(files).find(p => p.endsWith(progress));
  try {
    return Object.fromEntries(Object.entries(JSON.parse(files[path])).map(([name, e]) => [name, {
      status: e.status || undefined, score: e.score, max: e.max_score, seed: e.failing_seed, when: e.when, passed: e.first_passed, best: e.best,
      findings: e.findings, hints: e.hints, report: undefined,
    }]));
  } catch {
    return {};
  }
}

const same = (a, b) => Object.keys(a).length === Object.keys(b).length && Object.entries(a).every(([name, text]) => b[name] === text);
