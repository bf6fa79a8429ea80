'use strict';
// What each worker needs to run a program of Go's.

// The workers are of strangers' code or work for it: none of them reaches anything but the page that started it.
function closeDoors() {
  for (const door of ['fetch', 'XMLHttpRequest', 'WebSocket', 'WebSocketStream', 'WebTransport', 'EventSource', 'RTCPeerConnection',
    'BroadcastChannel', 'indexedDB', 'caches', 'importScripts', 'Worker', 'SharedWorker', 'navigator', 'Notification']) {
    try {
      Object.defineProperty(globalThis, door, {value: undefined, configurable: false, writable: false});
    } catch { /* the policy of the page is the wall; this is the fence before it */ }
  }
}

// runProgram makes an instance of a program; ended tells its exit status, and the most memory that it had.
async function runProgram(module, {path, args, env}) {
  const go = new Go();
  go.argv = [path, ...args];
  go.env = Object.fromEntries(env.map(v => [v.slice(0, v.indexOf('=')), v.slice(v.indexOf('=') + 1)]));
  let code = 2;
  let peak = 0;
  go.exit = c => { code = c; };
  const grown = go.importObject.gojs['runtime.resetMemoryDataView'];
  go.importObject.gojs['runtime.resetMemoryDataView'] = sp => {
    grown(sp);
    peak = go.mem.byteLength;
  };
  const instance = await WebAssembly.instantiate(module, go.importObject);
  peak = instance.exports.mem.buffer.byteLength;
  return {go, instance, ended: () => ({code, peak})};
}
