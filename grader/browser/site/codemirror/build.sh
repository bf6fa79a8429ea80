#!/bin/sh
# Bundles the editor that the page has, CodeMirror and its Go grammar, into codemirror.js, with the licences of all that is in
# it, into this folder or the one given. Versions are pinned in package.json and package-lock.json, so that the same bytes come
# out. Status 3: npm is missing, or the packages cannot be had.
set -eu
cd "$(dirname "$0")"
out=$(cd "${1:-.}" && pwd)

if ! command -v npm >/dev/null; then
    echo "the editor is bundled from npm's packages, and npm is not installed: apt-get install npm" >&2
    exit 3
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp package.json package-lock.json entry.js "$work"
cd "$work"
if ! npm ci --ignore-scripts --no-audit --no-fund >npm.log 2>&1; then
    cat npm.log >&2
    echo "npm could not fetch the packages that package-lock.json names" >&2
    exit 3
fi
node_modules/.bin/esbuild entry.js --bundle --format=esm --minify --target=es2022 --charset=utf8 --legal-comments=none \
    --metafile=meta.json --log-level=error --outfile="$out/codemirror.js"

# Of each package that is in the bundle: its name, version and licence.
node --input-type=module - "$out/LICENSES.txt" <<'END'
import {readFileSync, readdirSync, writeFileSync} from "node:fs";
const inputs = Object.keys(JSON.parse(readFileSync("meta.json")).inputs);
const packages = new Set(inputs.map(f => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(f)?.[1]).filter(Boolean));
const texts = [...packages].sort().map(name => {
  const dir = `node_modules/${name}/`;
  const {version, license} = JSON.parse(readFileSync(dir + "package.json"));
  const file = readdirSync(dir).find(f => /^licen[cs]e/i.test(f));
  if (!file) throw new Error(`${name} comes without its licence`);
  return `${name} ${version} (${license})\n\n${readFileSync(dir + file, "utf8").trim()}\n`;
});
writeFileSync(process.argv[2], texts.join("\n" + "-".repeat(80) + "\n\n"));
END
