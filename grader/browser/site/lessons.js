// The list of lessons, with how far one has come.
import {$, el} from './dom.js';

export function begin(course, store) {
  $('pick').addEventListener('click', () => {
    const passed = course.lessons.filter(l => store.get(l.name).passed).length;
    $('lessons-sum').textContent = `${course.lessons.length} lessons, to be taken in order. `
      + (passed ? `You have passed ${passed}.` : 'Each is a chapter and a small program with gaps to fill.');
    $('lessons-list').replaceChildren(...course.lessons.map(l => item(l, store.get(l.name), l.name === store.recall('lesson'))));
    $('lessons').showModal();
    $('lessons-list').querySelector('[aria-current]')?.scrollIntoView({block: 'nearest'});
  });
  $('lessons').addEventListener('click', event => {
    if (event.target === $('lessons') || event.target.closest('a')) $('lessons').close();
  });
}

function item(lesson, entry, current) {
  const best = entry.best?.score;
  const [sign, words] = entry.passed ? ['✓', 'passed'] : best ? ['◐', `${best} of ${lesson.points} points so far`] : entry.files ? ['◔', 'begun'] : ['○', 'not begun'];
  return el('li', {}, el('a', {href: '#' + lesson.name, 'aria-current': current && 'true', class: entry.passed ? 'passed' : ''},
    el('span', {class: 'sign', 'aria-hidden': 'true'}, sign),
    el('span', {}, el('b', {}, lesson.title), el('span', {class: 'about'}, lesson.about)),
    el('span', {class: 'quiet'}, words)));
}
