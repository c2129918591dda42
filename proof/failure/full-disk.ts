import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startDatabase, temporaryFolder } from '../kit/database.ts'
import { startFaultTest } from '../kit/fault-test.ts'
import { createServerMetrics } from '../kit/server-metrics.ts'
import { mountSmallDisk, whyNoSmallDisk } from '../kit/small-disk.ts'
import { answers, withClient } from '../kit/stored.ts'
import { atLeast, atMost, type Check, type Finding, type Outcome } from '../kit/verdict.ts'

const hosts = 32
/** A sign-in also needs disk space: a few dozen fit into the free space of the tables, then they have to wait. */
const signIns = 20
const read = ['agents?PageSize=50', 'admin/SubsystemHealth'].map((path) => `/prime/webui/${path}`)

interface Filled {
  findings: Finding[]
  notes: string[]
}

/** Fills the disk of the database's tables or of its WAL while hosts report and people sign in and read. */
const fillOne = async (what: 'data' | 'log', fullMs: number, root: string): Promise<Filled> => {
  const folder = temporaryFolder('full')
  const metrics = createServerMetrics()
  const disk = mountSmallDisk(join(folder, 'disk'), what === 'data' ? 160 : 128)
  try {
    const prepared = await startDatabase({ dataDir: folder })
    await prepared.stop()
    disk.take(join(prepared.clusterDir, what === 'data' ? 'base' : 'pg_wal'), what)
    const test = await startFaultTest({
      name: `full-${what}`,
      root,
      hosts,
      databaseOptions: { dataDir: folder },
      env: metrics.env,
      // The data directory is on the filled disk, so that the health check measures that disk.
      dataDir: join(folder, 'disk', 'server'),
    })
    try {
      const { call, signIn } = test.server()
      let token = await signIn()
      test.run()
      // Password hashing and reads allocate memory once and keep it, so warm up before measuring.
      await Promise.all(Array.from({ length: 8 }, () => signIn().catch(() => {})))
      for (let i = 0; i < 8; i++) for (const path of read) await call(path, undefined, token).catch(() => {})
      await pause(1_500)
      test.weighAnew()
      const before = await metrics.read(test.server().pid)
      const asked = { signIns: 0, reads: 0 }
      const failed = { signIns: [] as string[], reads: [] as string[] }
      const startedAt = performance.now()
      let signedInAt = 0
      let diskStatus = 'unknown'
      let isRefusing = false
      while (performance.now() - startedAt < fullMs) {
        disk.fill()
        // Short writes fit into the current 16 MB WAL segment, so request the next segment immediately.
        if (what === 'log')
          await withClient({ ...test.connection, user: 'postgres' }, (client) =>
            client.query('SELECT pg_switch_wal()'),
          ).catch(() => {})
        const before = test.acknowledged()
        if (performance.now() - signedInAt > fullMs / signIns) {
          signedInAt = performance.now()
          asked.signIns += 1
          token = await signIn().catch((error: Error) => {
            failed.signIns.push(error.message)
            return token
          })
        }
        asked.reads += 2
        for (const path of read)
          await call(path, undefined, token)
            .then((answer) => {
              const items = Array.isArray(answer) ? (answer as { name: string; status: string }[]) : []
              diskStatus = items.find(({ name }) => name === 'disk')?.status ?? diskStatus
            })
            .catch((error: Error) => failed.reads.push(error.message))
        test.weigh()
        await pause(300)
        isRefusing ||= test.acknowledged() === before
      }
      const isUp = await answers(test.connection)
      const after = await metrics.read(test.server().pid)
      disk.free()
      const freedAt = performance.now()
      while (!(await answers(test.connection)) && performance.now() - freedAt < 60_000) await pause(20)
      const databaseMs = performance.now() - freedAt
      const recoverMs = await test.untilAcknowledged()
      const isAlive = test.server().isRunning()
      const { findings, notes } = await test.settle()
      return {
        findings: [
          ...findings.filter((finding) => finding.what !== 'sent again'),
          atLeast('times that nothing more was acknowledged', isRefusing ? 1 : 0, 1),
          // A full WAL disk stops PostgreSQL itself, so reads fail too.
          ...(what === 'data'
            ? [
                atMost('sign-ins that failed', failed.signIns.length, 0),
                atMost('reads that failed', failed.reads.length, 0),
                atLeast('sign-ins that worked', asked.signIns - failed.signIns.length, 3),
                atLeast('health says Error of the disk', diskStatus === 'Error' ? 1 : 0, 1),
              ]
            : [atLeast('database stopped', isUp ? 0 : 1, 1)]),
          atMost('servers that died', isAlive ? 0 : 1, 0),
          atMost(
            'what lives in memory, growth',
            Math.round((after.heapUsed + after.external - before.heapUsed - before.external) / 2 ** 20),
            32,
            'MiB',
          ),
          atMost('memory grown', test.grownMiB(), 64, 'MiB'),
          // The server restarts PostgreSQL after 0.1 s, 0.2 s, 0.4 s and so on, up to 30 s.
          atMost('database back after', Math.round(databaseMs), 35_000, 'ms'),
          atMost('acknowledges again after', Math.round(recoverMs), 5_000, 'ms'),
        ],
        notes: [...notes, ...failed.signIns.slice(0, 1), ...failed.reads.slice(0, 1)],
      }
    } finally {
      disk.free()
      await test.stop()
    }
  } finally {
    disk.unmount()
  }
}

/** D5: fills the disk of the database. */
export const fullDisk: Check = {
  name: 'D5',
  isWaiting: true,
  what: `${hosts} hosts report while the disk of the PostgreSQL tables is filled completely, then the disk of its log. No acknowledged report is lost. Lists can be read, and people can sign in while the tables have space. Health reports the full disk, and everything recovers without a restart once there is space.`,
  run: async ({ isQuick, root }): Promise<Outcome> => {
    const why = whyNoSmallDisk()
    if (why !== undefined) return { findings: [], notRun: [`full disks: ${why}`] }
    const findings: Finding[] = []
    const notes: string[] = []
    for (const what of ['data', 'log'] as const) {
      const filled = await fillOne(what, isQuick ? 4_000 : 60_000, root)
      findings.push(...filled.findings.map((finding) => ({ ...finding, what: `${what}: ${finding.what}` })))
      notes.push(...filled.notes.map((note) => `${what}: ${note}`))
    }
    return { findings, notes }
  },
}
