'use strict';
// The worker of Go's compiler and linker. Their packages lie in its memory, and each run gets a fresh instance of a module
// that was compiled once.

const modules = {};
const fs = new MemoryFS((fd, bytes) => postMessage({type: 'output', fd, bytes}));
install(fs);

async function run({tool, args, env, dir, files}) {
  fs.makeAll(dir);
  for (const [path, data] of files) fs.put(path, data);
  fs.cwd = dir;
  const before = new Map([...fs.below(dir)].map(([path, node]) => [path, node.time + ':' + node.ino + ':' + node.size]));
  let end;
  try {
    const {go, instance, ended} = await runProgram(modules[tool], {path: '/go/' + tool, args, env});
    await go.run(instance);
    end = ended();
  } catch (e) {
    postMessage({type: 'output', fd: 2, bytes: new TextEncoder().encode('fatal error: ' + e + '\n')});
    end = {code: 2, peak: 0, refused: false};
  }
  const made = [];
  for (const [path, node] of fs.below(dir)) {
    if (before.get(path) === node.time + ':' + node.ino + ':' + node.size) continue;
    // The program itself goes on to its worker; what is only compiled stays here, for the linker.
    const program = tool === 'link';
    made.push([path, program ? node.data.slice(0, node.size) : null]);
    if (program) fs.remove(path);
  }
  postMessage({type: 'end', end, made}, made.filter(([, data]) => data).map(([, data]) => data.buffer));
}

// unpack puts the packages of a bundle into their folder.
function unpack({folder, packages: {list, data}}) {
  let at = 0;
  for (const {name, size} of list) {
    fs.put(folder + '/' + name + '.a', data.subarray(at, at + size));
    at += size;
  }
}

onmessage = ({data: m}) => {
  if (m.type === 'modules') {
    closeDoors();
    Object.assign(modules, m.modules);
    unpack(m);
    postMessage({type: 'loaded'});
  } else if (m.type === 'packages') {
    unpack(m);
  } else {
    run(m);
  }
};
