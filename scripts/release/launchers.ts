/** Writes the programs in `bin/` of a server archive. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { argumentsFor, environmentOf } from '../bootstrap/server-arguments.mjs'

/** The oldest glibc that Node 24 runs on. */
const GLIBC = '2.28'

const launcher = (what: string, program: string): string => `#!/bin/sh
# ${what}
set -eu
root=$(dirname "$(dirname "$(readlink -f "$0")")")
glibc=$(getconf GNU_LIBC_VERSION 2>/dev/null | cut -d ' ' -f 2)
if [ -z "$glibc" ] || [ "$(printf '%s\\n' ${GLIBC} "$glibc" | sort -V | head -n 1)" != ${GLIBC} ]; then
  echo "Portcullis needs glibc ${GLIBC} or newer; this system has \${glibc:-none}. Use a newer Linux distribution." >&2
  exit 1
fi
${Object.entries(environmentOf(program))
  .map(([name, value]) => `export ${name}="\${${name}:-${value}}"\n`)
  .join('')}exec "$root/node/bin/node" ${argumentsFor(program).join(' ')} "$root/${program}" "$@"
`

/** Writes `bin/portcullis-server`, `bin/portcullis` and `bin/portcullis-worker`. */
export const writeLaunchers = (dir: string): void => {
  const bin = join(dir, 'bin')
  mkdirSync(bin, { recursive: true })
  const write = (name: string, what: string, program: string) =>
    writeFileSync(join(bin, name), launcher(what, program), { mode: 0o755 })
  write('portcullis-server', 'Starts the server.', 'server/src/entry/start.ts')
  write('portcullis', 'Runs the command line.', 'cli/src/main.ts')
  write('portcullis-worker', 'Starts an agentless worker.', 'poller/src/main.ts')
}
