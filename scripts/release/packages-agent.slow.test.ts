import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilds } from '../bootstrap/builds.mjs'
import { ROOT } from '../bootstrap/say.mjs'
import { writeDeb } from './deb.ts'
import { createDebianRoot, type DebianRoot, whyNoDebianRoot } from './debian-root.ts'
import { agentPackage } from './packages-agent.ts'
import { serverPackage } from './packages-server.ts'
import { START } from './packages-testing.ts'
import { writeRpm } from './rpm.ts'
import { stageServer } from './server.ts'
import { TARGETS } from './targets.ts'

const target = TARGETS.find(({ arch }) => arch === process.arch) as (typeof TARGETS)[number]
const seconds = 1_700_000_000
const has = (program: string): boolean => spawnSync(program, ['--version']).error === undefined
const whyNot = whyNoDebianRoot() ?? (has('dpkg-deb') ? null : 'dpkg-deb is missing (apt-get install dpkg)')
const whyNoRpm = whyNot ?? (has('rpmbuild') && has('rpm') ? null : 'rpmbuild is missing (apt-get install rpm)')

/** Shell functions that do for the agent what systemd does, and ask the server about it. */
const AGENT = `
export PORTCULLIS_AGENT_SYSFS_ROOT=/packages/sys PORTCULLIS_AGENT_MONITOR_COMMAND=none
mkdir -p /packages/sys/bus/usb/devices
supervise() {
  while [ ! -e /packages/stop ]; do
    INVOCATION_ID=test /usr/lib/portcullis-agent/launcher >>/packages/agent.log 2>&1 || true
    SERVICE_RESULT=success /usr/lib/portcullis-agent/launcher restore >>/packages/agent.log 2>&1 || true
    sleep 0.2
  done
}
node() { /usr/lib/portcullis/node/bin/node --disable-warning=ExperimentalWarning "$@"; }
# Signs in, updates all hosts if asked, and waits until the only host reports a version.
cat >/packages/api.mjs <<'END'
const [version, update] = process.argv.slice(2)
const url = 'http://127.0.0.1:8080/prime/webui/'
const call = async (path, token, body) => {
  const headers = { 'content-type': 'application/json', ...(token && { authorization: 'Bearer ' + token }) }
  const answer = await fetch(url + path, { headers, ...(body && { method: 'POST', body: JSON.stringify(body) }) })
  if (!answer.ok) throw new Error(path + ': ' + (await answer.text()))
  return answer.json()
}
const { token } = await call('Auth/LocalLogin', null, { username: 'admin', password: 'correct horse battery staple' })
if (update) {
  const { data } = await call('agents', token)
  await call('agents/updateAgents', token, data.map((host) => host.uuid))
}
let seen
for (let i = 0; i < 300; i++) {
  const { data, recordsTotal } = await call('agents', token)
  seen = recordsTotal + ' host, version ' + data[0]?.serviceVersion
  if (seen === '1 host, version ' + version) break
  await new Promise((done) => setTimeout(done, 200))
}
console.log(seen)
END
reports() { node /packages/api.mjs "$@"; }
`

describe('the packages of the agent', unless(whyNot), () => {
  const dir = mkdtempSync(join(tmpdir(), 'portcullis-packages-'))
  const cli = (...args: string[]) => {
    const done = spawnSync(process.execPath, ['cli/src/main.ts', ...args], { cwd: ROOT, encoding: 'utf8' })
    if (done.status !== 0) throw new Error(done.stderr)
  }
  const agentOf = (version: string): string => {
    const out = join(dir, `agent-${version}`)
    const done = spawnSync(
      process.execPath,
      ['scripts/build-agent.mjs', '--agent-version', version, join(ROOT, 'agent/src/main.ts'), out],
      {
        cwd: ROOT,
        encoding: 'utf8',
        env: { ...process.env, PORTCULLIS_RELEASE_KEY_FILE: join(dir, 'release-key.pub') },
      },
    )
    if (done.status !== 0) throw new Error(done.stderr)
    return join(out, `portcullis-agent-${target.name}`)
  }
  const agentPackageOf = (version: string) => {
    const draft = join(dir, version)
    mkdirSync(draft)
    return agentPackage({ executable: agentOf(version), target, version, seconds, draft, level: 0 })
  }
  const debs = { server: '', first: '', next: '' }
  let root: DebianRoot
  let before: string[]

  beforeAll(async () => {
    cli('release-key', 'new', '--out', join(dir, 'release.key'))
    await ensureBuilds(process.execPath, ['console', 'agent'])
    const staged = await stageServer({ target, version: '0.2.0', draft: dir })
    debs.server = writeDeb(serverPackage({ staged, target, version: '0.2.0', seconds, draft: dir, level: 0 }))
    debs.first = writeDeb(agentPackageOf('0.2.0'))
    debs.next = writeDeb(agentPackageOf('0.2.2'))
    root = createDebianRoot('bookworm')
    before = root.paths()
  }, 600_000)
  afterAll(() => {
    root?.remove()
    rmSync(dir, { recursive: true, force: true })
  })

  it('enrol a host, keep updates outside the package, and follow newer and older packages', () => {
    const signed = join(dir, 'agent.pkg')
    const [key, version] = [join(dir, 'release.key'), '0.2.1']
    cli(
      ...['package', 'sign', agentOf(version), '--version', version, '--architecture', target.arch],
      ...['--key', key, '--out', signed],
    )
    root.add(join(dir, 'release-key.pub'))
    const ran = root.run(
      `dpkg -i ${root.add(debs.server)} ${root.add(debs.first)}
${AGENT}${START}with="PORTCULLIS_RELEASE_KEY_FILE=/packages/release-key.pub"
start
cli --json enrolment create-token --name first >/packages/token.json
node -p 'JSON.parse(fs.readFileSync("/packages/token.json", "utf8")).token' >/packages/token
chmod 600 /packages/token
echo "before: $(portcullis-agent status 2>&1 | head -n 1)"
portcullis-agent enrol --server http://127.0.0.1:8080 --token-file /packages/token
supervise & supervisor=$!
reports 0.2.0
cli package publish ${root.add(signed)}
reports 0.2.1 update
echo "root runs $(portcullis-agent --version), others run $(setpriv --reuid=nobody --clear-groups portcullis-agent --version)"
ls /var/lib/portcullis-agent/versions
echo "verified: $(dpkg -V portcullis-agent)"
# Without systemd, the package cannot restart the agent.
restart() { kill "$(head -n 1 /var/lib/portcullis-agent/lock | grep -o '[0-9]*' | head -n 1)"; }
dpkg -i ${root.add(debs.next)}; restart
reports 0.2.2
echo "left: $(ls /var/lib/portcullis-agent/versions)"
dpkg -i ${root.add(debs.first)}; restart
reports 0.2.0
echo "verified: $(dpkg -V portcullis-agent)"
touch /packages/stop; restart; wait $supervisor
stop`,
      { timeoutMs: 240_000 },
    )
    expect(ran.status, ran.all).toBe(0)
    expect(ran.out).toMatch(/^Done\. This host is enrolled/m)
    const lines = ran.out
      .split('\n')
      .filter((line) => /^(1 host|root runs|portcullis-agent(\.|$)|verified|left)/.test(line))
    expect(lines).toEqual([
      '1 host, version 0.2.0',
      '1 host, version 0.2.1',
      'root runs 0.2.1, others run 0.2.0',
      'portcullis-agent',
      'portcullis-agent.signed',
      'verified: ',
      '1 host, version 0.2.2',
      'left: ',
      '1 host, version 0.2.0',
      'verified: ',
    ])
  }, 300_000)

  it('leave nothing behind when they are purged', () => {
    const removed = root.run('dpkg -r portcullis-agent; test -e /var/lib/portcullis-agent/identity.json')
    expect([removed.status, removed.out]).toEqual([0, expect.stringContaining('kept /var/lib/portcullis-agent')])
    const purged = root.run('dpkg -P portcullis-agent portcullis-server')
    expect([purged.status, purged.out]).toEqual([0, expect.stringContaining('removed /var/lib/portcullis-agent')])
    expect(root.paths()).toEqual(before)
  }, 60_000)

  it.skipIf(whyNoRpm !== null)(
    'install and remove the .rpm with its scripts, over an agent of the install script',
    () => {
      const one = agentPackageOf('0.2.3')
      const file = writeRpm(one)
      mkdirSync(join(root.dir, 'usr/local/lib/portcullis'), { recursive: true })
      writeFileSync(join(root.dir, 'usr/local/lib/portcullis/portcullis-agent'), '#!/bin/sh\necho 0.1.0\n', {
        mode: 0o755,
      })
      const rpm = (...args: string[]) => {
        const done = spawnSync('rpm', ['--root', root.dir, ...args], {
          encoding: 'utf8',
          env: { PATH: process.env.PATH ?? '', HOME: process.env.HOME ?? '' },
        })
        return { status: done.status, all: `${done.stdout}${done.stderr}` }
      }
      const replaced = { status: 0, all: expect.stringContaining('replaced the agent of the install script') }
      expect(rpm('--force-debian', '--nodeps', '-i', file)).toEqual(replaced)
      expect(existsSync(join(root.dir, 'usr/local/lib/portcullis'))).toBe(false)
      expect(rpm('-V', '--nodeps', 'portcullis-agent')).toEqual({ status: 0, all: '' })
      expect(root.run('portcullis-agent --version').out).toBe('0.2.3\n')
      expect(readFileSync(join(root.dir, 'usr/lib/systemd/system/portcullis-agent.service'), 'utf8')).toContain(
        'ExecStart=/usr/lib/portcullis-agent/launcher\n',
      )
      expect(rpm('-e', 'portcullis-agent')).toMatchObject({ status: 0 })
      expect(root.paths()).toEqual(before)
    },
    120_000,
  )
})
