/** The packages of the server: `portcullis-server_….deb` and `portcullis-server-….rpm`. */
import { cpSync, mkdirSync, readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { ROOT } from '../bootstrap/say.mjs'
import { unitHelpers } from './package-scripts.ts'
import type { SystemPackage } from './system-package.ts'
import type { Target } from './targets.ts'

const NAME = 'portcullis-server'
const PROGRAM = '/usr/lib/portcullis'
const STATE = '/var/lib/portcullis'
const DOCUMENTS = `/usr/share/doc/${NAME}`
const CONFIG = '/etc/portcullis/portcullis.env'
const UNIT = 'portcullis.service'
const UNITS = [UNIT, 'portcullis-worker.service']

/** Returns a unit of `ops/systemd/` for the paths of the package. */
const packagedUnit = (name: string): string =>
  readFileSync(join(ROOT, 'ops', 'systemd', name), 'utf8')
    .replace(/^(?:#.*\n)+/, '')
    .replaceAll('file:///opt/portcullis/docs/guide/', `file://${DOCUMENTS}/guide/`)
    .replaceAll('/opt/portcullis/.node/node', `${PROGRAM}/node/bin/node`)
    .replaceAll('/opt/portcullis', PROGRAM)

const config = `# Settings of the Portcullis server, read when it starts. ${DOCUMENTS}/reference/configuration.md lists all of them.
# Every user can read this file. Pass secrets as files, as ${DOCUMENTS}/guide/systemd.md describes.

# By default the server listens on this machine only. Hosts need an address that they can reach.
#PORTCULLIS_HOST=0.0.0.0
#PORTCULLIS_PORT=8080

# Without a certificate, the server creates its own CA. The group portcullis must be able to read the key.
#PORTCULLIS_TLS_CERT=/etc/portcullis/tls.crt
#PORTCULLIS_TLS_KEY=/etc/portcullis/tls.key
`

/**
 * Returns `/usr/bin/portcullis`, which runs the command line with the environment of the service: settings, drop-ins
 * and data directory. Otherwise, the doctor would check another server. Variables of the caller take precedence.
 */
export const commandLine = (unit: string, program: string): string => `#!/bin/sh
# Runs the command line of Portcullis with the environment of the service.
PORTCULLIS_UNIT=${unit} exec ${program} "$@"
`

const createUser = `getent group portcullis >/dev/null || groupadd --system portcullis
getent passwd portcullis >/dev/null ||
  useradd --system --gid portcullis --home-dir ${STATE} --no-create-home --shell /usr/sbin/nologin portcullis
[ -d ${STATE} ] || install -d -o portcullis -g portcullis -m 0700 ${STATE}
if [ -e /etc/systemd/system/${UNIT} ]; then
  echo '${NAME}: /etc/systemd/system/${UNIT} takes precedence over the unit of this package. Remove it to use the package.' >&2
fi`

const purge = `# A share with backups that is mounted below keeps its files.
rm -rf --one-file-system ${STATE} ${STATE}-worker /var/lib/private/portcullis-worker || true
if getent passwd portcullis >/dev/null; then userdel portcullis >/dev/null || true; fi
if getent group portcullis >/dev/null; then groupdel portcullis >/dev/null || true; fi
if [ -e ${STATE} ]; then
  echo '${NAME}: removed the user portcullis, and ${STATE} except the file systems that are mounted there.'
else
  echo '${NAME}: removed the user portcullis and ${STATE} with database, key file and certificates.'
fi`

const description = [
  'Portcullis knows every USB device on every host of an organisation and decides which',
  'devices may be attached. This package contains the server with its console, command',
  'line, database and agents for hosts.',
]

/** Moves the files of a staged server into the layout of the package. Returns the folder. */
const layOut = (staged: string, root: string): string => {
  const write = (path: string, text: string, mode = 0o644) => {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text, { mode })
  }
  mkdirSync(join(root, dirname(PROGRAM)), { recursive: true })
  renameSync(staged, join(root, PROGRAM))
  write('/usr/bin/portcullis', commandLine(UNIT, `${PROGRAM}/bin/portcullis`), 0o755)
  write(CONFIG, config)
  for (const name of UNITS) write(`/usr/lib/systemd/system/${name}`, packagedUnit(name))
  mkdirSync(join(root, dirname(DOCUMENTS)), { recursive: true })
  renameSync(join(root, PROGRAM, 'docs'), join(root, DOCUMENTS))
  // Messages and the README refer to pages below docs/.
  symlinkSync(relative(PROGRAM, DOCUMENTS), join(root, PROGRAM, 'docs'))
  cpSync(join(ROOT, 'LICENSE'), join(root, DOCUMENTS, 'copyright'))
  return root
}

interface Options {
  /** Folder of `stageServer`. It is moved into the package. */
  staged: string
  target: Target
  version: string
  /** Time of all files, in seconds since 1970. */
  seconds: number
  /** Folder for the packages and for intermediate files. */
  draft: string
  /** Level of compression, 0 to 9. The default is 6. */
  level?: number
}

/** Describes the package of the server. */
export const serverPackage = ({ staged, target, version, seconds, draft, level }: Options): SystemPackage => ({
  name: NAME,
  version,
  target,
  summary: 'USB device control server',
  description,
  root: layOut(staged, join(draft, `${NAME}-${target.name}.root`)),
  configFiles: [CONFIG],
  owned: [PROGRAM, '/usr/bin/portcullis', ...UNITS.map((name) => `/usr/lib/systemd/system/${name}`), DOCUMENTS],
  debDepends: ['libc6 (>= 2.28)', 'libstdc++6', 'libgcc-s1', 'passwd', 'init-system-helpers (>= 1.51)'],
  rpmRequires: ['glibc >= 2.28', 'libstdc++', 'libgcc', 'shadow-utils', 'coreutils'],
  unit: UNIT,
  units: UNITS,
  scripts: {
    helpers: unitHelpers(NAME, UNITS),
    // The server loads some files late, so it must not run while the package replaces them.
    beforeUpgrade: 'pause_units',
    afterInstall: createUser,
    beforeRemove: 'stop_units',
    afterRemove: `echo '${NAME}: kept ${STATE} with database and key file, and the user portcullis.'`,
    purge,
  },
  seconds,
  draft,
  level,
})
