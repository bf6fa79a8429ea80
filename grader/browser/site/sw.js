// Keeps the site for visits without a network. The list of its files is put in when the site is built, so a new build is a new
// worker.
"use strict";
const files = FILES; // path: hash of its content
const scope = new URL("./", self.location).href;
const cacheName = "cudalab " + scope; // sites under other paths of this host have caches of their own
const plain = path => path.replace(/\.(br|gz)$/, ""); // of a compressed copy, which the engine takes where the host does not compress
const keyOf = path => `${scope}${path}?${files[plain(path)]}`;

self.addEventListener("install", event => event.waitUntil(install()));
self.addEventListener("activate", event => event.waitUntil(activate()));
self.addEventListener("message", event => {
  if (event.data === "complete") event.waitUntil(complete().then(missing => event.ports[0].postMessage({ missing })));
});
self.addEventListener("fetch", event => {
  const url = new URL(event.request.url);
  if (event.request.method !== "GET" || !url.href.startsWith(scope)) return;
  const path = decodeURIComponent(url.href.slice(scope.length).replace(/[?#].*/, "")) || "index.html";
  if (Object.hasOwn(files, plain(path))) event.respondWith(answer(event, path));
});

// The first time, the page's own loading fills the cache. An update takes over when it has everything, so that no visit
// without a network finds half of it.
async function install() {
  if (self.registration.active && await complete() > 0) throw new Error("the update could not be fetched as a whole");
  await self.skipWaiting();
}

async function activate() {
  await self.clients.claim();
  const cache = await caches.open(cacheName);
  const current = new Set(Object.keys(files).flatMap(path => [path, path + ".br", path + ".gz"]).map(keyOf));
  for (const request of await cache.keys()) {
    if (!current.has(request.url)) await cache.delete(request);
  }
}

async function answer(event, path) {
  const cache = await caches.open(cacheName);
  const kept = await cache.match(keyOf(path));
  if (kept) return kept;
  const response = await fetch(event.request);
  if (response.status === 200) event.waitUntil(cache.put(keyOf(path), response.clone()).catch(() => {})); // no room: it works without
  return response;
}

// complete fetches what is not kept yet, and is how many files could not be had.
async function complete() {
  const cache = await caches.open(cacheName);
  const ending = await copies(cache);
  let missing = 0;
  for (let path of Object.keys(files)) {
    if (/\.(wasm|bin)$/.test(path)) path += ending;
    if (await cache.match(keyOf(path))) continue;
    try {
      const response = await fetch(scope + path, { cache: "no-cache" });
      if (response.status !== 200) throw new Error(response.statusText);
      await cache.put(keyOf(path), response);
    } catch {
      missing++;
    }
  }
  return missing;
}

// copies is the ending of the copies that the engine takes, as it chooses them: none where the host compresses what it serves.
async function copies(cache) {
  const manifest = await cache.match(keyOf("manifest.json"));
  if (!manifest || manifest.headers.has("Content-Encoding")) return "";
  try {
    new DecompressionStream("brotli");
    return ".br";
  } catch {
    return ".gz";
  }
}
