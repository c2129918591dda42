import { agentUnit, installPaths, unitName } from './unit.ts'

/** What an install script is made for. */
export interface InstallScriptOptions {
  /** Base address that hosts reach the server by, without a slash at the end. */
  serverUrl: string
  /** SHA-256 (hex) of the executable that the server hands out. */
  sha256: string
  /**
   * Base64url SHA-256 of the SPKI of the server's own CA; absent when hosts trust the server's certificate anyway.
   * With it the download skips certificate checks, which is safe because the digest above is checked, and the agent
   * itself pins the CA by the hash in its token before it sends anything.
   */
  caPin?: string
}

/** One word of a POSIX shell command: nothing inside single quotes is interpreted. */
export const quoteShellWord = (word: string): string => {
  if (word.includes('\u0000')) throw new RangeError('NUL cannot be part of a shell word')
  return `'${word.replaceAll("'", "'\\''")}'`
}

/** Marks the end of the unit text in the script; the unit has no such line. */
const HEREDOC = 'PORTCULLIS_UNIT_END'

/**
 * The script that installs the agent on a Linux host: `sh install.sh`, `sh install.sh --token-file FILE`,
 * `sh install.sh --uninstall`. It never takes the token as an argument: every user of the host can read arguments, and
 * sudo and the shell's history keep them.
 *
 * POSIX sh. It downloads the executable, checks its digest, enrols the host, and starts the systemd unit; without
 * systemd it says how to run the agent. Running it again replaces the executable and keeps the identity.
 *
 * @throws RangeError when the address or digest could not be carried safely
 */
export const installScript = ({ serverUrl, sha256, caPin }: InstallScriptOptions): string => {
  if (!/^[0-9a-f]{64}$/.test(sha256)) throw new RangeError('sha256 has to be 64 hex digits')
  if (!/^https?:\/\/[!-~]+$/.test(serverUrl)) throw new RangeError('serverUrl has to be an http or https address')
  const unit = agentUnit({ serverUrl })
  return `#!/bin/sh
# Installs the Portcullis agent:   sh install.sh                      (asks for the enrolment token, or reads it from standard input)
#                                  sh install.sh --token-file FILE    (a file that only root can read)
# Removes it:                      sh install.sh --uninstall
set -eu

SERVER=${quoteShellWord(serverUrl)}
SHA256=${sha256}
DIRECTORY=${installPaths.directory}
EXECUTABLE=${installPaths.executable}
LINK=${installPaths.link}
UNIT=${installPaths.unit}
UNIT_NAME=${unitName}
STATE_DIR=${installPaths.stateDir}
# 1: the certificate is of the server's own CA; what is downloaded is checked by its digest instead.
OWN_CA=${caPin === undefined ? 0 : 1}

fail() {
  printf 'portcullis: %s\\n' "$*" >&2
  exit 1
}

has_systemd() {
  [ -d /run/systemd/system ] && command -v systemctl >/dev/null 2>&1
}

uninstall() {
  if has_systemd; then
    systemctl disable --now "$UNIT_NAME" >/dev/null 2>&1 || true
  fi
  rm -f "$UNIT"
  if has_systemd; then
    systemctl daemon-reload || true
  fi
  # What the agent had blocked works again before the one who knows of it is gone.
  if [ -x "$EXECUTABLE" ]; then
    "$EXECUTABLE" release --state-dir "$STATE_DIR" ||
      printf 'Blocked devices may stay blocked until they are plugged in again.\\n' >&2
  fi
  if [ "$(readlink "$LINK" 2>/dev/null)" = "$EXECUTABLE" ]; then rm -f "$LINK"; fi
  rm -f "$EXECUTABLE" "$EXECUTABLE.previous" "$EXECUTABLE.new"
  rmdir "$DIRECTORY" 2>/dev/null || true
  rm -rf "$STATE_DIR"
  printf 'The Portcullis agent was removed. Delete the host in the console to revoke its key.\\n'
}

download() {
  if command -v curl >/dev/null 2>&1; then
    if [ "$OWN_CA" = 1 ]; then set -- -k "$@"; fi
    curl -fsS --retry 3 --connect-timeout 15 -o "$WORK/agent" "$@" "$SERVER/agent/v1/download/linux-x64"
  elif command -v wget >/dev/null 2>&1; then
    if [ "$OWN_CA" = 1 ]; then set -- --no-check-certificate "$@"; fi
    wget -q -O "$WORK/agent" "$@" "$SERVER/agent/v1/download/linux-x64"
  else
    fail 'curl or wget is needed.'
  fi
}

[ "$(id -u)" = 0 ] || fail 'run this as root (with sudo).'
case "$#:\${1-}" in
  1:--uninstall)
    uninstall
    exit 0
    ;;
  0:) TOKEN_FILE= ;;
  2:--token-file) TOKEN_FILE=$2 ;;
  *:pce_*) fail 'every user of this host can read arguments. Revoke this token, create another one, and enter it when asked.' ;;
  *) fail 'the options are --token-file FILE and --uninstall.' ;;
esac

[ "$(uname -s)" = Linux ] || fail 'this agent is for Linux.'
case "$(uname -m)" in
  x86_64 | amd64) ;;
  *) fail "there is no agent for $(uname -m) yet." ;;
esac
command -v sha256sum >/dev/null 2>&1 || fail 'sha256sum is needed.'

read_token() {
  if [ -n "$TOKEN_FILE" ]; then
    [ -f "$TOKEN_FILE" ] || fail "the token file $TOKEN_FILE does not exist."
    [ -z "$(find "$TOKEN_FILE" ! -user 0 -o -perm /077)" ] ||
      fail "others can read $TOKEN_FILE: make it readable by root only (chown root, chmod 600)."
    IFS= read -r TOKEN <"$TOKEN_FILE" || [ -n "$TOKEN" ] || fail "the token file $TOKEN_FILE is empty."
  elif [ -t 0 ]; then
    printf 'Enrolment token (not shown): ' >&2
    # The terminal shows again what is typed, however this ends.
    trap 'stty echo' EXIT
    trap 'exit 1' HUP INT TERM
    stty -echo
    IFS= read -r TOKEN || true
    stty echo
    trap - EXIT
    printf '\\n' >&2
  else
    IFS= read -r TOKEN || true
  fi
  case "$TOKEN" in
    pce_*) ;;
    *) fail 'that is not an enrolment token; copy the whole token from the console.' ;;
  esac
}
TOKEN=
read_token

umask 077
mkdir -p "$DIRECTORY"
chmod 755 "$DIRECTORY"
# In the target's own directory: the rename at the end is atomic, and /tmp may be mounted noexec.
WORK=$(mktemp -d "$DIRECTORY/install.XXXXXX")
trap 'rm -rf "$WORK"' EXIT
trap 'exit 1' HUP INT TERM

printf 'Downloading the agent from %s\\n' "$SERVER"
download || fail "the agent could not be downloaded from $SERVER."
printf '%s  %s\\n' "$SHA256" "$WORK/agent" | sha256sum -c - >/dev/null 2>&1 ||
  fail 'the download is not what the server announced (digest differs); nothing was installed.'
chmod 755 "$WORK/agent"
"$WORK/agent" --version >/dev/null || fail 'the agent does not run on this host (glibc 2.28 or newer is needed).'

if has_systemd; then
  systemctl stop "$UNIT_NAME" >/dev/null 2>&1 || true
fi
mv -f "$WORK/agent" "$EXECUTABLE"
# For "portcullis-agent status" and "release". Another program of that name stays.
if [ -L "$LINK" ] || [ ! -e "$LINK" ]; then
  { mkdir -p "$(dirname "$LINK")" && ln -sfn "$EXECUTABLE" "$LINK"; } 2>/dev/null || true
fi

# In a file, because every user of the host can read arguments. printf is part of the shell: no process has the token either.
printf '%s\\n' "$TOKEN" >"$WORK/token"
printf 'Enrolling this host\\n'
if "$EXECUTABLE" --server "$SERVER" --token-file "$WORK/token" --state-dir "$STATE_DIR" --once --log-level warn; then
  :
else
  code=$?
  case $code in
    2) fail 'the server refused the token: make a fresh one in the console.' ;;
    3) fail 'the server removed this host before: make a fresh token in the console.' ;;
    *) fail "the host could not be enrolled (exit code $code, reasons above)." ;;
  esac
fi

if has_systemd; then
  cat >"$WORK/unit" <<'${HEREDOC}'
${unit}${HEREDOC}
  chmod 644 "$WORK/unit"
  mv -f "$WORK/unit" "$UNIT"
  systemctl daemon-reload
  systemctl enable "$UNIT_NAME" >/dev/null 2>&1
  systemctl restart "$UNIT_NAME"
  printf 'Done. The agent runs as %s; its log: journalctl -u %s\\n' "$UNIT_NAME" "$UNIT_NAME"
else
  printf 'Done. This host is enrolled, but the agent does not run yet, because this host has no systemd.\\n'
  printf 'To start the agent, run this command as root, and configure your init system to run it at every boot:\\n'
  printf '  %s --server %s --state-dir %s\\n' "$EXECUTABLE" "$SERVER" "$STATE_DIR"
fi
`
}

/**
 * The line that a person pastes on a host. It does not contain the token; the script asks for it. The line checks the
 * digest of the script before it runs the script. It comes from the signed-in console, so the script can be trusted.
 *
 * @param scriptSha256 SHA-256 (hex) of the text of `installScript`
 */
export const installCommand = ({
  serverUrl,
  scriptSha256,
  caPin,
}: {
  serverUrl: string
  scriptSha256: string
  caPin?: string
}): string => {
  if (!/^[0-9a-f]{64}$/.test(scriptSha256)) throw new RangeError('scriptSha256 has to be 64 hex digits')
  const url = quoteShellWord(`${serverUrl}/agent/v1/install.sh`)
  const fetched = `f=$(mktemp) && curl -fsS${caPin === undefined ? '' : 'k'} -o "$f" ${url}`
  const checked = `echo "${scriptSha256}  $f" | sha256sum -c --quiet -`
  // Debian without a desktop has no sudo, and its root needs none: then the word is empty and sh is what runs.
  const run = `$(command -v sudo) sh "$f"`
  return `sh -c ${quoteShellWord(`${fetched} && ${checked} && ${run}; c=$?; rm -f "$f"; exit $c`)}`
}
