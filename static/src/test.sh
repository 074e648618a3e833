#!/bin/sh
# Bundles every *.test.ts for Node and runs them. Arguments narrow the files:
# ./test.sh graph/history.test.ts
set -eu
cd "$(dirname "$0")"
out=node_modules/.cache/tests
rm -rf "$out"
if [ $# -eq 0 ]; then
  set -- $(find app builder graph inspector live -name '*.test.ts' 2>/dev/null | sort)
fi
files=
for f in "$@"; do files="$files static/src/$f"; done
(cd ../.. && go tool esbuild $files --bundle --platform=node --format=esm --target=node20 \
  --jsx=automatic --sourcemap=inline --outbase=static/src --outdir="static/src/$out" \
  --out-extension:.js=.mjs --log-level=warning)
node --enable-source-maps --test $(find "$out" -name '*.test.mjs' | sort)
