#!/bin/sh
# Turns a copy that backup.sh made into the data of a Redis. Redis must be stopped: this script starts one of its own on
# the folder, without a port. Runs in the image of Redis, as its user, with the data volume mounted.
#
#   sh restore.sh <copy.rdb> <data folder>
#
#   REDIS_DB   the logical database of REDIS_URL (0)
#
# Redis with `appendonly yes` ignores an RDB file. So the file is loaded without the append-only file, which is then
# turned on and written. Data that is already in the folder is renamed, never deleted.
set -eu
umask 077
copy=${1:?usage: restore.sh <copy.rdb> <data folder>}
data=${2:?usage: restore.sh <copy.rdb> <data folder>}

fail() {
  echo "restore failed: $*" >&2
  exit 1
}

[ -s "$copy" ] || fail "$copy is missing or empty"
[ -d "$data" ] || fail "$data is not a folder"
redis-check-rdb "$copy" >&2 || fail "$copy is damaged"

before=$data/before-restore-$(date -u +%Y%m%dT%H%M%SZ)
for name in appendonlydir dump.rdb; do
  [ ! -e "$data/$name" ] || { mkdir -p "$before" && mv "$data/$name" "$before/$name"; }
done
cp "$copy" "$data/dump.rdb"

sockets=$(mktemp -d)
socket=$sockets/redis.sock
redis() { redis-cli -s "$socket" "$@"; }
server=
clean() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$sockets"
}
trap clean EXIT
redis-server --port 0 --unixsocket "$socket" --unixsocketperm 700 --dir "$data" --dbfilename dump.rdb \
  --appendonly no --appendfsync always --save '' >&2 &
server=$!

until [ "$(redis ping 2>/dev/null)" = PONG ]; do
  kill -0 "$server" 2>/dev/null || fail 'Redis could not load the copy; its output is above'
  sleep 0.2
done
installation=$(redis -n "${REDIS_DB:-0}" hget sh:installation own)
[ -n "$installation" ] || fail 'the copy holds no installation: it is not a backup of Switchhook'
[ "$(redis config set appendonly yes)" = OK ] || fail 'Redis refused to write an append-only file'
persistence() { redis info persistence | tr -d '\r' | grep -q "^$1\$"; }
until persistence aof_rewrite_in_progress:0 && persistence aof_rewrite_scheduled:0; do sleep 0.2; done
persistence aof_last_bgrewrite_status:ok || fail 'the append-only file could not be written; is the disk full?'
keys=$(redis -n "${REDIS_DB:-0}" dbsize)
redis shutdown >&2 || true
wait "$server" || fail 'Redis did not stop in order'
server=
rm "$data/dump.rdb"
echo "restored installation ${installation%% *} with $keys keys"
[ ! -e "$before" ] || echo "the previous data is in $before: delete it when the restore has proved itself"
