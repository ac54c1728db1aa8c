#!/bin/sh
# Copies a running Redis into a folder, over the network: redis-<installation id>-<UTC time>.rdb. Redis keeps serving.
# Runs in the image of Redis (sh, redis-cli, redis-check-rdb). docs/backup.md explains the schedule and the restore.
#
#   BACKUP_DIR      the folder for the copies; required
#   BACKUP_KEEP     the number of copies of this installation to keep (48)
#   REDIS_HOST      127.0.0.1
#   REDIS_PORT      6379
#   REDIS_DB        the logical database of REDIS_URL (0); the copy holds all of them
#   REDIS_CA_FILE   connects with TLS and trusts this certificate authority
#   REDISCLI_AUTH   the password; redis-cli reads it from the environment, so that it is in no argument
#
# The copy is an RDB file, sent as to a new replica: Redis forks, and the file holds every write that was answered before
# the fork. It does not depend on `appendfsync`, on the append-only file, or on a rewrite of it.
set -eu
umask 077
: "${BACKUP_DIR:?is not set: the folder for the copies}"

redis() {
  redis-cli -h "${REDIS_HOST:-127.0.0.1}" -p "${REDIS_PORT:-6379}" -n "${REDIS_DB:-0}" ${REDIS_CA_FILE:+--tls --cacert "$REDIS_CA_FILE"} "$@"
}

fail() {
  echo "backup failed: $*" >&2
  exit 1
}

# An emptied Redis has no id, or another one. Its copies must not push out those of the lost data.
# The field holds the id and its time of creation.
# A network plug-in may refuse the connections of a pod in its first seconds, so this waits for a minute.
tries=30
until installation=$(redis hget sh:installation own); do
  tries=$((tries - 1))
  [ "$tries" -gt 0 ] || fail "Redis does not answer at ${REDIS_HOST:-127.0.0.1}:${REDIS_PORT:-6379}"
  sleep 2
done
installation=${installation%% *}
case $installation in
'' | *[!0-9a-f-]*) fail "no installation id in this Redis, but '$installation': it is empty, not Switchhook's, or refuses the password" ;;
esac

# The names sort by time. A copy that cannot be removed fails the backup, because the folder would fill up. One that
# another backup has removed by now does not (-f).
prune() {
  find "$BACKUP_DIR/" -maxdepth 1 -name "redis-$installation-*.rdb" | sort -r | tail -n "+$((BACKUP_KEEP + 1))" |
    while read -r old; do rm -f "$old"; done
}

[ "${BACKUP_KEEP:=48}" -ge 1 ] || fail 'BACKUP_KEEP must be 1 or more'
mkdir -p "$BACKUP_DIR"
# Before the copy too: if the folder is full, every copy fails until a lower BACKUP_KEEP makes room.
prune
file=$BACKUP_DIR/redis-$installation-$(date -u +%Y%m%dT%H%M%SZ).rdb
# Several processes may write to this folder, each as process 1 of its container, and a killed one leaves its part.
# Not in subfolders: find fails at one that it may not read, as lost+found at the root of a disk.
find "$BACKUP_DIR/" -maxdepth 1 -name '.part-*' -mmin +120 -exec rm -f {} +
part=$(mktemp "$BACKUP_DIR/.part-redis-XXXXXX")
trap 'rm -f "$part"' EXIT
redis --rdb "$part" >&2 || fail 'Redis did not send its data'
redis-check-rdb "$part" >&2 || fail 'the copy is damaged'
sync
# Another backup that began in the same second has the name.
tries=10
while mv -n "$part" "$file" || true; [ -e "$part" ]; do
  tries=$((tries - 1))
  [ "$tries" -gt 0 ] || fail "$file cannot be written"
  sleep 1
  file=$BACKUP_DIR/redis-$installation-$(date -u +%Y%m%dT%H%M%SZ).rdb
done
prune
echo "$file"
