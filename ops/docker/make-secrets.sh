#!/bin/sh
# Creates the secrets of compose.yaml, and keeps existing ones. Only the owner can enter the folder. The files in it are
# readable, because a container reads them as another user.
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
# For a worker only. Write them by hand; compose requires that the files exist.
put worker-token '' 0644
put server-ca '' 0644

echo "Sign in as admin with the password in $PWD/admin-password, and change it after the first sign-in."
