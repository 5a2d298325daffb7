#!/usr/bin/env bash
# Removes compiled files whose sources were moved or deleted. The compiler leaves them in `dist`: `node --test` would run
# the tests among them, and a module that no longer exists could still be imported.
#
#   ./drop-stale-build.sh
#
# It removes only files that end in .js or .js.map, and folders that are empty then. Without `dist` it does nothing.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
[ -d dist ] || exit 0
find dist -type f \( -name '*.js' -o -name '*.js.map' \) -print0 |
  while IFS= read -r -d '' output; do
    module=${output#dist/}
    module=${module%.map}
    [ -e "${module%.js}.ts" ] || rm -f -- "$output"
  done
find dist -mindepth 1 -type d -empty -delete
