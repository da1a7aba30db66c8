#!/bin/sh
# Runs once, when the Postgres container makes its database: the logins of docs/operating.md, and that of a standby if it has a
# password.
set -eu
psql --username postgres -v ON_ERROR_STOP=1 \
  -v owner_password="$OWNER_PASSWORD" -v api_password="$API_PASSWORD" <<'SQL'
CREATE ROLE cover_api NOLOGIN;
CREATE ROLE cover_owner LOGIN PASSWORD :'owner_password';
CREATE DATABASE cover OWNER cover_owner;
REVOKE CONNECT ON DATABASE cover FROM PUBLIC;
CREATE ROLE cover_api_login LOGIN PASSWORD :'api_password' NOINHERIT IN ROLE cover_api;
GRANT CONNECT ON DATABASE cover TO cover_api_login;
SQL
if [ -n "${STANDBY_PASSWORD:-}" ]; then
  psql --username postgres -v ON_ERROR_STOP=1 -v standby_password="$STANDBY_PASSWORD" <<'SQL'
CREATE ROLE cover_standby REPLICATION LOGIN PASSWORD :'standby_password';
SQL
  echo "host replication cover_standby all scram-sha-256" >>"$PGDATA/pg_hba.conf"
fi
