'use strict';
// The file system that programs of Go's see in a worker: files in memory, pipes, and what a program writes to its outputs.
// It answers as node's fs does, which is what Go's own wasm_exec.js asks for.

const fsError = code => Object.assign(new Error(code), {code});

// A pipe keeps what was written until somebody reads it, or until somebody takes all of it as it comes.
class Pipe {
  chunks = [];
  waiting = [];    // reads that nothing has been written for
  readers = 1;
  writers = 1;
  taker = null;    // gets each chunk, and null for the end

  write(bytes) {
    if (this.readers === 0) throw fsError('EPIPE');
    if (this.taker) this.taker(bytes);
    else this.chunks.push(bytes);
    this.serve();
  }

  read(buffer, done) {
    this.waiting.push({buffer, done});
    this.serve();
  }

  serve() {
    while (this.waiting.length && (this.chunks.length || this.writers === 0)) {
      const {buffer, done} = this.waiting.shift();
      const chunk = this.chunks[0];
      if (!chunk) {
        done(0);
        continue;
      }
      const n = Math.min(chunk.length, buffer.length);
      buffer.set(chunk.subarray(0, n));
      if (n === chunk.length) this.chunks.shift();
      else this.chunks[0] = chunk.subarray(n);
      done(n);
    }
  }

  take(taker) {
    this.taker = taker;
    for (const chunk of this.chunks.splice(0)) taker(chunk);
    if (this.writers === 0) taker(null);
  }

  closeReader() {
    this.readers--;
  }

  closeWriter() {
    if (--this.writers > 0) return;
    if (this.taker) this.taker(null);
    this.serve();
  }
}

class MemoryFS {
  static FILE = 0o100644;
  static FOLDER = 0o040755;

  constructor(outputs) {
    this.outputs = outputs;      // called with 1 or 2 and the bytes written there
    this.root = this.folder();
    this.open_ = new Map();      // by descriptor
    this.next = 16;              // those below are a program's own
    this.inode = 1;
    this.cwd = '/';
    this.constants = {O_RDONLY: 0, O_WRONLY: 1, O_RDWR: 2, O_CREAT: 64, O_EXCL: 128, O_TRUNC: 512, O_APPEND: 1024, O_DIRECTORY: 65536};
    for (const [name, call] of Object.entries(this.calls())) {
      this[name] = (...args) => {
        const done = args.pop();
        let result;
        try {
          result = call(...args);
        } catch (e) {
          if (!e.code) e.code = 'EIO';
          done(e);
          return;
        }
        done(null, result);
      };
    }
  }

  folder() { return {mode: MemoryFS.FOLDER, entries: new Map(), ino: this.inode++, time: Date.now()}; }
  file() { return {mode: MemoryFS.FILE, data: new Uint8Array(0), size: 0, ino: this.inode++, time: Date.now()}; }

  parts(path) {
    const parts = [];
    for (const part of (path.startsWith('/') ? path : this.cwd + '/' + path).split('/')) {
      if (part === '..') parts.pop();
      else if (part !== '' && part !== '.') parts.push(part);
    }
    return parts;
  }

  find(path) {
    let node = this.root;
    for (const part of this.parts(path)) {
      if (!node.entries) throw fsError('ENOTDIR');
      node = node.entries.get(part);
      if (!node) throw fsError('ENOENT');
    }
    return node;
  }

  parent(path) {
    const parts = this.parts(path);
    const name = parts.pop();
    if (name === undefined) throw fsError('EEXIST');
    const folder = this.find('/' + parts.join('/'));
    if (!folder.entries) throw fsError('ENOTDIR');
    return [folder, name];
  }

  // What the worker itself does with files.
  makeAll(path) {
    let node = this.root;
    for (const part of this.parts(path)) {
      if (!node.entries.has(part)) node.entries.set(part, this.folder());
      node = node.entries.get(part);
    }
    return node;
  }

  put(path, data) {
    const parts = this.parts(path);
    const name = parts.pop();
    const file = this.file();
    file.data = data;
    file.size = data.length;
    this.makeAll('/' + parts.join('/')).entries.set(name, file);
  }

  get(path) {
    const file = this.find(path);
    return file.data.subarray(0, file.size);
  }

  remove(path) {
    try {
      const [folder, name] = this.parent(path);
      folder.entries.delete(name);
    } catch { /* it is not there */ }
  }

  // The files below a folder, by their paths.
  *below(path, node = this.find(path)) {
    for (const [name, entry] of node.entries) {
      if (entry.entries) yield* this.below(path + '/' + name, entry);
      else yield [path + '/' + name, entry];
    }
  }

  descriptor(open) {
    const fd = this.next++;
    this.open_.set(fd, open);
    return fd;
  }

  pipe() {
    const pipe = new Pipe();
    return [this.descriptor({pipe, end: 'read'}), this.descriptor({pipe, end: 'write'})];
  }

  at(fd) {
    const open = this.open_.get(fd);
    if (!open) throw fsError('EBADF');
    return open;
  }

  stats(node) {
    const size = node.size ?? 0;
    return {dev: 1, ino: node.ino ?? 0, mode: node.mode, nlink: 1, uid: 0, gid: 0, rdev: 0, size, blksize: 4096,
      blocks: Math.ceil(size / 512), atimeMs: node.time ?? 0, mtimeMs: node.time ?? 0, ctimeMs: node.time ?? 0,
      isDirectory: () => !!node.entries};
  }

  // Reads of a pipe may wait; all else answers at once.
  read(fd, buffer, offset, length, position, done) {
    const into = buffer.subarray(offset, offset + length);
    const open = this.open_.get(fd);
    if (fd === 0) return done(null, 0);
    if (!open) return done(fsError('EBADF'));
    if (open.pipe) return open.pipe.read(into, n => done(null, n));
    if (open.node.entries) return done(fsError('EISDIR'));
    const at = position ?? open.position;
    const n = Math.max(0, Math.min(length, open.node.size - at));
    into.set(open.node.data.subarray(at, at + n));
    if (position === null || position === undefined) open.position += n;
    done(null, n);
  }

  writeSync(fd, bytes, position) {
    if (fd === 1 || fd === 2) {
      this.outputs(fd, bytes.slice());
      return bytes.length;
    }
    const open = this.at(fd);
    if (open.pipe) {
      open.pipe.write(bytes.slice());
      return bytes.length;
    }
    const node = open.node;
    const at = position ?? (open.append ? node.size : open.position);
    const end = at + bytes.length;
    if (end > node.data.length) {
      const larger = new Uint8Array(Math.max(end, Math.min(2 * node.data.length, node.data.length + (64 << 20))));
      larger.set(node.data.subarray(0, node.size));
      node.data = larger;
    }
    node.data.set(bytes, at);
    node.size = Math.max(node.size, end);
    node.time = Date.now();
    if (position === null || position === undefined) open.position = end;
    return bytes.length;
  }

  resize(node, size) {
    if (node.entries) throw fsError('EISDIR');
    const data = new Uint8Array(size);
    data.set(node.data.subarray(0, Math.min(size, node.size)));
    [node.data, node.size, node.time] = [data, size, Date.now()];
  }

  openPath(path, flags) {
    const own = /^\/dev\/fd\/(\d+)$/.exec(path);
    if (own) {
      this.at(+own[1]);
      return +own[1];
    }
    if (path === '/dev/null') return this.descriptor({node: this.file(), position: 0});
    const c = this.constants;
    let node;
    try {
      node = this.find(path);
    } catch (e) {
      if (e.code !== 'ENOENT' || !(flags & c.O_CREAT)) throw e;
      const [folder, name] = this.parent(path);
      node = this.file();
      folder.entries.set(name, node);
      return this.descriptor({node, position: 0, append: !!(flags & c.O_APPEND)});
    }
    if (flags & c.O_CREAT && flags & c.O_EXCL) throw fsError('EEXIST');
    if (node.entries && flags & (c.O_WRONLY | c.O_RDWR)) throw fsError('EISDIR');
    if (!node.entries && flags & c.O_DIRECTORY) throw fsError('ENOTDIR');
    if (flags & c.O_TRUNC && !node.entries) [node.data, node.size] = [new Uint8Array(0), 0];
    return this.descriptor({node, position: 0, append: !!(flags & c.O_APPEND)});
  }

  calls() {
    const none = () => { throw fsError('ENOSYS'); };
    return {
      write: (fd, buffer, offset, length, position) => this.writeSync(fd, buffer.subarray(offset, offset + length), position),
      open: (path, flags) => this.openPath(path, flags),
      close: fd => {
        const open = this.at(fd);
        this.open_.delete(fd);
        if (open.end === 'read') open.pipe.closeReader();
        if (open.end === 'write') open.pipe.closeWriter();
      },
      fstat: fd => this.stats(fd < 3 ? {mode: 0o020666} : this.at(fd).node ?? {mode: 0o010600}),
      stat: path => this.stats(this.find(path)),
      lstat: path => this.stats(this.find(path)),
      readdir: path => {
        const node = this.find(path);
        if (!node.entries) throw fsError('ENOTDIR');
        return [...node.entries.keys()].sort();
      },
      mkdir: path => {
        const [folder, name] = this.parent(path);
        if (folder.entries.has(name)) throw fsError('EEXIST');
        folder.entries.set(name, this.folder());
      },
      rename: (from, to) => {
        const [a, name] = this.parent(from);
        const node = a.entries.get(name);
        if (!node) throw fsError('ENOENT');
        const [b, other] = this.parent(to);
        a.entries.delete(name);
        b.entries.set(other, node);
      },
      unlink: path => {
        const [folder, name] = this.parent(path);
        const node = folder.entries.get(name);
        if (!node) throw fsError('ENOENT');
        if (node.entries) throw fsError('EISDIR');
        folder.entries.delete(name);
      },
      rmdir: path => {
        const [folder, name] = this.parent(path);
        const node = folder.entries.get(name);
        if (!node) throw fsError('ENOENT');
        if (!node.entries) throw fsError('ENOTDIR');
        if (node.entries.size) throw fsError('ENOTEMPTY');
        folder.entries.delete(name);
      },
      truncate: (path, size) => this.resize(this.find(path), size),
      ftruncate: (fd, size) => this.resize(this.at(fd).node, size),
      chmod: path => { this.find(path); },
      fchmod: fd => { this.at(fd); },
      utimes: path => { this.find(path); },
      fsync: () => {},
      readlink: path => { this.find(path); throw fsError('EINVAL'); },
      chown: none, fchown: none, lchown: none, link: none, symlink: none,
    };
  }
}

// install gives Go's programs in this worker a file system.
function install(fs) {
  globalThis.fs = fs;
  globalThis.path = {resolve: (...parts) => '/' + fs.parts(parts.join('/')).join('/')};
  globalThis.process = {
    getuid: () => 1000, getgid: () => 1000, geteuid: () => 1000, getegid: () => 1000, getgroups: () => [],
    pid: 1, ppid: 0, umask: () => 0, cwd: () => fs.cwd,
    chdir: path => { if (!fs.find(path).entries) throw fsError('ENOTDIR'); fs.cwd = '/' + fs.parts(path).join('/'); },
  };
}
