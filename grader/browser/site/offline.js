// The service worker's side of the page: whether everything is kept for a visit without a network.
import {$} from './dom.js';

// begin registers the service worker, and waits until it answers for this page, so that it sees what is loaded; but not for long.
export async function begin() {
  if (!('serviceWorker' in navigator)) return say(isSecureContext ? 'This browser keeps no pages for offline use.'
    : 'This page came over plain HTTP, so the browser does not keep it: stay connected.');
  try {
    await navigator.serviceWorker.register('sw.js', {type: 'classic'});
  } catch {
    return say('This browser did not let the page be kept for offline use.');
  }
  if (navigator.serviceWorker.controller) return;
  await Promise.race([
    new Promise(done => navigator.serviceWorker.addEventListener('controllerchange', done, {once: true})),
    new Promise(done => setTimeout(done, 1500)),
  ]);
}

// finish has what is still missing fetched, once the page has all it needs, and says when it works without a network.
export async function finish() {
  const worker = (await navigator.serviceWorker?.getRegistration())?.active;
  if (!worker) return;
  const {port1, port2} = new MessageChannel();
  const answer = new Promise(done => { port1.onmessage = event => done(event.data); });
  worker.postMessage('complete', [port2]);
  const {missing} = await answer;
  say(missing ? 'Not everything could be kept for offline use.' : 'Works offline: all of it is kept in this browser.');
  if (!missing) document.documentElement.dataset.offline = 'ready';
}

let state = 'It is being kept for offline use.';

function say(words) {
  state = words;
  const line = $('offline-state');
  if (line) line.textContent = words;
}

export const words = () => state;
