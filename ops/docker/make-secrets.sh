#!/bin/sh
# Makes the secrets of compose.yaml, once: those that are there stay. The folder is closed to others; the files in it are
# not, since a container reads them as a user of its own.
set -eu
cd "$(dirname "$0")"
mkdir -p -m 0700 secrets
cd secrets

random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
put() { [ -e "$1" ] || { printf '%s' "$2" >"$1"; chmod "${3:-0444}" "$1"; }; }

put database-password "$(random)"
put database-url "postgres://portcullis:$(cat database-password)@database:5432/portcullis"
put postgres-password "$(random)"
put admin-password "$(random)"
# Of a worker only, to be written by hand; compose wants the files to be there.
put worker-token '' 0644
put server-ca '' 0644

echo "The first administrator is admin; his password is in $PWD/admin-password: change it after the first sign-in."
