'use strict';
// The worker of one run of Go's compiler or linker.

closeDoors();
const fs = new MemoryFS((fd, bytes) => postMessage({type: 'output', fd, bytes}));
install(fs);

onmessage = async ({data: {module, tool, args, env, dir, files, folder, packages}}) => {
  fs.makeAll(dir);
  for (const b of packages) unpack(b, folder);
  for (const [path, data] of files) fs.put(path, data);
  fs.cwd = dir;
  const version = node => node.time + ':' + node.ino + ':' + node.size;
  const before = new Map([...fs.below(dir)].map(([path, node]) => [path, version(node)]));
  let end;
  try {
    const {go, instance, ended} = await runProgram(module, {path: '/go/' + tool, args, env});
    await go.run(instance);
    end = ended();
  } catch (e) {
    postMessage({type: 'output', fd: 2, bytes: new TextEncoder().encode('fatal error: ' + e + '\n')});
    end = {code: 2, peak: 0, refused: false};
  }
  const made = [];
  for (const [path, node] of fs.below(dir)) {
    if (before.get(path) !== version(node)) made.push([path, node.data.slice(0, node.size)]);
  }
  postMessage({type: 'end', end, made, packages}, [...made.map(([, data]) => data.buffer), ...packages.map(b => b.data.buffer)]);
};

// unpack puts the packages of a bundle into their folder.
function unpack({list, data}, folder) {
  let at = 0;
  for (const {name, size} of list) {
    fs.put(folder + '/' + name + '.a', data.subarray(at, at + size));
    at += size;
  }
}
