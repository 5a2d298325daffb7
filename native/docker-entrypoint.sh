#!/usr/bin/env bash
# Starts the server in a container, after what the GPU was asked to be set to. All of it is off by default:
#
#   GPU_PERSISTENCE=1      the driver stays loaded between processes (nvidia-smi -pm 1): the next start is some seconds faster
#   GPU_CLOCK=1500,1980    MHz between which the GPU's clock stays (-lgc), or one number: steps that all take the same time
#   GPU_MEMORY_CLOCK=2619  the same of its memory (-lmc)
#   GPU_ID=0               for these alone, by number or UUID, with commas (-i); else for all that the container sees
#
# These are settings of the GPU, not of the container: they need root and the capability SYS_ADMIN (docker run --cap-add
# SYS_ADMIN) and stay when it ends (nvidia-smi -pm 0, -rgc, -rmc take them back). Where they are not allowed, or there is no nvidia-smi,
# the server starts all the same, and one line says what was not set.
#
#   native/docker-entrypoint.sh [command ..]    by default the server: node dist/src/main.js
set -euo pipefail

readonly LIMIT_S=20 # a GPU that is lost may answer never
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

refuse() {
  echo "parley: $1" >&2
  exit 2
}

case "${GPU_PERSISTENCE:-0}" in
  0 | 1) ;;
  *) refuse "GPU_PERSISTENCE must be 0 or 1, not \"$GPU_PERSISTENCE\"" ;;
esac
for name in GPU_CLOCK GPU_MEMORY_CLOCK; do
  value=${!name:-}
  [ -z "$value" ] || [[ $value =~ ^[1-9][0-9]{1,4}(,[1-9][0-9]{1,4})?$ ]] ||
    refuse "$name must be MHz such as 1980, or two such as 1500,1980, not \"$value\""
done
[[ ${GPU_ID:-0} =~ ^[A-Za-z0-9][A-Za-z0-9-]*(,[A-Za-z0-9][A-Za-z0-9-]*)*$ ]] ||
  refuse "GPU_ID must be numbers or UUIDs of GPUs with commas between, not \"$GPU_ID\""

# set_gpu WHAT OPTION...: says what could not be set, and goes on.
set_gpu() {
  local what=$1 said
  shift
  if ! command -v nvidia-smi >/dev/null; then
    said='there is no nvidia-smi here'
  elif said=$(timeout "$LIMIT_S" nvidia-smi ${GPU_ID:+-i "$GPU_ID"} "$@" 2>&1 </dev/null); then
    return
  fi
  echo "parley: $what: not set (${said//$'\n'/; }). It needs root and the capability SYS_ADMIN; the server starts without" >&2
}

[ "${GPU_PERSISTENCE:-0}" = 0 ] || set_gpu GPU_PERSISTENCE -pm 1
[ -z "${GPU_CLOCK:-}" ] || set_gpu GPU_CLOCK -lgc "$GPU_CLOCK"
[ -z "${GPU_MEMORY_CLOCK:-}" ] || set_gpu GPU_MEMORY_CLOCK -lmc "$GPU_MEMORY_CLOCK"

# In the place of this shell: signals reach the server itself.
[ $# -gt 0 ] || set -- node "$root/dist/src/main.js"
exec "$@"
