#!/bin/sh
# A standby of the Postgres at PRIMARY_HOST: copies it at the first start, and then follows it.
set -eu
: "${PGPASSWORD:?set STANDBY_PASSWORD before the first start of postgres}"
if [ ! -s "$PGDATA/PG_VERSION" ]; then
  # A copy that fails leaves nothing behind.
  until pg_basebackup --host "$PRIMARY_HOST" --username cover_standby --pgdata "$PGDATA" \
    --write-recovery-conf --wal-method stream --checkpoint fast; do
    sleep 2
  done
fi
exec "$@"
