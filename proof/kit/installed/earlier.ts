import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DebianRoot } from '../../../scripts/release/debian-root.ts'
import { START } from '../../../scripts/release/packages-testing.ts'
import { unpackRelease } from '../other-release.ts'
import type { Debs } from './packages.ts'
import { NO_DEVICES, runIn } from './prepare.ts'

/** Folder of an installation from a checkout, as the guide of the earlier release describes it. */
const CHECKOUT = 'opt/portcullis'
/** Executable that the install script of the earlier release wrote. */
const AGENT = 'usr/local/lib/portcullis/portcullis-agent'

/** Calls the server of any release: `node api.mjs token FILE | backup FILE PASSPHRASE | hosts`. */
const API = `import fs from 'node:fs'
const [what, file, passphrase] = process.argv.slice(2)
const url = 'http://127.0.0.1:8080/prime/webui/'
const call = async (path, token, body) => {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: 'Bearer ' + token }) }
  const answer = await fetch(url + path, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
  if (!answer.ok) throw new Error(path + ': ' + (await answer.text()))
  return answer
}
const login = await call('Auth/LocalLogin', null, { username: 'admin', password: 'correct horse battery staple' })
const { token } = await login.json()
if (what === 'token') {
  const made = await (await call('agents/enrollmenttokens', token, { name: 'earlier' })).json()
  fs.writeFileSync(file, made.token, { mode: 0o600 })
} else if (what === 'backup') {
  const made = await call('admin/backup', token, { passphrase, withKeys: true })
  fs.writeFileSync(file, Buffer.from(await made.arrayBuffer()))
} else {
  const { data } = await (await call('agents', token)).json()
  console.log('host', data.map((host) => [host.uuid, host.serviceVersion, host.lastUpdated].join(' ')).join('; '))
}
`

/** Shell functions that run the earlier release. */
const EARLIER = `${NO_DEVICES}
node() { /${CHECKOUT}/.node/node --disable-warning=ExperimentalWarning "$@"; }
api() { node /packages/api.mjs "$@"; }
as_service() { setpriv --reuid=portcullis --regid=portcullis --init-groups sh -c "umask 077; cd /${CHECKOUT}; $1"; }
up() {
  for i in $(seq 300); do
    if node -e 'fetch("http://127.0.0.1:8080/readyz").then((a) => process.exit(a.ok ? 0 : 1), () => process.exit(1))'; then return 0; fi
    kill -0 $server || break
    sleep 0.2
  done
  cat /packages/earlier.log; exit 1
}
start_earlier() {
  setpriv --reuid=portcullis --regid=portcullis --init-groups sh -c "umask 077; cd /${CHECKOUT}
    export PORTCULLIS_DATA_DIR=$1 PORTCULLIS_ADMIN_PASSWORD='correct horse battery staple'
    exec .node/node --disable-warning=ExperimentalWarning server/src/entry/start.ts" >/packages/earlier.log 2>&1 &
  server=$!
  up
}
stop_earlier() { kill -TERM $server; wait $server; }
`

/**
 * Puts the earlier release into the system: the server in a checkout in /opt, the agent as its install script writes it.
 *
 * @param name Git name of the release
 * @param serverDeb package with Node and the libraries of the server
 */
export const addEarlier = (root: DebianRoot, name: string, serverDeb: string): void => {
  const release = unpackRelease(name)
  try {
    const home = join(root.dir, CHECKOUT)
    mkdirSync(home, { recursive: true })
    for (const part of ['contract', 'domain', 'server', 'agent', 'poller', 'cli', 'knowledge', 'package.json', 'docs'])
      cpSync(join(release.root, part), join(home, part), {
        recursive: true,
        filter: (source) => !source.endsWith('/node_modules'),
      })
    const unpacked = join(root.dir, 'packages', 'unpacked')
    mkdirSync(unpacked, { recursive: true })
    execFileSync('dpkg-deb', ['-x', serverDeb, unpacked])
    mkdirSync(join(home, '.node'))
    cpSync(join(unpacked, 'usr/lib/portcullis/node/bin/node'), join(home, '.node/node'))
    execFileSync('mv', [join(unpacked, 'usr/lib/portcullis/node_modules'), join(home, 'node_modules')])
    rmSync(unpacked, { recursive: true })
    // The executable of its agent, built as that release builds it.
    rmSync(join(release.root, 'build'), { recursive: true, force: true })
    execFileSync(process.execPath, ['scripts/build-agent.mjs'], { cwd: release.root, stdio: 'pipe' })
    mkdirSync(join(root.dir, AGENT, '..'), { recursive: true })
    cpSync(join(release.root, 'build/agent/portcullis-agent-linux-x64'), join(root.dir, AGENT))
    cpSync(join(root.dir, AGENT), join(root.dir, 'packages/earlier-agent'))
    writeFileSync(join(root.dir, 'packages/api.mjs'), API)
  } finally {
    release.remove()
  }
}

/** A host as the server lists it: id, version of its agent, time of its last check-in. */
export type ListedHost = readonly [id: string, version: string, lastUpdated: string]

const hostsIn = (output: string): ListedHost[] =>
  [...output.matchAll(/^host (.*)$/gm)].map((match) => {
    const [id = '', version = '', lastUpdated = ''] = (match[1] ?? '').split(' ')
    return [id, version, lastUpdated]
  })

/** Runs the earlier release: its server creates the data, its agent enrols, and a backup is made. Returns the host. */
export const runEarlier = (root: DebianRoot): ListedHost[] =>
  hostsIn(
    runIn(
      root,
      `useradd --system --home-dir /var/lib/portcullis --shell /usr/sbin/nologin portcullis
install -d -o portcullis -g portcullis -m 0700 /var/lib/portcullis
mkdir -p /packages; echo "a long passphrase" >/packages/passphrase
${EARLIER}start_earlier /var/lib/portcullis
api token /packages/token
/${AGENT} --once --server http://127.0.0.1:8080 --state-dir /var/lib/portcullis-agent --token-file /packages/token
api backup /packages/earlier.backup "$(cat /packages/passphrase)"
api hosts
stop_earlier`,
    ),
  )

/**
 * Installs the packages over the earlier release. Returns the host after a check-in of its earlier agent and after one of
 * the agent of the package.
 */
export const upgradeEarlier = (root: DebianRoot, debs: Pick<Debs, 'server' | 'agent'>): ListedHost[] =>
  hostsIn(
    runIn(
      root,
      `dpkg -i ${root.add(debs.server)}
${EARLIER}${START}start
/${AGENT} --once --state-dir /var/lib/portcullis-agent
api hosts
dpkg -i ${root.add(debs.agent)}
portcullis-agent --once
api hosts
stop`,
    ),
  )

/** Goes back to the earlier release: on the upgraded data, and on its backup in an empty directory. Returns the host of each. */
export const rollBack = (root: DebianRoot): ListedHost[] =>
  hostsIn(
    runIn(
      root,
      `${EARLIER}start_earlier /var/lib/portcullis
/packages/earlier-agent --once --state-dir /var/lib/portcullis-agent
api hosts
stop_earlier
install -d -o portcullis -g portcullis -m 0700 /var/lib/restored
chmod 644 /packages/earlier.backup /packages/passphrase
as_service "PORTCULLIS_DATA_DIR=/var/lib/restored .node/node --disable-warning=ExperimentalWarning server/src/entry/restore.ts \\
  --file /packages/earlier.backup --passphrase-file /packages/passphrase"
start_earlier /var/lib/restored
/packages/earlier-agent --once --state-dir /var/lib/portcullis-agent
api hosts
stop_earlier
rm -rf /var/lib/restored`,
    ),
  )

/** Purges both packages and removes the checkout. Returns the paths that are left and were not there before. */
export const purgeAll = (root: DebianRoot, before: readonly string[]): string[] => {
  runIn(root, `dpkg -P portcullis-agent portcullis-server; rm -rf /${CHECKOUT}`)
  const known = new Set(before)
  return root.paths().filter((path) => !known.has(path))
}
