/** D14: makes backups and restores a fleet from them. */

import { execFile } from 'node:child_process'
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { permissionsOf } from '@portcullis/features/contract.ts'
import { leftOut } from '../../platform/server/backup/index.ts'
import { freePort } from '../../server/test/free-port.ts'
import { startDatabase, temporaryFolder } from '../kit/database.ts'
import { startFaultTest } from '../kit/fault-test.ts'
import { loadBeneath } from '../kit/fleet.ts'
import { type ServerProcess, startServerProcess } from '../kit/server.ts'
import { type Connection, withClient } from '../kit/stored.ts'
import { amount, atLeast, atMost, type Check, type Finding, figure, type Outcome } from '../kit/verdict.ts'
import { archiveNow, baseBackup, keepLog, recover } from '../kit/wal-archive.ts'

const hosts = 16
const run = promisify(execFile)

/** Runs `portcullis …` and returns its output. */
const portcullis = async (root: string, args: readonly string[], env: Record<string, string>): Promise<string> => {
  const { stdout, stderr } = await run(process.execPath, [join(root, 'cli/src/main.ts'), ...args], {
    cwd: root,
    env: { PATH: process.env.PATH ?? '', ...env },
    maxBuffer: 16 * 2 ** 20,
  })
  return stdout + stderr
}

/** Returns one hash per table. The order of rows does not matter. */
const hashes = (connection: Connection): Promise<Map<string, string>> =>
  withClient(connection, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      "SELECT relname AS name FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1",
    )
    const found = new Map<string, string>()
    for (const { name } of rows) {
      const { rows: one } = await client.query<{ hash: string }>(
        `SELECT count(*) || ' ' || coalesce(md5(string_agg(h, '' ORDER BY h)), '') AS hash FROM (SELECT md5(t::text) AS h FROM "${name}" t) x`,
      )
      found.set(name, one[0]?.hash ?? '')
    }
    return found
  })

const serialsOf = (connection: Connection): Promise<Set<string>> =>
  withClient(connection, async (client) => {
    const { rows } = await client.query<{ serial: string }>(
      "SELECT serial FROM peripherals WHERE serial LIKE 'saved-%'",
    )
    return new Set(rows.map(({ serial }) => serial))
  })

/** Rotates the keys and returns the final state of the job. A rotation has to open every sealed secret. */
const rotationOf = async (server: ServerProcess): Promise<string> => {
  const token = await server.signIn()
  const { jobId } = await server.call('/prime/webui/generalconfig/RotateKeys', {}, token)
  for (let tries = 0; tries < 200; tries++) {
    const { state } = await server.call(`/prime/webui/jobs/${jobId}`, undefined, token)
    if (state === 'completed' || state === 'failed') return state
    await pause(100)
  }
  return 'still running'
}

const archived = async (root: string, isQuick: boolean): Promise<Finding[]> => {
  const folder = temporaryFolder('archive')
  const archive = join(folder, 'wal')
  const base = join(folder, 'base')
  const prepared = await startDatabase({ dataDir: join(folder, 'first') })
  await keepLog(prepared.connection, prepared.clusterDir, archive)
  await prepared.stop()
  const test = await startFaultTest({
    name: 'saved',
    root,
    hosts,
    databaseOptions: { dataDir: join(folder, 'first') },
  })
  const said = (): string[] => test.fleet.flatMap(({ reported }) => reported.acknowledged)
  let before: string[] = []
  let between: string[] = []
  let moment = ''
  let atEnd: string[] = []
  try {
    test.run(10)
    await pause(500)
    await baseBackup(test.connection, test.clusterDir, base)
    await pause(isQuick ? 500 : 5_000)
    before = said()
    moment = await withClient(test.connection, async (client) => {
      const { rows } = await client.query<{ now: string }>('SELECT clock_timestamp()::text AS now')
      return rows[0]?.now ?? ''
    })
    // Reports in transit at this moment may be stored before or after it.
    between = [...said(), ...test.fleet.flatMap(({ pending }) => pending() ?? [])]
    await pause(isQuick ? 500 : 5_000)
    atEnd = said()
    await archiveNow(test.connection)
    test.signalDatabase('SIGKILL')
    await test.server().end('SIGKILL')
    for (const host of test.fleet) host.stop()
  } finally {
    await test.stop()
    // Only the base backup and the archive are left.
    rmSync(join(folder, 'first'), { recursive: true, force: true })
  }
  const startedAt = performance.now()
  const whole = await recover(base, archive, join(folder, 'whole'), null)
  const recoverMs = performance.now() - startedAt
  const stored = await serialsOf(whole.connection)
  await whole.stop()
  const then = await recover(base, archive, join(folder, 'then'), moment)
  const storedThen = await serialsOf(then.connection)
  await then.stop()
  const later = new Set(between)
  return [
    atLeast('archive: acknowledged', atEnd.length, hosts),
    atMost('archive: lost', atEnd.filter((serial) => !stored.has(serial)).length, 0),
    atMost('archive: recovered within', Math.round(recoverMs), 600_000, 'ms'),
    atMost(
      'to a moment: lost of what was acknowledged before it',
      before.filter((serial) => !storedThen.has(serial)).length,
      0,
    ),
    atMost(
      'to a moment: there although it came after it',
      atEnd.filter((serial) => !later.has(serial) && storedThen.has(serial)).length,
      0,
    ),
    atLeast('to a moment: acknowledged after it', atEnd.filter((serial) => !later.has(serial)).length, 1),
  ]
}

export const restoreBackup: Check = {
  name: 'D14',
  isWaiting: true,
  what: 'A fleet of 10,000 hosts (1,000 in the short form) is backed up with `portcullis backup make` while hosts report. It is destroyed and restored with `portcullis restore`, with and without the key file. Tables are compared by hash, and hosts continue at the restored server. The drill repeats this with a base backup and a log archive, to its end and to a point in time.',
  run: async ({ isQuick, root }): Promise<Outcome> => {
    const agents = isQuick ? 1_000 : 10_000
    const folder = temporaryFolder('restore')
    const passphrase = join(folder, 'passphrase')
    writeFileSync(passphrase, 'a passphrase for the drill only', { mode: 0o600 })
    const [withKeys, withoutKeys] = [join(folder, 'with.backup'), join(folder, 'without.backup')]
    const findings: Finding[] = []
    await using test = await startFaultTest({ name: 'saved', root, hosts, databaseOptions: {} })
    await using second = await startDatabase()
    await using third = await startDatabase()
    const serve = (databaseUrl: string, dataDir: string) => async (): Promise<ServerProcess> =>
      startServerProcess({
        databaseUrl,
        dataDir: join(folder, dataDir),
        port: await freePort(),
        root,
        env: { PORTCULLIS_ALLOW_NEW_KEY: '1' },
      })
    const first = test.server()
    await loadBeneath(test, agents, 300)
    const admin = await first.signIn()
    await first.call(
      '/prime/webui/generalconfig/AddOrUpdateSMPTConfig',
      { SMTP_HOST: 'mail.example.org', SMTP_FROM: 'p@example.org', SMTP_PASSWORD: 'a secret of the drill' },
      admin,
    )
    const { token } = await first.call(
      '/prime/webui/admin/apiTokens',
      { name: 'drill', scopes: permissionsOf(10) },
      admin,
    )
    const tokenFile = join(folder, 'token')
    writeFileSync(tokenFile, String(token), { mode: 0o600 })
    const client = ['--server', first.url, '--token-file', tokenFile]

    test.run(20)
    await pause(1_000)
    const before = test.fleet.flatMap(({ reported }) => [...reported.acknowledged])
    const backupAt = performance.now()
    const keys = ['--with-keys', '--passphrase-file', passphrase]
    await portcullis(root, ['backup', 'make', '--out', withKeys, ...keys], {
      DATABASE_URL: test.databaseUrl,
      PORTCULLIS_DATA_DIR: test.dataDir,
    })
    const backupMs = performance.now() - backupAt
    const after = test.acknowledged()
    for (const host of test.fleet) host.stop()
    await pause(1_000)
    const earlier = await hashes(test.connection)
    await portcullis(root, [...client, 'backup', 'make', '--out', withoutKeys], {})
    await first.end()
    const original = await hashes(test.connection)

    // From here on, the first database and its key file are not used.
    const dataDir = join(folder, 'second')
    const restoreAt = performance.now()
    await portcullis(root, ['restore', withKeys, '--passphrase-file', passphrase], {
      DATABASE_URL: second.url,
      PORTCULLIS_DATA_DIR: dataDir,
    })
    const isSameKey =
      existsSync(join(dataDir, 'portcullis.key')) &&
      readFileSync(join(dataDir, 'portcullis.key'), 'utf8') ===
        readFileSync(join(test.dataDir, 'portcullis.key'), 'utf8')
    const there = await serialsOf(second.connection)
    const restored = await serve(second.url, 'second')()
    test.moveTo(restored)
    const host = await test.fleet[0]?.again()
    const restoreMs = performance.now() - restoreAt
    const opened = await rotationOf(restored)
    await restored.end()

    const said = await portcullis(root, ['restore', withoutKeys], {
      DATABASE_URL: third.url,
      PORTCULLIS_DATA_DIR: join(folder, 'third'),
    })
    const now = await hashes(third.connection)
    // Rows that the server wrote between the two readings (sessions, health) cannot be compared.
    const compared = [...original].filter(
      ([name, hash]) => !leftOut.includes(name) && earlier.get(name) === hash && now.has(name),
    )
    const different = compared.filter(([name, hash]) => now.get(name) !== hash)
    const bare = await serve(third.url, 'third')()
    const openedBare = await rotationOf(bare)
    await bare.end()
    const fleetTables = ['agents', 'agent_rows', 'peripherals', 'designs', 'events', 'models', 'tags', 'config_items']
    findings.push(
      atLeast(amount(isQuick, 'hosts'), agents, agents),
      atLeast('acknowledged before the backup began', before.length, hosts),
      atMost('lost of those', before.filter((serial) => !there.has(serial)).length, 0),
      figure('acknowledged while it was made', after - before.length),
      figure('backup', Math.round(statSync(withKeys).size / 1_024), 'KiB'),
      figure('backup made within', Math.round(backupMs), 'ms'),
      atMost('from the restore to the first report', Math.round(restoreMs), 600_000, 'ms'),
      atLeast('hosts that go on with their identity', host === true ? 1 : 0, 1),
      // Leaving out another table on purpose requires raising this bar; otherwise it is a mistake.
      atMost('tables left out', leftOut.length, 14),
      atLeast('tables compared', compared.length, 50),
      atLeast(
        'tables of the fleet compared',
        fleetTables.filter((name) => compared.some(([one]) => one === name)).length,
        fleetTables.length,
      ),
      atMost('tables that differ', different.length, 0),
      atLeast('key file as it was', isSameKey ? 1 : 0, 1),
      atLeast('secrets open with the key file', opened === 'completed' ? 1 : 0, 1),
      atMost('secrets open without it', openedBare === 'failed' ? 0 : 1, 0),
      atLeast(
        'says that the key file is missing',
        said.includes('The backup does not contain the key file') ? 1 : 0,
        1,
      ),
    )
    findings.push(...(await archived(root, isQuick)))
    return {
      findings,
      notes: [
        ...different.map(([name]) => `${name} differs`),
        `rotation with the key ${opened}, without ${openedBare}`,
      ],
    }
  },
}
