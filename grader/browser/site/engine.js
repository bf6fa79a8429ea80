// The engine: Go's compiler and linker, the judge and the runners, all as WebAssembly in workers of this page's. It is what
// `cudalab check` is on a command line: the same code, the same words.
//
//   import {start} from './engine.js';
//   const engine = await start({base, onProgress});
//
// base is the URL of the folder that manifest.json lies in, with or without a slash behind it; onProgress is called with
// {stage, done, total, words}: stage is 'load' (done and total are bytes), 'compile', 'link', 'run' or 'ready'; words are a
// sentence for people. start returns once lessons are there, long before everything is loaded: a check waits for the rest.
//
//   engine.lessons()    [{name, package, title, number, points: {check: points}, files: {name: text}}]: the exercises in
//                       their order, files being the skeleton's.
//   engine.ready        a promise that is kept once everything is loaded and compiled.
//   engine.warm(name)   compiles and links the exercise's skeleton in advance, while the student reads.
//   engine.check({exercise, files: {name: text}, seed, replayed, timing, html, dir})
//                       a promise of {status, json, html}: json is the document of `cudalab check --json`, parsed, html the
//                       page of `cudalab check --html`, as text ('' with html: false, which saves the time for it). seed is a
//                       number: 0 or none is a fresh one; replayed says that seed is the one that the code failed on the
//                       last time. timing: false is --no-timing. One check runs at a time; another waits for it.
//   engine.cancel()     stops the check under way; its status is 'error', as after Ctrl-C.
//   engine.close()      ends all workers.
//
// A promise is broken only where the engine itself cannot go on, with an Error whose message is for people.

// The workers' scripts, in the order in which each is put together. They are started from blob: URLs, so that the site may
// lie anywhere and the page's policy names no other place for them.
const parts = {
  judge: ['wasm_exec', 'fs', 'program', 'judge'],
  tools: ['wasm_exec', 'fs', 'program', 'tools'],
  runner: ['wasm_exec', 'fs', 'program', 'runner'],
};

export async function start({base = '.', onProgress = () => {}} = {}) {
  base = new URL(base.endsWith('/') ? base : base + '/', document.baseURI).href;
  const get = async name => {
    const response = await fetch(base + name);
    if (!response.ok) throw new Error(`${base + name} should be there, and is answered with ${response.status}.`);
    return response;
  };
  const manifestResponse = await get('manifest.json');
  const manifest = await manifestResponse.json();
  // Where the host compresses what it serves, the browser decodes it; else it fetches what was compressed beforehand.
  manifest.encoded = ['br', 'gzip'].includes(manifestResponse.headers.get('Content-Encoding'));
  const texts = {};
  await Promise.all(Object.entries(manifest.scripts).map(async ([name, url]) => { texts[name] = await (await get(url)).text(); }));
  const scripts = {};
  for (const [name, list] of Object.entries(parts)) {
    scripts[name] = URL.createObjectURL(new Blob(list.map(part => texts[part] + '\n'), {type: 'text/javascript'}));
  }

  const worker = new Worker(scripts.judge);
  const waiting = new Map();  // by id: what the worker is asked for
  let ids = 0;
  let lessons, ready;
  const listed = new Promise((resolve, reject) => { lessons = {resolve, reject}; });
  const allLoaded = new Promise((resolve, reject) => { ready = {resolve, reject}; });
  allLoaded.catch(() => {});  // whoever waits for it hears of it
  const broken = error => {
    lessons.reject(error);
    ready.reject(error);
    for (const {reject} of waiting.values()) reject(error);
    waiting.clear();
  };
  worker.onerror = e => broken(new Error(e.message || 'The engine could not be started.'));
  worker.onmessage = ({data: m}) => {
    switch (m.type) {
      case 'progress': onProgress(m); break;
      case 'lessons': lessons.resolve(m.lessons); break;
      case 'ready':
        onProgress({stage: 'ready', done: 1, total: 1, words: 'Everything is loaded'});
        ready.resolve();
        break;
      case 'answer':
        waiting.get(m.id)?.resolve(m.text);
        waiting.delete(m.id);
        break;
      case 'failed':
        if (m.id === undefined) broken(new Error(m.message));
        waiting.get(m.id)?.reject(new Error(m.message));
        waiting.delete(m.id);
        break;
    }
  };
  const ask = message => new Promise((resolve, reject) => {
    const id = ++ids;
    waiting.set(id, {resolve, reject});
    worker.postMessage({...message, id});
  });
  let last = allLoaded;       // one thing at a time
  let stopped = false;        // the last check, though it may have to wait for its turn still
  const inTurn = f => {
    const mine = last.catch(() => {}).then(() => allLoaded).then(f);
    last = mine;
    return mine;
  };

  worker.postMessage({type: 'start', base, manifest, scripts});
  const list = await listed;
  return {
    lessons: () => list,
    ready: allLoaded,
    warm: exercise => inTurn(() => ask({type: 'warm', exercise})),
    check: ({exercise, files, seed = 0, replayed = false, timing = true, html = true, dir = ''}) => {
      stopped = false;
      return inTurn(async () => {
        const request = {Exercise: exercise, Files: files, Seed: seed, Replayed: replayed, NoTiming: !timing, HTML: html, Dir: dir};
        const answer = ask({type: 'check', exercise, dir, request: JSON.stringify(request)});
        if (stopped) worker.postMessage({type: 'cancel'});
        return JSON.parse(await answer);
      });
    },
    cancel: () => {
      stopped = true;
      worker.postMessage({type: 'cancel'});
    },
    close: () => worker.terminate(),
  };
}
