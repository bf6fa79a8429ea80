'use strict';
// The worker of the judge, which starts all the others: compiler and linker in one, each runner in one of its own.

let manifest, scripts, base;
const loaded = {};           // modules by name: promises
const progress = m => postMessage({type: 'progress', ...m});

let said = '';               // the end of what the judge's own program has written: nothing, while all is well
const fs = new MemoryFS((fd, bytes) => {
  said = (said + new TextDecoder().decode(bytes)).slice(-4000);
  console.error('judge:', said);
});
install(fs);

// ---- what is fetched

let total = 0, done = 0;

function arrived(bytes) {
  done += bytes;
  progress({stage: 'load', done: Math.round(done), total, words: 'Loading Go and the course'});
}

// A file as the site has it: where the server encodes it itself, by its plain name; else as it was compressed beforehand.
async function file(entry, {type, counted = true} = {}) {
  const encoded = manifest.encoded;
  const brotli = !encoded && canBrotli();
  const url = base + entry.url + (encoded ? '' : brotli ? '.br' : '.gz');
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} should be there, and is answered with ${response.status}.`);
  let body = response.body;
  const count = step => new TransformStream({transform(chunk, c) {
    if (counted) arrived(step(chunk.length));
    c.enqueue(chunk);
  }});
  // Bytes are counted as they come over the line; where the browser decodes them, by the share that they have of it.
  if (encoded) {
    body = body.pipeThrough(count(n => n * entry.br / entry.size));
  } else {
    body = body.pipeThrough(count(n => n)).pipeThrough(new DecompressionStream(brotli ? 'brotli' : 'gzip'));
  }
  return new Response(body, {headers: {'Content-Type': type ?? 'application/octet-stream'}});
}

let brotliKnown;
function canBrotli() {
  if (brotliKnown === undefined) {
    try {
      new DecompressionStream('brotli');
      brotliKnown = true;
    } catch {
      brotliKnown = false;
    }
  }
  return brotliKnown;
}

// A module comes from the network as such wherever that can be: then the browser keeps what it has compiled.
async function moduleOf(entry) {
  if (manifest.encoded) {
    const module = await WebAssembly.compileStreaming(fetch(base + entry.url));
    arrived(entry.br);
    return module;
  }
  return WebAssembly.compileStreaming(file(entry, {type: 'application/wasm'}));
}

// A bundle is the length of its list, the list, and the files one behind the other.
async function bundle(entry, counted = true) {
  const all = new Uint8Array(await (await file(entry, {counted})).arrayBuffer());
  const length = new DataView(all.buffer).getUint32(0);
  return {list: JSON.parse(new TextDecoder().decode(all.subarray(4, 4 + length))), data: all.subarray(4 + length)};
}

// ---- compiler and linker

const wanted = new Set(['packages']);
const bundles = new Map();   // what is wanted, by name: promises
let free = Promise.resolve(); // kept when no tool runs

// What an exercise's runner has of its own is fetched when it is first needed.
async function bring(exercise) {
  const name = 'lesson-' + lessons.find(l => l.name === exercise)?.package;
  if (!manifest.files[name]) return;
  wanted.add(name);
  await all();
}

// What a worker took with it when it was stopped comes from the browser's cache.
const all = () => Promise.all([...wanted].map(name => {
  if (!bundles.has(name)) bundles.set(name, bundle(manifest.files[name], false));
  return bundles.get(name);
}));

// Each run has a worker of its own, so that its memory, a hundred megabytes for the linker, is given back as it ends. The
// packages move there and back.
function runTool(tool, {args, env, dir}, output, ended) {
  let worker = null;
  let over = false;
  let leave;
  const end = (code, peak) => {
    if (over) return;
    over = true;
    worker?.terminate();
    leave?.();
    ended(code, peak, false);
  };
  const stop = () => {
    if (worker && !over) bundles.clear();
    end(-1, 0);
  };
  free = free.then(async () => {
    const [module, ...packages] = await Promise.all([loaded[tool], ...await all()]);
    if (over) return;
    const files = [...fs.below(dir)].map(([path, node]) => [path, node.data.slice(0, node.size)]);
    progress({stage: tool, words: tool === 'compile' ? 'Compiling your code' : 'Linking it with the course'});
    worker = new Worker(scripts.tools);
    const left = new Promise(resolve => { leave = resolve; });
    const names = [...wanted];
    worker.onmessage = ({data: m}) => {
      if (over) return;
      if (m.type === 'output') return output(m.fd, m.bytes, 0);
      for (const [path, data] of m.made) fs.put(path, data);
      m.packages.forEach((b, i) => bundles.set(names[i], Promise.resolve(b)));
      end(m.end.code, m.end.peak);
    };
    worker.postMessage({module, tool, args, env, dir, files, folder: PACKAGES, packages}, packages.map(b => b.data.buffer));
    await left;
  }).catch(e => {
    output(2, new TextEncoder().encode(String(e)), 0);
    stop();
  });
  return {stop};
}

// ---- runners

let spare = null;            // a worker that waits for a program

function runnerWorker() {
  const worker = spare ?? new Worker(scripts.runner);
  spare = new Worker(scripts.runner);
  return worker;
}

// A program's memory has a limit, which Go keeps by itself once it is refused more: then it says where it asked.
function limited(bytes, limit) {
  let at = 8;
  const leb = () => {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
      const b = bytes[at++];
      value |= (b & 127) << shift;
      if (b < 128) return value >>> 0;
    }
  };
  const encode = n => {
    const out = [];
    do {
      out.push((n & 127) | (n > 127 ? 128 : 0));
      n >>>= 7;
    } while (n);
    return out;
  };
  while (at < bytes.length) {
    const start = at;
    const id = bytes[at++];
    const size = leb();
    const body = at;
    if (id === 5) {
      at = body + 2;         // one memory, and its flags
      const least = leb();
      const section = [1, 1, ...encode(least), ...encode(Math.max(least, limit >>> 16))];
      return new Blob([bytes.subarray(0, start), new Uint8Array([5, ...encode(section.length), ...section]), bytes.subarray(body + size)])
        .arrayBuffer();
    }
    at = body + size;
  }
  return bytes.buffer;
}

function runProgramOf(node, {path, args, env, files, memory}, output, ended) {
  const worker = runnerWorker();
  const [requests, notes] = files.map(fd => fs.at(fd).pipe);
  requests.readers++;
  notes.writers++;
  let over = false;
  const end = (code, peak, refused) => {
    if (over) return;
    over = true;
    worker.terminate();
    requests.closeReader();
    notes.closeWriter();
    ended(code, peak, refused);
  };
  worker.onmessage = ({data: m}) => {
    if (over) return;
    switch (m.type) {
      case 'output':
        output(m.fd, m.bytes, 0);
        if (m.tail.length) output(m.fd, m.tail, m.dropped);
        break;
      case 'notes': notes.write(m.bytes); break;
      case 'end': end(m.code, m.refused ? Math.max(m.peak, memory) : m.peak, m.refused); break;
      case 'trap':
        output(2, new TextEncoder().encode(lastWords(m)), 0);
        end(2, 0, false);
        break;
    }
  };
  worker.onerror = e => {
    output(2, new TextEncoder().encode(`fatal error: ${e.message}\n`), 0);
    end(2, 0, false);
  };
  progress({stage: 'run', words: 'Running and judging it'});
  (async () => {
    node.module ??= WebAssembly.compile(await limited(node.data.subarray(0, node.size), memory));
    const module = await node.module;
    if (over) return;
    worker.postMessage({type: 'run', module, path, args, env, memory});
    requests.take(bytes => worker.postMessage({bytes}));
  })().catch(e => worker.onerror({message: String(e)}));
  return {stop: () => end(-1, 0, false)};
}

// lastWords are what Go would have said had it seen the end coming. Of a stack that is full WebAssembly knows the functions,
// by names in which every sign but letters, digits and dots is a line; Go tells where such a function begins.
function lastWords({name, stack}) {
  let words = `fatal error: ${name}\n`;
  const frames = [];
  for (const [, pkg, symbol] of stack.matchAll(/cudalab_exercises_(\w+)\.([\w.]+)/g)) {
    const method = /^_?_?(\w+?)_?\.(\w+)$/.exec(symbol);
    const [type, func] = symbol.includes('.') && method ? [method[1], method[2]] : ['', symbol];
    const place = declared(pkg, type, func);
    if (place) frames.push(`cudalab/exercises/${pkg}.${type ? `(*${type}).` : ''}${func}(...)\n\tcudalab/exercises/${pkg}/${place}`);
  }
  if (frames.length) words += `\ngoroutine 1 [running]:\n${frames.join('\n')}\n`;
  return words;
}

// declared is where a function of the student's is declared: "slab.go:41".
function declared(pkg, type, func) {
  const pattern = new RegExp(type ? `^func \\(\\w*\\s*\\*?${type}\\b[^)]*\\) ${func}\\b` : `^func ${func}\\b`);
  for (const [path, node] of fs.below(judged)) {
    const lines = new TextDecoder().decode(node.data.subarray(0, node.size)).split('\n');
    const at = lines.findIndex(line => pattern.test(line));
    if (at >= 0) return path.slice(path.lastIndexOf('/') + 1) + ':' + (at + 1);
  }
  return null;
}

// ---- what the judge calls

const PACKAGES = '/packages';
const COURSE = '/course';

globalThis.cudalab = {
  setup: '',
  pipe: () => fs.pipe(),
  spawn: (command, output, ended) => {
    // What comes of it is told from the loop: the judge has to know first that it has started.
    // One that is no more does not hear of it.
    const {mine} = globalThis.cudalab;
    const later = f => (...args) => setTimeout(() => globalThis.cudalab.mine === mine && f(...args), 0);
    const over = (...args) => {
      running.delete(program);
      later(ended)(...args);
    };
    const program = command.path.startsWith('/go/')
      ? runTool(command.path.slice(4), command, later(output), over)
      : runProgramOf(fs.find(command.path), command, later(output), over);
    running.add(program);
    return program;
  },
  serving: () => serving(),
};

let serving;
let lessons;
let judged = COURSE; // the folder of the code under test
let stopped = false; // the check under way, though it may not have begun yet

async function start(m) {
  ({manifest, scripts, base} = m);
  const brotli = manifest.encoded || canBrotli();
  for (const [name, entry] of Object.entries(manifest.files)) {
    if (!brotli) entry.br = entry.gz;
    if (!name.startsWith('lesson-')) total += entry.br;
  }
  // All is compiled before anything runs: what runs has the processor's attention, and the browser's own compiler none.
  for (const name of ['judge', 'compile', 'link']) loaded[name] = moduleOf(manifest.files[name]);
  bundles.set('packages', bundle(manifest.files.packages));
  const course = await bundle(manifest.files.course);
  let at = 0;
  for (const {name, size} of course.list) {
    fs.put(COURSE + '/' + name, course.data.slice(at, at + size));
    at += size;
  }
  lessons = JSON.parse(new TextDecoder().decode(fs.get(COURSE + '/lessons.json')));
  postMessage({type: 'lessons', lessons});
  fs.makeAll('/home');
  fs.makeAll('/tmp');
  fs.cwd = COURSE;
  spare = new Worker(scripts.runner);
  await begin();
}

const running = new Set();   // what the judge has started
let begun = Promise.resolve();
let died = () => {};         // tells whoever waits for the judge that it is no more

// whileItLives is what the judge answers, or an error if it comes to an end before.
async function whileItLives(ask) {
  await begun;
  return Promise.race([new Promise(ask), new Promise((_, reject) => { died = reject; })]);
}

// begin starts the judge's own program; one that has come to an end is begun anew.
async function begin() {
  const module = await loaded.judge;
  cudalab.setup = JSON.stringify({Root: COURSE, Tools: '/go', Folder: PACKAGES, Packages: manifest.packages, Lang: manifest.lang, Debug: manifest.debug});
  const serves = new Promise(resolve => { serving = resolve; });
  const {go, instance} = await runProgram(module, {path: 'judge', args: [], env: ['HOME=/home', 'TMPDIR=/tmp', 'PWD=' + COURSE]});
  const ended = go.run(instance);
  await Promise.race([serves, ended.then(() => { throw new Error('The judge did not start: the site may be half an old one. Reload the page.'); })]);
  cudalab.mine = instance;
  ended.catch(() => {}).then(() => {
    cudalab.mine = null;
    for (const program of running) program.stop();
    begun = begin();
    const words = /(?:panic|fatal error): .*/.exec(said);
    died(new Error(`The grader itself came to an end${words ? ` (${words[0]})` : ''}. That is no fault of your code: check again.`));
    said = '';
  });
}

// Of a program that is no more a timer may still ask for it.
self.onerror = message => String(message).includes('Go program has already exited');

const answered = (resolve, reject) => (err, text) => err ? reject(new Error(err)) : resolve(text);

onmessage = async ({data: m}) => {
  try {
    switch (m.type) {
      case 'start':
        await start(m);
        await Promise.all([loaded.compile, loaded.link, all()]);
        postMessage({type: 'ready'});
        break;
      case 'check':
        judged = m.dir || `${COURSE}/exercises/${lessons.find(l => l.name === m.exercise)?.package}`;
        stopped = false;
        await bring(m.exercise);
        const text = await whileItLives((a, b) => {
          cudalab.check(m.request, answered(a, b));
          if (stopped) cudalab.cancel();
        });
        postMessage({type: 'answer', id: m.id, text});
        break;
      case 'warm':
        await bring(m.exercise);
        await whileItLives((a, b) => cudalab.warm(m.exercise, answered(a, b)));
        postMessage({type: 'answer', id: m.id, text: ''});
        break;
      case 'cancel':
        stopped = true;
        cudalab.cancel?.();
        break;
    }
  } catch (e) {
    postMessage({type: 'failed', id: m.id, message: e.message ?? String(e)});
  }
};
