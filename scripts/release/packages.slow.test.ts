import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ensureBuilds } from '../bootstrap/builds.mjs'
import { writeDeb } from './deb.ts'
import { createDebianRoot, type DebianRoot, type Suite, whyNoDebianRoot } from './debian-root.ts'
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

const digestOf = (file: string): string => createHash('sha256').update(readFileSync(file)).digest('hex')

describe.each<[Suite]>([['bookworm'], ['trixie']])('the .deb of the server on Debian %s', (suite) => {
  describe('installed', unless(whyNot), () => {
    let root: DebianRoot
    let before: string[]

    beforeAll(async () => {
      await prepare()
      root = createDebianRoot(suite)
      before = root.paths()
    }, 600_000)
    afterAll(() => root?.remove())

    it('creates its user and an enabled unit, and the server runs as that user', () => {
      const ran = root.run(`dpkg -i ${root.add(build.deb)}
getent passwd portcullis | cut -d: -f6,7; stat -c '%U %a' /var/lib/portcullis
test -L /etc/systemd/system/multi-user.target.wants/portcullis.service
portcullis --version
${START}start; ask / && echo console; ask /agent/v1/install.sh && echo agents; cli status | head -n 1; stop`)
      expect(ran.all).toContain('/var/lib/portcullis:/usr/sbin/nologin\nportcullis 700\n')
      expect(ran.all).toMatch(/^0\.2\.0$/m)
      expect(ran.all).toMatch(/^console\nagents\n\w+: version/m)
      expect(ran.status, ran.all).toBe(0)
    }, 300_000)

    it('keeps its data in an upgrade and in the way back, and its files stay as packaged', () => {
      const ran = root.run(`echo PORTCULLIS_LOG_LEVEL=debug >>/etc/portcullis/portcullis.env
dpkg -i --force-confold ${root.add(build.next)}; dpkg-query -W portcullis-server; sha256sum /var/lib/portcullis/portcullis.key
${START}start; cli status | head -n 1; stop
dpkg -i --force-confold ${root.add(build.deb)}; dpkg-query -W portcullis-server; sha256sum /var/lib/portcullis/portcullis.key
start; cli status | head -n 1; stop
grep -c debug /etc/portcullis/portcullis.env; echo "verify:"; dpkg -V portcullis-server`)
      expect(ran.status, ran.all).toBe(0)
      expect(ran.out).toContain('portcullis-server\t9.9.9~rc.1')
      expect(ran.out).toMatch(
        /portcullis-server\t0\.2\.0[\s\S]*1\nverify:\n(..5...... c \/etc\/portcullis\/portcullis.env\n)?$/,
      )
      expect(new Set([...ran.out.matchAll(/^([0-9a-f]{64}) /gm)].map((match) => match[1])).size).toBe(1)
    }, 300_000)

    it('says what it keeps when it is removed, and leaves only a mounted share behind when it is purged', () => {
      const removed = root.run('dpkg -r portcullis-server; test -e /var/lib/portcullis/portcullis.key')
      expect([removed.status, removed.out]).toEqual([0, expect.stringContaining('kept /var/lib/portcullis')])
      const purged = root.run(`backups=/var/lib/portcullis/backups; mkdir -p $backups; mount -t tmpfs share $backups
echo "share kept" >$backups/newest
dpkg -P portcullis-server; ! getent passwd portcullis; ! getent group portcullis
cat $backups/newest; umount $backups; find /var/lib/portcullis -mindepth 1 -not -path $backups; rm -r /var/lib/portcullis`)
      expect(purged.out).toContain('removed the user portcullis, and /var/lib/portcullis except the file systems')
      expect(purged.out.endsWith('share kept\n'), purged.out).toBe(true)
      expect(purged.status, purged.all).toBe(0)
      expect(root.paths()).toEqual(before)
    }, 60_000)
  })
})

describe('the .rpm of the server', unless(whyNoRpm), () => {
  let root: DebianRoot

  beforeAll(async () => {
    await prepare()
    root = createDebianRoot('bookworm')
  }, 600_000)
  afterAll(() => root?.remove())

  const rpm = (...args: string[]) => {
    const done = spawnSync('rpm', ['--root', root.dir, ...args], { encoding: 'utf8' })
    return { status: done.status, all: `${done.stdout}${done.stderr}` }
  }

  it('is installed, started, upgraded and removed with its scripts', () => {
    const before = root.paths()
    const installed = rpm('--force-debian', '--nodeps', '-i', build.rpm)
    expect(installed).toEqual({ status: 0, all: '' })
    expect(rpm('-V', '--nodeps', 'portcullis-server')).toEqual({ status: 0, all: '' })
    const ran = root.run(`getent passwd portcullis | cut -d: -f6,7; ${START}start; cli status | head -n 1; stop`)
    expect(ran.status, ran.all).toBe(0)
    expect(ran.all).toContain('/var/lib/portcullis:/usr/sbin/nologin\n')
    expect(rpm('--force-debian', '--nodeps', '-U', build.nextRpm)).toMatchObject({ status: 0 })
    expect(rpm('-q', 'portcullis-server').all).toContain('9.9.9~rc.1')
    const removed = rpm('-e', 'portcullis-server')
    expect(removed).toEqual({ status: 0, all: expect.stringContaining('kept /var/lib/portcullis') })
    expect(existsSync(join(root.dir, 'usr/lib/portcullis'))).toBe(false)
    const left = root.paths().filter((path) => !before.includes(path) && !path.startsWith('/var/lib/portcullis'))
    expect(left).toEqual([])
  }, 300_000)
})

describe('packages', unless(whyNoRpm), () => {
  beforeAll(prepare, 600_000)

  it('have the same bytes when they are built again', async () => {
    const again = await pack('0.2.0', 'again')
    expect([digestOf(again.deb), digestOf(again.rpm)]).toEqual([digestOf(build.deb), digestOf(build.rpm)])
  }, 300_000)
})

const build = { deb: '', rpm: '', next: '', nextRpm: '' }
const dir = mkdtempSync(join(tmpdir(), 'portcullis-packages-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))

/** Stages the server once; packages of other versions contain the same files. */
let staged: Promise<string> | undefined
const stage = (): Promise<string> => {
  staged ??= ensureBuilds(process.execPath, ['console', 'agent']).then(() =>
    stageServer({ target, version: '0.2.0', draft: dir }),
  )
  return staged
}

async function pack(version: string, name: string) {
  const draft = join(dir, name)
  mkdirSync(draft)
  const copy = join(draft, basename(await stage()))
  // Hard links, because each copy has 370 MB. Packages of other versions give the files the same time and permissions.
  expect(spawnSync('cp', ['-al', await stage(), copy]).status).toBe(0)
  const one = serverPackage({ staged: copy, target, version, seconds, draft, level: 0 })
  const files = { deb: writeDeb(one), rpm: whyNoRpm === null ? writeRpm(one) : '' }
  rmSync(one.root, { recursive: true })
  return files
}

async function prepare(): Promise<void> {
  if (build.deb !== '') return
  Object.assign(build, await pack('0.2.0', 'first'))
  const next = await pack('9.9.9-rc.1', 'next')
  Object.assign(build, { next: next.deb, nextRpm: next.rpm })
  expect(statSync(build.deb).size).toBeGreaterThan(50e6)
}
