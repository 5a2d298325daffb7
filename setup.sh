#!/usr/bin/env bash
# Makes sure that the Debian packages are there which building or testing needs.
#
#   ./setup.sh build    what `npm ci` and `npm start` need
#   ./setup.sh test     that, and what `npm test` needs
#   ./setup.sh full     that, and what `npm run test:full` needs
#
# With everything in place it ends at once and touches nothing. Otherwise it
# installs what is missing as root or through sudo without a password; where it
# may do neither it stops at once with one line that says what is missing.
set -euo pipefail

readonly LOCK_WAIT_S=120 # for another package manager to finish
readonly APT_LIMIT_S=900 # for one apt-get command, downloads included

missing=()

# need PACKAGE CHECK...: notes the package unless one of the checks succeeds.
need() {
  local package=$1
  shift
  local check
  for check in "$@"; do
    if eval "$check" >/dev/null 2>&1; then return; fi
  done
  missing+=("$package")
}

# Node's own headers, OpenSSL's and libuv's among them, lie beside it in the official archives and images.
node_headers() {
  local node=${npm_node_execpath:-$(command -v node || true)}
  node=$(readlink -f "${node:-/usr/bin/node}")
  printf '%s\n' "${node%/bin/*}/include/node"
}

need_for_build() {
  need g++ 'command -v "${CXX:-c++}"' 'command -v g++' 'command -v clang++'
  need make 'command -v make'
  need cmake 'command -v cmake'
  need python3 'command -v python3'
  need libssl-dev "[ -e '$(node_headers)/openssl/evp.h' ]" '[ -e /usr/include/openssl/evp.h ]'
  need libuv1-dev "[ -e '$(node_headers)/uv.h' ]" '[ -e /usr/include/uv.h ]'
}

need_for_test() {
  need openssl 'command -v openssl'
  # The native tests run without Node and bring their own OpenSSL.
  case " ${missing[*]-} " in
    *' libssl-dev '*) ;;
    *) need libssl-dev '[ -e /usr/include/openssl/evp.h ]' ;;
  esac
}

# A check that Debian's GStreamer has a plugin.
gst_has() {
  printf 'compgen -G "${GST_PATH:-/usr/lib/*/gstreamer-1.0}/libgst%s.so"' "$1"
}

need_for_full() {
  need chromium '[ -x "${CHROMIUM_PATH:-}" ]' 'command -v chromium'
  need ffmpeg 'command -v ffmpeg && command -v ffprobe'
  need curl 'command -v curl'
  # Its redis-check-rdb is redis-server by another name; the package of that name would start a service.
  need redis-tools 'command -v redis-cli && { command -v redis-server || command -v redis-check-rdb; }'
  # Telephones and what stands between them. Debian keeps kamailio where only root looks for programs.
  need sip-tester 'command -v sipp'
  need baresip-core 'command -v baresip'
  need linphone-cli 'command -v linphonec'
  need kamailio '[ -x "${KAMAILIO_PATH:-/usr/sbin/kamailio}" ]'
  need rtpengine-daemon 'command -v rtpengine'
  # Debian's Python modules belong to Debian's own interpreter.
  need python3-aiortc '"${PYTHON_PATH:-/usr/bin/python3}" -c "import aiortc"'
  need python3-websockets '"${PYTHON_PATH:-/usr/bin/python3}" -c "import websockets"'
  need python3-onnx '"${PYTHON_PATH:-/usr/bin/python3}" -c "import onnx"'
  # Other peers of browser calls.
  need firefox-esr '[ -x "${FIREFOX_PATH:-}" ]' 'command -v firefox-esr'
  need coturn 'command -v turnserver'
  # Reverse proxies. Debian keeps nginx where only root looks for programs.
  need nginx '[ -x "${NGINX_PATH:-/usr/sbin/nginx}" ]'
  need caddy 'command -v caddy'
  need python3-gst-1.0 '"${PYTHON_PATH:-/usr/bin/python3}" -c "import gi; gi.require_version(\"Gst\", \"1.0\")"'
  need gir1.2-gst-plugins-bad-1.0 \
    '"${PYTHON_PATH:-/usr/bin/python3}" -c "import gi; gi.require_version(\"GstWebRTC\", \"1.0\")"'
  local element
  for element in 'good rtp' 'bad webrtc' 'base opus'; do
    need "gstreamer1.0-plugins-${element% *}" "$(gst_has "${element#* }")"
  done
  need gstreamer1.0-nice "$(gst_has nice)"
  # Recordings of people, for the bench of conversations.
  need pocketsphinx-testdata '[ -e "${POCKETSPHINX_DATA:-/usr/share/pocketsphinx/test/data}/goforward.raw" ]'
}

case "${1:-}" in
  build) need_for_build ;;
  test) need_for_build && need_for_test ;;
  full) need_for_build && need_for_test && need_for_full ;;
  *)
    echo 'usage: ./setup.sh build|test|full' >&2
    exit 2
    ;;
esac

[ ${#missing[@]} -eq 0 ] && exit 0

as_root=()
refuse() {
  echo "parley: missing ${missing[*]}$1; install with: sudo apt-get install -y ${missing[*]}" >&2
  exit 1
}
command -v apt-get >/dev/null || refuse ' (and this is not a Debian system)'
if [ "$(id -u)" -ne 0 ]; then
  command -v sudo >/dev/null && timeout 1 sudo -n true 2>/dev/null || refuse ''
  as_root=(sudo -n)
fi

apt() {
  timeout "$APT_LIMIT_S" "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o "DPkg::Lock::Timeout=$LOCK_WAIT_S" "$@" </dev/null >&2
}
# apt-get waits for the lock of dpkg, but not for that of the package lists.
update() {
  local try
  for try in 1 2 3 4; do
    if apt update; then return; fi
    sleep $((LOCK_WAIT_S / 12 * (try < 4)))
  done
  return 1
}
# Where an init system runs, these packages would start a service each, now and at every boot. The tests start the
# programs themselves: the services are masked until the packages are there, and stay disabled.
services=()
for package in "${missing[@]}"; do
  case "$package" in
    kamailio | rtpengine-daemon | coturn | nginx | caddy) services+=("$package.service") ;;
  esac
done
services() {
  [ ${#services[@]} -eq 0 ] || ! command -v systemctl >/dev/null && return
  "${as_root[@]}" systemctl --quiet "$@" "${services[@]}" >/dev/null 2>&1 || true
}
trap 'services unmask; services disable' EXIT
services mask

echo "parley: installing ${missing[*]}" >&2
# The package lists of a fresh image are empty or old: bring them up to date only when the first try fails.
apt install -y --no-install-recommends "${missing[@]}" ||
  { update && apt install -y --no-install-recommends "${missing[@]}"; } ||
  refuse ' (apt-get failed, see above)'
