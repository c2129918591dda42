/** D13: runs a new release beside the old one, then goes back. */

import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../../server/test/free-port.ts'
import { temporaryFolder } from '../kit/database.ts'
import { startFaultTest } from '../kit/fault-test.ts'
import { loadBeneath } from '../kit/fleet.ts'
import { watchLocks } from '../kit/locks.ts'
import { previousRelease, unpackRelease } from '../kit/other-release.ts'
import { startProbe } from '../kit/probe.ts'
import { type ServerProcess, startServerProcess } from '../kit/server.ts'
import { withClient } from '../kit/stored.ts'
import { atLeast, atMost, type Check, type Outcome } from '../kit/verdict.ts'
import { checkOperators, createOperators } from './upgraded-operators.ts'

const hosts = 16

export const upgrade: Check = {
  name: 'D13',
  isWaiting: true,
  what: 'The previous release serves 10,000 hosts (1,000 in the short form). The current release is started on the same database and migrates it. Both serve the same hosts and people, then the current one is stopped and the previous one continues. Accounts, rules and API tokens of the previous release are kept. Tokens without scopes are marked and lose operations that need fresh authentication. No request fails, and no table is locked for longer than a second. Finally, the current release starts on a database to which a later one has added.',
  run: async ({ isQuick, root, from }): Promise<Outcome> => {
    const name = from ?? previousRelease()
    if (name === undefined)
      return { findings: [], notRun: ['upgrade: the Git history does not contain the previous release'] }
    const folder = temporaryFolder('upgrade')
    const release = unpackRelease(name)
    const env = { PORTCULLIS_KEY_FILE: join(folder, 'portcullis.key') }
    try {
      const test = await startFaultTest({ name: 'upgraded', root: release.root, hosts, env })
      const started: ServerProcess[] = []
      const startNew = async (): Promise<ServerProcess> => {
        const server = await startServerProcess({
          databaseUrl: test.databaseUrl,
          dataDir: join(folder, `new-${started.length}`),
          port: await freePort(),
          root,
          env,
        })
        started.push(server)
        return server
      }
      try {
        const old = test.server()
        await loadBeneath(test, isQuick ? 1_000 : 10_000, 300, release.root)
        const operators = await createOperators(old)
        const headers = { authorization: `Bearer ${await old.signIn()}` }
        const reader = { path: '/prime/webui/agents?PageSize=50', perSecond: 20, headers }
        const schemaOf = (): Promise<number> =>
          withClient(test.connection, async (client) => {
            const { rows } = await client.query<{ n: number }>('SELECT count(*)::int AS n FROM schema_migrations')
            return rows[0]?.n ?? 0
          })
        const schemaBefore = await schemaOf()
        const atOld = startProbe({ ...reader, url: old.url })
        test.run(20)
        await pause(500)
        const failed = (): number => test.fleet.reduce((sum, { reported }) => sum + reported.resent, 0)
        const before = failed()
        const locks = await watchLocks(test.connection)
        const startedAt = performance.now()
        const fresh = await startNew()
        const upgradeMs = performance.now() - startedAt
        const { longestMs, table } = await locks.stop()
        const migrations = (await schemaOf()) - schemaBefore
        const atNew = startProbe({ ...reader, url: fresh.url })
        test.shareWith(fresh)
        await pause(isQuick ? 2_000 : 30_000)
        const kept = await checkOperators(fresh, operators)
        test.shareWith(undefined)
        const readNew = await atNew.stop()
        await pause(200)
        await fresh.end()
        await pause(isQuick ? 1_000 : 10_000)
        const readOld = await atOld.stop()
        const failedHosts = failed() - before
        const { findings, notes } = await test.settle()
        await old.end()
        // A later release may add to the schema and record it. The previous release must start on such a schema.
        await withClient(test.connection, async (client) => {
          await client.query('ALTER TABLE agents ADD COLUMN of_a_later_release int')
          await client.query("INSERT INTO schema_migrations (version, name, checksum) VALUES (9999, 'later', '')")
        })
        const again = await startNew().then(
          async (server) => ({ ok: (await server.signIn()) !== '', why: '' }),
          (error: Error) => ({ ok: false, why: error.message }),
        )
        return {
          findings: [
            atLeast('migrations', migrations, 1),
            atMost('new release serves after', Math.round(upgradeMs), 120_000, 'ms'),
            atMost('longest lock of a table', longestMs, 1_000, 'ms'),
            ...findings,
            ...kept,
            atMost('failed requests of hosts', failedHosts, 0),
            atLeast('reads at the old release', readOld.sent, 10),
            atMost('failed reads at the old release', readOld.failed, 0),
            atLeast('reads at the new release', readNew.sent, 10),
            atMost('failed reads at the new release', readNew.failed, 0),
            atLeast('starts on the schema of a later release', again.ok ? 1 : 0, 1),
          ],
          notes: [
            ...notes,
            `from ${name}`,
            ...(table === '' ? [] : [`the longest lock was on ${table}`]),
            ...readOld.failures,
            ...readNew.failures,
            ...(again.ok ? [] : [again.why]),
          ],
        }
      } finally {
        for (const server of started) await server.end()
        await test.stop()
      }
    } finally {
      release.remove()
    }
  },
}
