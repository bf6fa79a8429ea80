// "Your work": out as a zip, in from one or from a folder, and back to the skeleton.
import {$, el, plural, toast} from './dom.js';
import * as offline from './offline.js';
import * as work from './work.js';

let page; // {course, store, adopt, save, lesson}

export function begin(given) {
  page = given;
  const zip = el('input', {type: 'file', accept: '.zip,.go', multiple: true, hidden: true, id: 'import-zip', onchange: () => take(zip)});
  const folder = el('input', {type: 'file', webkitdirectory: true, hidden: true, id: 'import-folder', onchange: () => take(folder)});
  const act = (id, name, about, run) => el('li', {}, el('button', {id, onclick: run}, name), el('p', {}, about));
  $('work').replaceChildren(
    el('h2', {id: 'work-h'}, 'Your work'),
    el('ul', {class: 'acts'},
      act('export', 'Export', 'Saves all exercises that you have begun as a zip. Hand it in, keep it, or unpack it over the course on a computer with '
        + 'cudalab, and go on there.', exportWork),
      act('import', 'Import a zip', 'Takes the exercises in a zip, such as one from Export, or single .go files. What you had is kept until the next import.', () => zip.click()),
      act('import-dir', 'Import a folder', 'Takes the exercises in a folder, such as your copy of the course.', () => folder.click()),
      act('reset', 'Start this exercise anew', 'Back to the skeleton. Your code is kept, and comes back with the next button.', reset),
      act('bring-back', 'Bring back what was there', 'Undoes the last import or new start of this exercise.', bringBack)),
    zip, folder,
    el('h3', {}, 'Keys'),
    el('dl', {class: 'keys'}, ...[
      ['Ctrl Enter', 'check'], ['Alt G', 'next gap'], ['Alt H', 'hint'], ['Alt L', 'lessons'], ['F8', 'next finding'],
      ['Ctrl Shift M', 'list of findings'], ['Ctrl F', 'find'], ['Esc, Tab', 'leave the editor'],
    ].flatMap(([key, does]) => [el('dt', {}, ...key.split(' ').map(k => el('kbd', {}, k))), el('dd', {}, does)])),
    el('h3', {}, 'This page'),
    el('p', {id: 'offline-state'}, offline.words()),
    el('p', {class: 'quiet'}, 'Your code and progress are kept in this browser and sent nowhere. Clearing the browser’s data for this site deletes them. '
      + 'The device is a simulated NVIDIA H200: for a GPU, take the course to a command line. ',
      el('a', {href: 'codemirror/LICENSES.txt', target: '_blank'}, 'Licences of the editor')),
    el('form', {method: 'dialog'}, el('button', {}, 'Close')));
  $('more').addEventListener('click', () => {
    page.save();
    $('bring-back').disabled = !page.store.get(page.lesson().name).before;
    $('work').showModal();
  });
  $('work').addEventListener('click', event => { if (event.target === $('work')) $('work').close(); });
}

function exportWork() {
  page.save();
  const {count, blob} = work.exported(page.course.lessons, page.store);
  if (!count) return toast('You have not begun an exercise yet: there is nothing to export.');
  const link = el('a', {href: URL.createObjectURL(blob), download: 'cudalab-work.zip'});
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  toast('Exported as cudalab-work.zip.');
}

// take imports what was chosen.
async function take(input) {
  const chosen = [...input.files];
  input.value = '';
  if (!chosen.length) return;
  try {
    let files = {};
    for (const file of chosen) {
      files = {...files, ...file.name.endsWith('.zip') ? await work.fromZip(file) : await work.fromFolder([file])};
    }
    const {lessons} = page.course;
    const found = work.sorted(lessons, files), kept = work.progressIn(files);
    const names = lessons.map(l => l.name).filter(name => found[name]);
    if (!names.length) {
      return toast(`There is no exercise in it: no .go file of a package such as ${lessons[0].package}. Choose the folder or zip that your exercises are in.`);
    }
    for (const name of names) {
      if (kept[name]) page.store.change(name, kept[name]);
      page.adopt(name, found[name]);
    }
    $('work').close();
    toast(`Imported ${plural(names.length, 'exercise')}: ${names.join(', ')}.`);
  } catch (error) {
    toast(error.message);
  }
}

function reset() {
  const lesson = page.lesson();
  page.save();
  page.store.change(lesson.name, {report: undefined, status: undefined, findings: undefined, seed: undefined, hints: undefined});
  page.adopt(lesson.name, lesson.files);
  $('work').close();
  toast('Back to the skeleton. What you had comes back under Your work.');
}

function bringBack() {
  const {name} = page.lesson();
  page.adopt(name, page.store.get(name).before);
  $('work').close();
  toast('Your code is back as it was.');
}
