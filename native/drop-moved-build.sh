#!/usr/bin/env bash
# Empties a build folder that CMake configured at another path. CMake writes absolute paths into its build files: in a
# copied or moved checkout they would compile the sources of the old place, or fail.
#
#   native/drop-moved-build.sh native/build
set -euo pipefail
folder=$1
cache="$folder/CMakeCache.txt"
[ -f "$cache" ] || exit 0

# cached NAME: a value of the cache, which has lines such as CMAKE_HOME_DIRECTORY:INTERNAL=/home/anna/parley/native.
cached() {
  sed -n "s/^$1:[A-Z]*=//p" "$cache"
}
# -ef compares the folders themselves, so that another name of the same folder (a symbolic link) keeps the build.
sources=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
[ "$(cached CMAKE_CACHEFILE_DIR)" -ef "$folder" ] && [ "$(cached CMAKE_HOME_DIRECTORY)" -ef "$sources" ] && exit 0
echo "parley: $folder was configured at another path ($(cached CMAKE_HOME_DIRECTORY)); building it again" >&2
# Release stays: it may hold parley_cuda.so, which another command builds.
find "$folder" -mindepth 1 -maxdepth 1 ! -name Release -exec rm -rf {} +
