'use strict';
// The worker of one runner, which holds a student's code: it can be ended from outside at any moment.

// What a program prints waits here until it has time to send it, and of a flood only the ends do: as much as the judge keeps.
const most = 64 << 10;
class Output {
  head = [];
  room = most;
  tail = [];
  held = 0;       // bytes in tail
  dropped = 0;

  add(bytes) {
    if (this.room > 0) {
      const part = bytes.subarray(0, this.room);
      this.head.push(part);
      this.room -= part.length;
      bytes = bytes.subarray(part.length);
    }
    if (bytes.length === 0) return;
    this.tail.push(bytes);
    this.held += bytes.length;
    while (this.held - this.tail[0].length >= most) {
      this.dropped += this.tail[0].length;
      this.held -= this.tail.shift().length;
    }
  }

  flush(fd) {
    if (this.head.length === 0) return;
    if (this.held > most) {
      const over = this.held - most;
      this.tail[0] = this.tail[0].subarray(over);
      this.dropped += over;
    }
    postMessage({type: 'output', fd, bytes: join(this.head), dropped: this.dropped, tail: join(this.tail)});
    [this.head, this.room, this.tail, this.held, this.dropped] = [[], most, [], 0, 0];
  }
}

function join(chunks) {
  const all = new Uint8Array(chunks.reduce((n, c) => n + c.length, 0));
  let at = 0;
  for (const c of chunks) {
    all.set(c, at);
    at += c.length;
  }
  return all;
}

const outputs = {1: new Output(), 2: new Output()};
function flush() {
  outputs[1].flush(1);
  outputs[2].flush(2);
}

let starved = false;   // Go was refused memory and has said so
let lately = '';       // the end of what it said
const fs = new MemoryFS((fd, bytes) => {
  outputs[fd].add(bytes);
  if (fd === 1 || starved) return;
  lately = (lately + new TextDecoder().decode(bytes.subarray(-200))).slice(-200);
  starved = /(^|\n)fatal error: (runtime: )?(cannot allocate|out of) memory/.test(lately);
});
install(fs);

const requests = new Pipe();
const notes = new Pipe();
notes.take(bytes => { if (bytes) postMessage({type: 'notes', bytes}, [bytes.buffer]); });
fs.open_.set(3, {pipe: requests, end: 'read'});
fs.open_.set(4, {pipe: notes, end: 'write'});
fs.open_.set(5, {pipe: new Pipe(), end: 'write'}); // for crashes, which Go can only tell on its standard error here

let go;

// Of a stack that is full the innermost frames tell whose it is.
Error.stackTraceLimit = 60;

// A program that waits for nothing that could come is at a deadlock. Go itself says so, and where, once it is told that
// nothing will come; so node does at its end.
function idle() {
  if (!go || go.exited) return;
  flush();
  if (requests.waiting.length > 0) return;
  if (go._scheduledTimeouts.size > 0) {
    setTimeout(idle, 50);
    return;
  }
  go._pendingEvent = {id: 0};
  go._resume();
}

async function run(m) {
  closeDoors();
  let ended;
  try {
    const program = await runProgram(m.module, m);
    ({go, ended} = program);
    const running = go.run(program.instance);
    setTimeout(idle, 0);
    await running;
    flush();
    postMessage({type: 'end', ...ended(), refused: starved});
  } catch (e) {
    broken(e);
  }
}

// broken ends a program that WebAssembly has stopped in the middle.
function broken(e) {
  go = null;
  flush();
  postMessage({type: 'trap', name: e instanceof RangeError || e?.name === 'InternalError' ? 'stack overflow' : String(e), stack: e?.stack ?? ''});
}

onmessage = ({data: m}) => {
  try {
    if (m.type === 'run') {
      run(m);
    } else if (m.bytes) {
      requests.write(m.bytes);
      setTimeout(idle, 0);
    } else {
      requests.closeWriter();
    }
  } catch (e) {
    broken(e);
  }
};
