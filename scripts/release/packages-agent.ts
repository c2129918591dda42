/** The packages of the agent: `portcullis-agent_….deb` and `portcullis-agent-….rpm`. */
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { reloadUdev, udevRule, udevWaiter } from '../../features/agents/server/install/udev.ts'
import { installPaths, packagedUnit, packagePaths, unitName } from '../../features/agents/server/install/unit.ts'
import { ROOT } from '../bootstrap/say.mjs'
import { unitHelpers } from './package-scripts.ts'
import type { SystemPackage } from './system-package.ts'
import type { Target } from './targets.ts'

const NAME = 'portcullis-agent'
const DOCUMENTS = `/usr/share/doc/${NAME}`
const { stateDir } = installPaths

/** Updates of the agent go here, so that the files of the package never change. */
const UPDATED = `${stateDir}/versions/portcullis-agent`

/** Returns the launcher. `packaged` and `updated` are the paths of the package's version and of its update. */
export const launcherOf = (packaged: string, updated: string): string => `#!/bin/sh
# Starts the newest verified version of the agent: the one of this package, or a later one that the agent installed in
# ${dirname(updated)}.
#   portcullis-agent enrol --server URL [--token-file FILE]    enrols this host and starts the service
set -eu
PACKAGED=${packaged}
export PORTCULLIS_AGENT_LAUNCHER=${packagePaths.launcher}
export PORTCULLIS_AGENT_EXECUTABLE=${updated}
if [ -r ${packagePaths.settings} ]; then export PORTCULLIS_AGENT_CONFIG=${packagePaths.settings}; fi

fail() {
  printf 'portcullis-agent: %s\\n' "$*" >&2
  exit 1
}

# Only root can read the state directory.
newest() {
  if [ ! -r ${dirname(updated)} ] || ! "$PACKAGED" select "$@" 2>/dev/null; then echo "$PACKAGED"; fi
}

enrol() {
  [ "$(id -u)" = 0 ] || fail 'root is required. Run this command with sudo.'
  for word; do
    case $word in
      --token | --token=* | --token-file | --token-file=*) has_token=1 ;;
    esac
  done
  has_run=
  if [ -d /run/systemd/system ]; then
    if systemctl is-active --quiet ${unitName}; then has_run=1; fi
    systemctl stop ${unitName} >/dev/null 2>&1 || true
  fi
  code=0
  if [ -z "\${has_token-}" ]; then
    if [ -t 0 ]; then
      # Turns the terminal echo back on in any case.
      trap 'stty echo' EXIT
      trap 'exit 1' HUP INT TERM
      stty -echo
    fi
    "$(newest)" --once --log-level warn --token-file - "$@" || code=$?
    if [ -t 0 ]; then
      stty echo
      trap - EXIT
    fi
  else
    "$(newest)" --once --log-level warn "$@" || code=$?
  fi
  # A host that is still enrolled must not stay without its agent.
  if [ "$code" != 0 ] && [ -n "$has_run" ]; then systemctl start ${unitName} >/dev/null 2>&1 || true; fi
  case $code in
    0) ;;
    2) fail 'the server refused the token. Create a new one in the console.' ;;
    3) fail 'this host was removed from the server. Create a new token in the console.' ;;
    *) fail "cannot enrol the host (exit code $code). See the messages above." ;;
  esac
  if [ -d /run/systemd/system ]; then
    systemctl enable --now ${unitName} >/dev/null 2>&1
    printf 'Done. The agent runs as ${unitName}. To see its log: journalctl -u ${unitName}\\n'
  else
    printf 'Done. This host is enrolled, but the agent is not running because this host has no systemd.\\n'
    printf 'To start the agent, run ${packagePaths.launcher} as root at every boot.\\n'
  fi
}

case \${1-} in
  enrol)
    shift
    enrol "$@"
    ;;
  restore) exec "$(newest --ended)" "$@" ;;
  release)
    # The newest version knows which devices it blocked. If it fails, the host must still be freed.
    version=$(newest)
    if [ "$version" != "$PACKAGED" ]; then
      if "$version" "$@"; then exit 0; fi
      echo 'portcullis-agent: the updated version failed; trying the version of the package.' >&2
    fi
    exec "$PACKAGED" "$@"
    ;;
  --help)
    printf 'portcullis-agent enrol --server URL [--token-file FILE]: enrol this host and start the service (needs root)\\n\\n'
    exec "$(newest)" "$@"
    ;;
  *) exec "$(newest)" "$@" ;;
esac
`

const settings = `# Settings of the Portcullis agent. Every option of portcullis-agent --help has a name like these.
# The command "portcullis-agent enrol" asks for the token and stores the address of the server.

#PORTCULLIS_AGENT_SERVER=https://portcullis.example.org:8080
#PORTCULLIS_AGENT_PROXY=http://proxy.example.org:3128

# To enrol a host at its first start, store a token in this file (owner root, mode 0600). Remove both afterwards.
#PORTCULLIS_AGENT_TOKEN_FILE=${packagePaths.token}
`

/** Replaces an agent of the install script. A newer version stays, because the package would downgrade it. */
const adoptScript = `if [ -x ${installPaths.executable} ]; then
  theirs=$(${installPaths.executable} --version 2>/dev/null | head -n 1)
  ours=$(${packagePaths.executable} --version)
  if [ "$(printf '%s\\n' "$theirs" "$ours" | sort -V | tail -n 1)" = "$ours" ]; then
    if has_systemd; then systemctl disable --now ${unitName} >/dev/null 2>&1 || true; fi
    rm -f ${installPaths.unit} ${installPaths.executable} ${installPaths.executable}.previous
    rm -f ${installPaths.rule} ${installPaths.waiter}
    if [ "$(readlink ${installPaths.link} 2>/dev/null)" = ${installPaths.executable} ]; then rm -f ${installPaths.link}; fi
    rmdir ${installPaths.directory} 2>/dev/null || true
    echo '${NAME}: replaced the agent of the install script. The host keeps its identity.'
  else
    echo "${NAME}: the install script installed the later version $theirs, which keeps running. Install a package of that version." >&2
  fi
fi`

const description = [
  'Reports the USB devices of this host to a Portcullis server and enforces its device',
  'policy. The agent is one program without dependencies and installs updates that are',
  'signed with its release key.',
]

interface Options {
  /** Executable of the agent for the target. */
  executable: string
  target: Target
  version: string
  /** Time of all files, in seconds since 1970. */
  seconds: number
  /** Folder for the packages and for intermediate files. */
  draft: string
  /** Level of compression, 0 to 9. The default is 6. */
  level?: number
}

const layOut = (executable: string, root: string): string => {
  const write = (path: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text, { mode })
  }
  write(packagePaths.launcher, launcherOf(packagePaths.executable, UPDATED), 0o755)
  cpSync(executable, join(root, packagePaths.executable))
  write(packagePaths.unit, packagedUnit())
  write(packagePaths.waiter, udevWaiter, 0o755)
  write(packagePaths.rule, udevRule(packagePaths.waiter))
  write(packagePaths.settings, settings)
  mkdirSync(join(root, dirname(packagePaths.link)), { recursive: true })
  symlinkSync(relative(dirname(packagePaths.link), packagePaths.launcher), join(root, packagePaths.link))
  mkdirSync(join(root, DOCUMENTS), { recursive: true })
  for (const [from, to] of [
    ['LICENSE', 'copyright'],
    ['THIRD-PARTY-LICENSES.md', 'THIRD-PARTY-LICENSES.md'],
  ] as const)
    cpSync(join(ROOT, from), join(root, DOCUMENTS, to))
  return root
}

/** Describes the package of the agent. */
export const agentPackage = ({ executable, target, version, seconds, draft, level }: Options): SystemPackage => ({
  name: NAME,
  version,
  target,
  summary: 'USB device control agent',
  description,
  root: layOut(executable, join(draft, `${NAME}-${target.name}.root`)),
  configFiles: [packagePaths.settings],
  owned: [packagePaths.directory, packagePaths.link, packagePaths.unit, packagePaths.rule, DOCUMENTS],
  debDepends: ['libc6 (>= 2.28)', 'libstdc++6', 'libgcc-s1', 'init-system-helpers (>= 1.51)'],
  rpmRequires: ['glibc >= 2.28', 'libstdc++', 'libgcc', 'coreutils'],
  unit: unitName,
  units: [unitName],
  scripts: {
    helpers: unitHelpers(NAME, [unitName]) + reloadUdev,
    // The agent keeps running while its file is replaced, so that the host stays protected.
    beforeUpgrade: ':',
    afterInstall: `${adoptScript}
reload_udev
if [ -z "$is_first" ] && has_systemd; then systemctl daemon-reload || true; systemctl try-restart ${unitName} || true; fi`,
    // Unblocks devices while the agent that blocked them still exists.
    beforeRemove: `stop_units
if [ -e ${stateDir}/identity.json ]; then
  ${packagePaths.launcher} release ||
    echo '${NAME}: blocked devices may stay blocked until they are plugged in again.' >&2
fi`,
    afterRemove: `reload_udev
rm -rf ${dirname(UPDATED)}
if [ -e ${stateDir}/identity.json ]; then
  echo '${NAME}: kept ${stateDir} with the key of this host. Delete the host in the console to revoke the key.'
fi`,
    purge: `rm -rf ${stateDir} /run/${NAME}
rm -f ${packagePaths.token} ${installPaths.settingsDir}/proxy-credentials
echo '${NAME}: removed ${stateDir}. Delete the host in the console to revoke its key.'`,
  },
  seconds,
  draft,
  level,
})
