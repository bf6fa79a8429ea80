// Zip archives, as far as a student's work needs them: text files, stored or deflated.

const text = new TextEncoder();
const table = Uint32Array.from({length: 256}, (_, n) => {
  for (let k = 0; k < 8; k++) n = n & 1 ? 0xedb88320 ^ n >>> 1 : n >>> 1;
  return n;
});
const crc32 = bytes => ~bytes.reduce((c, b) => table[(c ^ b) & 255] ^ c >>> 8, ~0) >>> 0;

// record is a record of a zip: a signature and fields, each [bytes, value].
function record(signature, ...fields) {
  const view = new DataView(new ArrayBuffer(4 + fields.reduce((n, [bytes]) => n + bytes, 0)));
  view.setUint32(0, signature, true);
  let at = 4;
  for (const [bytes, value] of fields) {
    if (bytes === 2) view.setUint16(at, value, true);
    else view.setUint32(at, value, true);
    at += bytes;
  }
  return new Uint8Array(view.buffer);
}

// pack makes an archive of {path: text}.
export function pack(files, now = new Date()) {
  const time = now.getHours() << 11 | now.getMinutes() << 5 | now.getSeconds() >> 1;
  const date = now.getFullYear() - 1980 << 9 | now.getMonth() + 1 << 5 | now.getDate();
  const parts = [], directory = [];
  let at = 0, listed = 0;
  for (const [path, content] of Object.entries(files)) {
    const name = text.encode(path), data = text.encode(content);
    const utf8 = 1 << 11, version = 20, stored = 0;
    const common = [[2, version], [2, utf8], [2, stored], [2, time], [2, date], [4, crc32(data)], [4, data.length], [4, data.length], [2, name.length], [2, 0]];
    const unix = 3 << 8, file = 0o100644 * 0x10000;
    const entry = record(0x02014b50, [2, unix | version], ...common, [2, 0], [2, 0], [2, 0], [4, file], [4, at]);
    const header = record(0x04034b50, ...common);
    parts.push(header, name, data);
    directory.push(entry, name);
    at += header.length + name.length + data.length;
    listed += entry.length + name.length;
  }
  const count = Object.keys(files).length;
  return new Blob([...parts, ...directory, record(0x06054b50, [2, 0], [2, 0], [2, count], [2, count], [4, listed], [4, at], [2, 0])], {type: 'application/zip'});
}

const most = 4 << 20; // bytes that a file may unpack to: no exercise comes near it

// unpack calls wanted with each path of an archive, and is {path: text} of those for which it answers true. It throws an Error
// in words for people where the file is no zip.
export async function unpack(buffer, wanted) {
  const damaged = () => new Error('This is no zip archive, or a damaged one.');
  const view = new DataView(buffer), bytes = new Uint8Array(buffer);
  let end = buffer.byteLength - 22;
  while (end >= 0 && view.getUint32(end, true) !== 0x06054b50) end--;
  if (end < 0) throw damaged();
  const files = {};
  try {
    let at = view.getUint32(end + 16, true);
    for (let n = view.getUint16(end + 10, true); n > 0; n--) {
      if (view.getUint32(at, true) !== 0x02014b50) throw damaged();
      const method = view.getUint16(at + 10, true), size = view.getUint32(at + 20, true), local = view.getUint32(at + 42, true);
      const path = new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + view.getUint16(at + 28, true)));
      at += 46 + view.getUint16(at + 28, true) + view.getUint16(at + 30, true) + view.getUint16(at + 32, true);
      if (path.endsWith('/') || !wanted(path)) continue;
      const from = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
      files[path] = await unpacked(bytes.subarray(from, from + size), method, path);
    }
  } catch (error) {
    throw error instanceof RangeError ? damaged() : error;
  }
  return files;
}

async function unpacked(data, method, path) {
  if (method !== 0 && method !== 8) throw new Error(`${path} is packed by a method that is not read here: pack it with the usual one, Deflate.`);
  let stream = new Blob([data]).stream();
  if (method === 8) stream = stream.pipeThrough(new DecompressionStream('deflate-raw'));
  const chunks = [];
  let size = 0;
  const reader = stream.getReader();
  for (;;) {
    let read;
    try {
      read = await reader.read();
    } catch {
      throw new Error(`${path} is damaged in this archive.`);
    }
    if (read.done) break;
    if ((size += read.value.length) > most) throw new Error(`${path} is too large for a file of an exercise.`);
    chunks.push(read.value);
  }
  return new Blob(chunks).text();
}
