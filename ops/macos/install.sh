#!/bin/sh
# Installs the Portcullis agent on this Mac, enrols it and starts it as a LaunchDaemon. The agent only monitors.
# Usage: sudo sh install.sh --server URL [--token-file FILE]
#        sudo sh install.sh --uninstall
set -eu
umask 022

label=org.portcullis.agent
# Not below /usr/local: on Macs with an Intel processor, Homebrew gives its folders to a user.
program=/opt/portcullis-agent
command=$program/portcullis-agent
# On macOS, /etc and /var are links to these folders.
config=/private/etc/portcullis-agent
state=/private/var/db/portcullis-agent
log=/private/var/log/portcullis-agent.log
plist=/Library/LaunchDaemons/$label.plist
from=$(CDPATH='' cd "$(dirname "$0")" && pwd)

fail() {
  printf 'portcullis-agent: %s\n' "$*" >&2
  exit 1
}

# Fails unless root alone can change a path and every folder above it, because launchd runs these files as root.
# org.portcullis.agent.plist checks owners and modes of the program again at each start.
assert_root_only() {
  path=$1
  while :; do
    if [ -e "$path" ] || [ -h "$path" ]; then
      # shellcheck disable=SC2046 # The mode and the ids contain no spaces.
      set -- $(ls -ldn "$path")
      case "$1" in
        l*) fail "$path is a symbolic link, which could lead root to files of others. Remove it and try again." ;;
        ?????w* | ????????w*) fail "other users can write to $path. Run: sudo chmod go-w '$path'" ;;
        *+) ! ls -lde "$path" 2>/dev/null | grep -q ' allow ' ||
          fail "an access control list gives other users rights to $path. Run: sudo chmod -N '$path'" ;;
      esac
      [ "$3" = 0 ] || fail "$path belongs to the user with the id $3. Run: sudo chown root:wheel '$path'"
    fi
    [ "$path" != / ] || return 0
    path=$(dirname "$path")
  done
}

# Removes what earlier releases installed below /usr/local. A user may own the folder, so root enters it before it looks
# where it is, and follows no link.
remove_former() {
  for folder in /usr/local/lib /usr/local/bin; do
    [ -d "$folder" ] || continue
    (cd -P "$folder" && [ "$(pwd -P)" = "$folder" ] && rm -rf ./portcullis-agent) ||
      printf 'portcullis-agent: remove %s/portcullis-agent yourself. No program uses it.\n' "$folder" >&2
  done
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
  rm -rf "$plist" "$program" "$config" "$state" "$log"
  remove_former
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
for path in "$program" "$config" "$state" "$log" "$plist"; do assert_root_only "$path"; done

stop
mkdir -p "$program" "$config" "$state"
# Copies a file of the package, but not what a link there names.
copy() {
  rm -rf "$2.new"
  cp -RP "$from/$1" "$2.new"
  { [ -f "$2.new" ] && [ ! -h "$2.new" ]; } || fail "$from/$1 is not a file. Unpack the package again."
  mv "$2.new" "$2"
}
for file in node agent.cjs daemon.sh LICENSE NODE-LICENSE THIRD-PARTY-LICENSES.md; do copy "$file" "$program/$file"; done
copy portcullis-agent.sh "$command"
# Files that a browser downloaded are in quarantine, and macOS would not start Node.
xattr -dr com.apple.quarantine "$program" 2>/dev/null || true
chown -R root:wheel "$program" "$config" "$state"
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

copy "$label.plist" "$plist"
chown root:wheel "$plist"
chmod 644 "$plist"
remove_former
launchctl bootstrap system "$plist"
printf 'Done. The agent runs and only monitors. To see its state: sudo %s status\n' "$command"
