import { reloadUdev, udevRule, udevWaiter } from './udev.ts'
import { agentUnit, installPaths, packagePaths, unitName } from './unit.ts'

/** Systems that an agent can be built for. */
export type Platform = 'linux-x64' | 'linux-arm64'

export interface InstallScriptOptions {
  /** Base address at which hosts reach the server, without a trailing slash. */
  serverUrl: string
  /** SHA-256 (hex) of the executables that the server provides; at least one. */
  sha256: Readonly<Partial<Record<Platform, string>>>
  /**
   * Base64url SHA-256 of the SPKI of the server's own CA; absent if hosts trust the server's certificate anyway. If
   * set, the download skips certificate checks. This is safe because the script checks the digest, and the agent pins
   * the CA by the hash in its token before it sends anything.
   */
  caPin?: string
}

/** Quotes one word of a POSIX shell command: the shell interprets nothing inside single quotes. */
export const quoteShellWord = (word: string): string => {
  if (word.includes('\u0000')) throw new RangeError('NUL cannot be part of a shell word')
  return `'${word.replaceAll("'", "'\\''")}'`
}

/** Names of processors that `uname -m` prints. */
const machines: Readonly<Record<Platform, string>> = {
  'linux-x64': 'x86_64 | amd64',
  'linux-arm64': 'aarch64 | arm64',
}

/** Marks the end of a text in the script; the texts have no such line. */
const HEREDOC = 'PORTCULLIS_TEXT_END'

/**
 * Creates the script that installs the agent on a Linux host: `sh install.sh`, `sh install.sh --token-file FILE`, `sh
 * install.sh --uninstall`. It never takes the token as an argument: every user of the host can read arguments, and sudo
 * and the shell history keep them.
 *
 * POSIX sh. It downloads the executable, checks its digest, enrols the host, and starts the systemd unit. Without
 * systemd, it prints how to run the agent. Running it again replaces the executable and keeps the identity.
 *
 * @throws RangeError if the address or the digest is unsafe
 */
export const installScript = ({ serverUrl, sha256, caPin }: InstallScriptOptions): string => {
  const cases = Object.entries(sha256).map(([platform, digest]) => {
    if (!/^[0-9a-f]{64}$/.test(digest)) throw new RangeError('sha256 must be 64 hex digits')
    return `  ${machines[platform as Platform]}) PLATFORM=${platform} SHA256=${digest} ;;`
  })
  if (cases.length === 0) throw new RangeError('the script needs an executable')
  if (!/^https?:\/\/[!-~]+$/.test(serverUrl)) throw new RangeError('serverUrl must be an http or https address')
  const unit = agentUnit({ serverUrl })
  return `#!/bin/sh
# Installs the Portcullis agent:   sh install.sh                      (asks for the enrolment token, or reads it from standard input)
#                                  sh install.sh --token-file FILE    (a file that only root can read)
#   Behind an HTTP proxy:          sh install.sh --proxy http://HOST:PORT [--no-proxy LIST] [--proxy-credentials-file FILE]
#                                  (default: https_proxy and no_proxy; the file contains user:password)
# Removes it:                      sh install.sh --uninstall
set -eu

SERVER=${quoteShellWord(serverUrl)}
DIRECTORY=${installPaths.directory}
EXECUTABLE=${installPaths.executable}
LINK=${installPaths.link}
UNIT=${installPaths.unit}
UNIT_NAME=${unitName}
RULE=${installPaths.rule}
WAITER=${installPaths.waiter}
STATE_DIR=${installPaths.stateDir}
SETTINGS_DIR=${installPaths.settingsDir}
# 1: the server's own CA issued the certificate; the digest verifies the download instead.
OWN_CA=${caPin === undefined ? 0 : 1}

fail() {
  printf 'portcullis: %s\\n' "$*" >&2
  exit 1
}

has_systemd() {
  [ -d /run/systemd/system ] && command -v systemctl >/dev/null 2>&1
}

${reloadUdev}
uninstall() {
  if has_systemd; then
    systemctl disable --now "$UNIT_NAME" >/dev/null 2>&1 || true
  fi
  rm -f "$UNIT"
  if has_systemd; then
    systemctl daemon-reload || true
  fi
  # Frees blocked devices while the agent that knows them still exists.
  if [ -x "$EXECUTABLE" ]; then
    "$EXECUTABLE" release --state-dir "$STATE_DIR" ||
      printf 'Blocked devices may stay blocked until they are plugged in again.\\n' >&2
  fi
  if [ "$(readlink "$LINK" 2>/dev/null)" = "$EXECUTABLE" ]; then rm -f "$LINK"; fi
  rm -f "$EXECUTABLE" "$EXECUTABLE.previous" "$EXECUTABLE.new" "$RULE" "$WAITER"
  reload_udev
  rmdir "$DIRECTORY" 2>/dev/null || true
  rm -rf "$STATE_DIR" "$SETTINGS_DIR"
  printf 'The Portcullis agent was removed. Delete the host in the console to revoke its key.\\n'
}

# Doubles backslashes and escapes quotes, for a quoted value in a file of curl.
escape() {
  printf '%s' "$1" | sed 's/[\\\\"]/\\\\&/g'
}

# Passes the proxy and its credentials in files, because every user of the host can read arguments.
download() {
  : >"$WORK/curlrc"
  : >"$WORK/wgetrc"
  if [ "$PROXY" = none ]; then
    printf 'noproxy = "*"\\n' >"$WORK/curlrc"
    printf 'use_proxy = off\\n' >"$WORK/wgetrc"
  elif [ -n "$PROXY" ]; then
    printf 'proxy = "%s"\\nnoproxy = "%s"\\n' "$PROXY" "$NO_PROXY_LIST" >"$WORK/curlrc"
    printf 'use_proxy = on\\nhttps_proxy = %s\\nhttp_proxy = %s\\nno_proxy = %s\\n' "$PROXY" "$PROXY" "$NO_PROXY_LIST" >"$WORK/wgetrc"
    if [ -n "$PROXY_LOGIN" ]; then
      printf 'proxy-user = "%s"\\n' "$(escape "$PROXY_LOGIN")" >>"$WORK/curlrc"
      printf 'proxy_user = %s\\nproxy_password = %s\\n' "\${PROXY_LOGIN%%:*}" "\${PROXY_LOGIN#*:}" >>"$WORK/wgetrc"
    fi
  fi
  if command -v curl >/dev/null 2>&1; then
    if [ "$OWN_CA" = 1 ]; then set -- -k "$@"; fi
    curl -fsS --retry 10 --connect-timeout 15 -K "$WORK/curlrc" -o "$WORK/agent" "$@" "$SERVER/agent/v1/download/$PLATFORM"
  elif command -v wget >/dev/null 2>&1; then
    if [ "$OWN_CA" = 1 ]; then set -- --no-check-certificate "$@"; fi
    WGETRC="$WORK/wgetrc" wget -q -O "$WORK/agent" "$@" "$SERVER/agent/v1/download/$PLATFORM"
  else
    fail 'curl or wget is required. Install one of them.'
  fi
}

# Reads the proxy of an earlier installation.
read_settings() {
  [ -f "$SETTINGS_DIR/agent.env" ] || return 0
  while IFS='=' read -r key value || [ -n "$key" ]; do
    case "$key" in
      PORTCULLIS_AGENT_PROXY) PROXY=$value ;;
      PORTCULLIS_AGENT_NO_PROXY) NO_PROXY_LIST=$value ;;
      PORTCULLIS_AGENT_PROXY_CREDENTIALS_FILE) CREDENTIALS_FILE=$value ;;
    esac
  done <"$SETTINGS_DIR/agent.env"
}

# Decides the proxy: the option, then the environment, then the earlier installation.
choose_proxy() {
  if [ -z "$PROXY" ]; then
    PROXY=\${https_proxy:-\${HTTPS_PROXY:-}}
    [ -n "$NO_PROXY_LIST" ] || NO_PROXY_LIST=\${no_proxy:-\${NO_PROXY:-}}
    case "$PROXY" in
      '') read_settings ;;
      http://*@*)
        PROXY_LOGIN=\${PROXY#http://}
        PROXY_LOGIN=\${PROXY_LOGIN%@*}
        PROXY=http://\${PROXY##*@}
        case "$PROXY_LOGIN" in
          *%*) fail 'the password of the proxy contains %. Store user:password in a file, and pass --proxy-credentials-file and --proxy.' ;;
          *:*) ;;
          *) PROXY_LOGIN="$PROXY_LOGIN:" ;;
        esac
        ;;
    esac
  fi
  PROXY=\${PROXY%/}
  NO_PROXY_LIST=$(printf %s "$NO_PROXY_LIST" | tr -d ' ')
  case "$PROXY" in
    '' | none) return 0 ;;
    *[!]A-Za-z0-9.:/_[-]*) fail 'the address of the proxy is invalid. Use an address such as http://proxy.example.org:3128.' ;;
    http://?*) ;;
    *://*) fail 'the address of the proxy must begin with http://.' ;;
    *) PROXY=http://$PROXY ;;
  esac
  case "$NO_PROXY_LIST" in
    *[!]A-Za-z0-9.,:*_/[-]*) fail 'the list of --no-proxy is invalid. Use names, .domains, addresses and networks, separated by commas.' ;;
  esac
  if [ -n "$CREDENTIALS_FILE" ]; then
    [ -f "$CREDENTIALS_FILE" ] || fail "the credentials file $CREDENTIALS_FILE does not exist."
    [ -z "$(find "$CREDENTIALS_FILE" ! -user 0 -o -perm /077)" ] ||
      fail "other users can read $CREDENTIALS_FILE. Make it readable by root only (chown root, chmod 600)."
    IFS= read -r PROXY_LOGIN <"$CREDENTIALS_FILE" || [ -n "$PROXY_LOGIN" ] || fail "the file $CREDENTIALS_FILE is empty."
  fi
}

# Stores the proxy for the agent, and passes it to the enrolment.
keep_proxy() {
  [ -n "$PROXY" ] || return 0
  mkdir -p "$SETTINGS_DIR"
  chmod 755 "$SETTINGS_DIR"
  # Keeps other settings that an administrator wrote.
  { grep -v '^PORTCULLIS_AGENT_\\(PROXY\\|NO_PROXY\\|PROXY_CREDENTIALS_FILE\\)=' "$SETTINGS_DIR/agent.env" 2>/dev/null || true; } >"$WORK/agent.env"
  export PORTCULLIS_AGENT_PROXY="$PROXY"
  printf 'PORTCULLIS_AGENT_PROXY=%s\\n' "$PROXY" >>"$WORK/agent.env"
  if [ -n "$NO_PROXY_LIST" ]; then
    export PORTCULLIS_AGENT_NO_PROXY="$NO_PROXY_LIST"
    printf 'PORTCULLIS_AGENT_NO_PROXY=%s\\n' "$NO_PROXY_LIST" >>"$WORK/agent.env"
  fi
  if [ -n "$PROXY_LOGIN" ]; then
    printf '%s\\n' "$PROXY_LOGIN" >"$WORK/proxy-credentials"
    mv -f "$WORK/proxy-credentials" "$SETTINGS_DIR/proxy-credentials"
    export PORTCULLIS_AGENT_PROXY_CREDENTIALS_FILE="$SETTINGS_DIR/proxy-credentials"
    printf 'PORTCULLIS_AGENT_PROXY_CREDENTIALS_FILE=%s\\n' "$SETTINGS_DIR/proxy-credentials" >>"$WORK/agent.env"
  fi
  mv -f "$WORK/agent.env" "$SETTINGS_DIR/agent.env"
}

[ "$(id -u)" = 0 ] || fail 'root is required. Run this command with sudo.'
case "$#:\${1-}" in
  1:--uninstall)
    [ ! -e ${packagePaths.launcher} ] ||
      fail 'this host has the package portcullis-agent. Remove it with apt purge portcullis-agent or dnf remove portcullis-agent.'
    uninstall
    exit 0
    ;;
esac
TOKEN_FILE=
PROXY=
PROXY_LOGIN=
NO_PROXY_LIST=
CREDENTIALS_FILE=
while [ "$#" -gt 0 ]; do
  case "$#:$1" in
    *:pce_*) fail 'every user of this host can read arguments. Revoke this token, create another one, and enter it when prompted.' ;;
    1:*) fail 'unknown option, or an option without a value. Valid options: --token-file FILE, --proxy URL, --no-proxy LIST, --proxy-credentials-file FILE, --uninstall.' ;;
    *:--token-file) TOKEN_FILE=$2 ;;
    *:--proxy) PROXY=$2 ;;
    *:--no-proxy) NO_PROXY_LIST=$2 ;;
    *:--proxy-credentials-file) CREDENTIALS_FILE=$2 ;;
    *) fail 'unknown option. Valid options: --token-file FILE, --proxy URL, --no-proxy LIST, --proxy-credentials-file FILE, --uninstall.' ;;
  esac
  shift 2
done
choose_proxy

[ ! -e ${packagePaths.launcher} ] ||
  fail "this host has the package portcullis-agent. Run: portcullis-agent enrol --server $SERVER"
[ "$(uname -s)" = Linux ] || fail 'this agent requires Linux.'
case "$(uname -m)" in
${cases.join('\n')}
  *) fail "no agent is available for $(uname -m)." ;;
esac
command -v sha256sum >/dev/null 2>&1 || fail 'sha256sum is required. Install it.'

read_token() {
  if [ -n "$TOKEN_FILE" ]; then
    [ -f "$TOKEN_FILE" ] || fail "the token file $TOKEN_FILE does not exist."
    [ -z "$(find "$TOKEN_FILE" ! -user 0 -o -perm /077)" ] ||
      fail "other users can read $TOKEN_FILE. Make it readable by root only (chown root, chmod 600)."
    IFS= read -r TOKEN <"$TOKEN_FILE" || [ -n "$TOKEN" ] || fail "the token file $TOKEN_FILE is empty."
  elif [ -t 0 ]; then
    printf 'Enrolment token (not shown): ' >&2
    # Turns the terminal echo back on in any case.
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
    *) fail 'the input is not an enrolment token. Copy the whole token from the console.' ;;
  esac
}
TOKEN=
read_token

umask 077
mkdir -p "$DIRECTORY"
chmod 755 "$DIRECTORY"
# Uses the target's directory: the final rename is atomic, and /tmp may be mounted noexec.
WORK=$(mktemp -d "$DIRECTORY/install.XXXXXX")
trap 'rm -rf "$WORK"' EXIT
trap 'exit 1' HUP INT TERM

printf 'Downloading the agent from %s\\n' "$SERVER"
download || fail "cannot download the agent from $SERVER."
printf '%s  %s\\n' "$SHA256" "$WORK/agent" | sha256sum -c - >/dev/null 2>&1 ||
  fail 'the digest of the download does not match. Nothing was installed.'
chmod 755 "$WORK/agent"
"$WORK/agent" --version >/dev/null || fail 'the agent does not run on this host. It requires glibc 2.28 or newer.'

if has_systemd; then
  systemctl stop "$UNIT_NAME" >/dev/null 2>&1 || true
fi
mv -f "$WORK/agent" "$EXECUTABLE"
# For "portcullis-agent status" and "release". Does not replace another program with this name.
if [ -L "$LINK" ] || [ ! -e "$LINK" ]; then
  { mkdir -p "$(dirname "$LINK")" && ln -sfn "$EXECUTABLE" "$LINK"; } 2>/dev/null || true
fi

keep_proxy

# Passes the token in a file, because every user of the host can read arguments. printf is part of the shell, so no process has the token.
printf '%s\\n' "$TOKEN" >"$WORK/token"
printf 'Enrolling this host\\n'
if "$EXECUTABLE" --server "$SERVER" --token-file "$WORK/token" --state-dir "$STATE_DIR" --once --log-level warn; then
  :
else
  code=$?
  case $code in
    2) fail 'the server refused the token. Create a new one in the console.' ;;
    3) fail 'this host was removed from the server. Create a new token in the console.' ;;
    *) fail "cannot enrol the host (exit code $code). See the messages above." ;;
  esac
fi

# The rule refers to the script, so the script comes first. A host without udev needs neither.
cat >"$WORK/waiter" <<'${HEREDOC}'
${udevWaiter}${HEREDOC}
cat >"$WORK/rule" <<'${HEREDOC}'
${udevRule(installPaths.waiter)}${HEREDOC}
chmod 755 "$WORK/waiter"
chmod 644 "$WORK/rule"
if [ -d "$(dirname "$RULE")" ]; then
  mv -f "$WORK/waiter" "$WAITER"
  mv -f "$WORK/rule" "$RULE"
  reload_udev
fi

if has_systemd; then
  cat >"$WORK/unit" <<'${HEREDOC}'
${unit}${HEREDOC}
  chmod 644 "$WORK/unit"
  mv -f "$WORK/unit" "$UNIT"
  systemctl daemon-reload
  systemctl enable "$UNIT_NAME" >/dev/null 2>&1
  systemctl restart "$UNIT_NAME"
  printf 'Done. The agent runs as %s. To see its log: journalctl -u %s\\n' "$UNIT_NAME" "$UNIT_NAME"
else
  printf 'Done. This host is enrolled, but the agent is not running because this host has no systemd.\\n'
  printf 'To start the agent, run this command as root, and configure your init system to run it at every boot:\\n'
  if [ -n "\${PROXY-}" ]; then printf 'Set the variables in %s for it.\\n' "$SETTINGS_DIR/agent.env"; fi
  printf '  %s --server %s --state-dir %s\\n' "$EXECUTABLE" "$SERVER" "$STATE_DIR"
fi
`
}

/**
 * Returns the command that a person pastes on a host. It does not contain the token; the script asks for it. The
 * command checks the digest of the script before running it. It comes from the signed-in console, so the script can be
 * trusted.
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
  if (!/^[0-9a-f]{64}$/.test(scriptSha256)) throw new RangeError('scriptSha256 must be 64 hex digits')
  const url = quoteShellWord(`${serverUrl}/agent/v1/install.sh`)
  const fetched = `f=$(mktemp) && curl -fsS${caPin === undefined ? '' : 'k'} -o "$f" ${url}`
  const checked = `echo "${scriptSha256}  $f" | sha256sum -c --quiet -`
  // A minimal Debian has no sudo, and its root user needs none. The word is then empty, and sh runs directly.
  // sudo removes the variables of a proxy, which the script needs.
  const keep = `\${https_proxy:+--preserve-env=https_proxy,no_proxy}`
  const run = `s=$(command -v sudo); \${s:+$s ${keep}} sh "$f"`
  return `sh -c ${quoteShellWord(`${fetched} && ${checked} && { ${run}; }; c=$?; rm -f "$f"; exit $c`)}`
}
