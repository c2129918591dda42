#!/bin/bash
# Runs once, when the database container creates its cluster. The server connects as the owner of its database, not as the
# superuser. psql inserts the password into SQL as a literal.
set -eu
psql -v ON_ERROR_STOP=1 --no-psqlrc --username "$POSTGRES_USER" --dbname postgres \
  -v password="$(cat /run/secrets/database-password)" <<'SQL'
CREATE ROLE portcullis LOGIN PASSWORD :'password';
CREATE DATABASE portcullis OWNER portcullis;
\connect portcullis
REVOKE ALL ON DATABASE portcullis FROM PUBLIC;
CREATE EXTENSION IF NOT EXISTS pg_trgm;
SQL
