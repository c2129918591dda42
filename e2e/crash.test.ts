import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { unless } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTransport } from '../cli/simulator/transport.ts'
import {
  adminPassword,
  type RunningServer,
  remove,
  spawnServer,
  startServer,
  temporaryDir,
  until,
} from '../proof/kit/harness.ts'
import { enrolReportingHost } from '../proof/kit/reporting-host.ts'
import { mountSmallDisk, whyNoSmallDisk } from '../proof/kit/small-disk.ts'
import { freePort } from '../server/test/free-port.ts'

const dirs: string[] = []
const folder = (): string => {
  const dir = temporaryDir()
  dirs.push(dir)
  return dir
}
afterAll(() => dirs.forEach(remove))
/** Returns the names of all files below a folder, except compiled code, which any start may store. */
const filesOf = (dir: string): string[] =>
  (readdirSync(dir, { recursive: true }) as string[]).filter((name) => !name.startsWith('code-cache')).sort()

describe('a server that is killed', () => {
  it('has stored all acknowledged reports, starts again with its orphaned database, and accepts the others once', async () => {
    const dataDir = folder()
    const env = { PORTCULLIS_ADMIN_PASSWORD: adminPassword, PORTCULLIS_PORT: String(await freePort()) }
    let server = await startServer(dataDir, env)
    const token = await server.enrolmentToken()
    const transport = createTransport({ server: new URL(server.url), connections: 8 })
    const hosts = await Promise.all(
      Array.from({ length: 8 }, (_, i) => enrolReportingHost(() => transport, token, `restless-${i}`)),
    )
    const running = hosts.map((host) => host.run())
    const total = () => hosts.reduce((sum, { reported }) => sum + reported.acknowledged.length, 0)
    const recovered: number[] = []
    for (let kill = 0; kill < 3; kill++) {
      const before = total()
      await until('check-ins flow', () => total() > before + 40, 20_000)
      server.child.kill('SIGKILL')
      await server.ended
      const at = performance.now()
      server = await startServer(dataDir, env)
      recovered.push(Math.round(performance.now() - at))
    }
    for (const host of hosts) host.stop()
    await Promise.all(running)
    transport.close()
    expect(hosts.flatMap(({ reported }) => reported.refused)).toEqual([])
    const resent = hosts.reduce((sum, { reported }) => sum + reported.resent, 0)
    console.log(`3 kills: ${total()} acknowledged, ${resent} sent again, up again after ${recovered.join(', ')} ms`)
    for (const { agentId, reported } of hosts) {
      const rows = await server.peripherals(agentId)
      expect(rows.map((row) => row.serialNumber).sort()).toEqual([...reported.acknowledged].sort())
      expect(rows.filter((row) => row.present).map((row) => row.serialNumber)).toEqual([reported.acknowledged.at(-1)])
    }
    const events = await server.events()
    expect(events.filter((e) => e.eventCode === '0x110001')).toHaveLength(total())
    const ids = events.map((e) => e.eventID)
    expect(ids[0]).toBe(ids.length)
    expect(await server.stop()).toBe(0)
  })
})

describe('a server that cannot start', () => {
  let server: RunningServer
  const dataDir = folder()
  beforeAll(async () => {
    server = await startServer(dataDir)
  })
  afterAll(async () => {
    await server.stop()
  })

  /** Checks that the server prints one line with the reason, no stack, and exits with 1. */
  const refuses = async (dir: string, env: Record<string, string>, sentence: RegExp) => {
    const started = spawnServer(dir, env)
    const { value: code } = await until(
      `the refusal:\n${started.output()}`,
      async () => {
        const ended = await Promise.race([started.ended, new Promise((resolve) => setTimeout(resolve, 50, 'no'))])
        return ended === 'no' ? undefined : { ended }
      },
      60_000,
    )
    expect([code.ended, started.output()]).toEqual([1, expect.stringMatching(sentence)])
    expect(started.output()).not.toMatch(/\n\s+at /)
    const lines = started
      .output()
      .trim()
      .split('\n')
      .filter((line) => !line.startsWith('{'))
    expect(lines).toHaveLength(1)
  }

  it('reports that the port is in use, before it creates anything', async () => {
    const data = folder()
    await refuses(
      data,
      { PORTCULLIS_PORT: new URL(server.url).port },
      /^Port \d+ on 127\.0\.0\.1 is already in use\..*\.$/m,
    )
    expect(filesOf(data)).toEqual([])
    // No first password was created, so the first start with a free port prints it.
    const next = await startServer(data, {})
    await next.stop()
    expect(next.output()).toMatch(/^First sign-in: user admin, password \S+/m)
  })

  it('reports that another server uses the same data, which keeps running', async () => {
    await refuses(dataDir, {}, /.*(another|already|second|running).*\.$/im)
    // The same port as well: the data directory is the better reason.
    await refuses(dataDir, { PORTCULLIS_PORT: new URL(server.url).port }, /^Portcullis is already running on .*\.$/m)
    expect((await server.request('/readyz')).status).toBe(200)
    expect((await server.agents()).length).toBe(0)
  })

  it.each([
    [
      'of a newer release',
      '99\n',
      /contains a database of PostgreSQL 99, but .*\. Use the release that created it, .*\.$/m,
    ],
    [
      'without a usable database',
      null,
      /contains no usable database\. Restore a backup into an empty data directory .*\.$/m,
    ],
  ])('leaves a data directory %s as it is, and says what to do', async (_what, version, sentence) => {
    const data = folder()
    mkdirSync(join(data, 'postgres'))
    if (version !== null) writeFileSync(join(data, 'postgres', 'PG_VERSION'), version)
    const before = filesOf(data)
    await refuses(data, {}, sentence)
    expect(filesOf(data)).toEqual(before)
  })

  it('says what to do about damaged data, and repairs nothing', async () => {
    const data = folder()
    const first = await startServer(data, {})
    await first.stop()
    const control = join(data, 'postgres', 'global', 'pg_control')
    const [intact, keyFile] = [readFileSync(control), join(data, 'portcullis.key')]
    writeFileSync(control, Buffer.alloc(intact.length))
    await refuses(data, {}, /^The database did not start: .*\. If the data is damaged, restore a backup .*$/m)
    expect(readFileSync(control).equals(Buffer.alloc(intact.length))).toBe(true)
    writeFileSync(control, intact)
    const key = readFileSync(keyFile)
    writeFileSync(keyFile, key.subarray(0, 20))
    await refuses(data, {}, /^The key file .* is damaged\. Restore it from its copy\.$/m)
    expect(readFileSync(keyFile)).toEqual(key.subarray(0, 20))
    writeFileSync(keyFile, key)
    await (await startServer(data, {})).stop()
  })

  it('says that the disk is full, and leaves nothing', unless(whyNoSmallDisk() ?? null), async () => {
    const parent = folder()
    // The user of the database must be able to enter it.
    chmodSync(parent, 0o711)
    const data = join(parent, 'disk')
    const disk = mountSmallDisk(data, 8)
    try {
      await refuses(data, {}, /^There is no space left .*\. Free some space, .*\.$/m)
      expect(filesOf(data)).toEqual([])
      disk.fill()
      await refuses(data, {}, /^There is no space left .*\. Free some space, .*\.$/m)
      expect(filesOf(data)).toEqual(['ballast'])
    } finally {
      disk.unmount()
    }
  })

  it('reports that the data directory cannot be written', async () => {
    // Not even root can create folders in /proc.
    await refuses('/proc/portcullis', {}, /\/proc\/portcullis.*\.$/m)
    const dir = folder()
    writeFileSync(join(dir, 'file'), '')
    await refuses(join(dir, 'file'), {}, /file.*\.$/m)
  })

  it('names an unknown or invalid setting', async () => {
    await refuses(folder(), { PORTCULLIS_PROT: '1' }, /PORTCULLIS_PROT/)
    await refuses(folder(), { PORTCULLIS_PORT: '80a' }, /PORTCULLIS_PORT must be a number/)
    await refuses(folder(), { PORTCULLIS_ADMIN_PASSWORD: 'short' }, /12 to 128 characters/)
  })
})
