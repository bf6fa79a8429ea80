// The engine on its way: what is coming, how much of it is there, and in which words that is said.
import {$, megabytes} from './dom.js';

let waiting = null; // what the verdict's panel shows while there is no verdict
let pending = null; // takes the words of a check that is under way
let ready = false;

// during has the words of progress shown in the panel of a check, until it is given null.
export const during = say => { pending = say; };

// progress takes what the engine says of its way.
export function progress({stage, done, total, words}) {
  if (stage === 'ready') return finished();
  if (pending && (ready || stage !== 'load')) pending(words);
  if (ready) return;
  const bar = $('engine-bar');
  if (stage === 'load' && total) {
    bar.max = total;
    bar.value = done;
    words = done < total ? `Loading ${megabytes(done, total)} of ${megabytes(total)}` : 'Preparing the compiler';
  } else {
    bar.removeAttribute('value');
  }
  say(words);
  if (pending && stage === 'load') pending(`${words}. Your check begins as soon as it is here.`);
}

const sentence = words => words.replace(/[.…]*$/, words.endsWith('…') ? '…' : '.');

function say(words) {
  $('engine-words').textContent = words;
  if (waiting?.isConnected) waiting.textContent = sentence(words);
}

export function finished() {
  ready = true;
  $('engine').classList.add('done');
  $('engine-bar').hidden = true;
  $('engine-words').textContent = 'Ready';
  if (waiting) waiting.textContent = '';
}

export function failed(message) {
  $('engine').classList.add('failed');
  $('engine-bar').hidden = true;
  say(message);
}

// shownIn has the state written into an element as well, while it is on the page.
export function shownIn(element) {
  waiting = element;
  waiting.textContent = ready ? '' : sentence($('engine-words').textContent);
}
