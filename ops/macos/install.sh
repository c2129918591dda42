#!/bin/sh
# Installs the Portcullis agent on this Mac, enrols it and starts it as a LaunchDaemon. The agent only monitors.
# Usage: sudo sh install.sh --server URL [--token-file FILE]
#        sudo sh install.sh --uninstall
set -eu

label=org.portcullis.agent
program=/usr/local/lib/portcullis-agent
command=/usr/local/bin/portcullis-agent
config=/etc/portcullis-agent
state=/var/db/portcullis-agent
plist=/Library/LaunchDaemons/$label.plist
from=$(CDPATH='' cd "$(dirname "$0")" && pwd)

fail() {
  printf 'portcullis-agent: %s\n' "$*" >&2
  exit 1
}

server='' token_file=- uninstall=
while [ $# -gt 0 ]; do
  case "$1" in
    --server) server=${2:-} && shift ;;
    --token-file) token_file=${2:-} && shift ;;
    --uninstall) uninstall=1 ;;
    *) fail "unknown option $1. Use --server URL, --token-file FILE or --uninstall." ;;
  esac
  [ $# -gt 0 ] && shift
done

[ "$(uname -s)" = Darwin ] || fail 'this is the agent for macOS. On Linux, use the install command of the console.'
[ "$(id -u)" = 0 ] || fail 'root is required. Run this command with sudo.'

stop() {
  launchctl bootout "system/$label" 2>/dev/null || true
}

if [ -n "$uninstall" ]; then
  stop
  rm -rf "$plist" "$program" "$command" "$config" "$state" /var/log/portcullis-agent.log
  printf 'Removed the agent. Delete the host in the console to revoke its key.\n'
  exit 0
fi

case "$(uname -m)" in
  x86_64) machine=x64 ;;
  arm64) machine=arm64 ;;
  *) machine=unknown ;;
esac
[ "$machine" = "$(cat "$from/architecture")" ] ||
  fail "this package is for $(cat "$from/architecture"), and this Mac is $(uname -m). Use the other package."
[ -n "$server" ] || [ -e "$state/identity.json" ] || fail 'the address of the server is missing. Add --server URL.'

stop
mkdir -p "$program" /usr/local/bin "$config" "$state"
for file in node agent.cjs daemon.sh LICENSE NODE-LICENSE THIRD-PARTY-LICENSES.md; do
  cp "$from/$file" "$program/$file.new"
  mv "$program/$file.new" "$program/$file"
done
# Files that a browser downloaded are in quarantine, and macOS would not start Node.
xattr -dr com.apple.quarantine "$program" 2>/dev/null || true
cp "$from/portcullis-agent.sh" "$command"
# launchd runs these files as root, so nobody else may write them.
chown -R root:wheel "$program" "$command" "$config" "$state"
chmod -R go-w "$program"
chmod 755 "$program/node" "$program/daemon.sh" "$command"
chmod 700 "$config" "$state"
if [ ! -e "$config/agent.env" ]; then
  printf 'PORTCULLIS_AGENT_STATE_DIR=%s\n' "$state" >"$config/agent.env"
  chmod 600 "$config/agent.env"
fi

set -- --once
[ -z "$server" ] || set -- "$@" --server "$server"
[ -e "$state/identity.json" ] || set -- "$@" --token-file "$token_file"
"$command" "$@" || fail 'cannot enrol this Mac. See the messages above.'

cp "$from/$label.plist" "$plist"
chown root:wheel "$plist"
chmod 644 "$plist"
launchctl bootstrap system "$plist"
printf 'Done. The agent runs and only monitors. To see its state: sudo portcullis-agent status\n'
