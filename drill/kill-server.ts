import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { createTransport, type Transport } from '../cli/simulator/transport.ts'
import { startDatabase, temporaryFolder } from '../rig/database.ts'
import { freePort } from '../rig/free-port.ts'
import { enrolReportingHost } from '../rig/reporting-host.ts'
import { type ServerProcess, startServerProcess } from '../rig/server.ts'
import { compareStored } from '../rig/stored.ts'
import type { Check, Outcome } from '../rig/verdict.ts'

const hosts = 64

/** D1: the server is killed at any moment of a check-in. */
export const killServer: Check = {
  name: 'D1',
  what: `${hosts} hosts report without a pause while the server is killed (SIGKILL) at random moments and started again; each host repeats a report until it is acknowledged. Every acknowledged report is stored, and none twice.`,
  run: async ({ isQuick, root }): Promise<Outcome> => {
    const kills = isQuick ? 10 : 200
    const folder = temporaryFolder('kill')
    const database = await startDatabase()
    const options = { databaseUrl: database.url, dataDir: join(folder, 'server'), port: await freePort(), root }
    let server: ServerProcess = await startServerProcess(options)
    let transport: Transport = createTransport({ server: new URL(server.url), connections: hosts, timeoutMs: 10_000 })
    try {
      const { token } = await server.call(
        '/prime/webui/agents/enrollmenttokens',
        { name: 'drill', maxUses: hosts },
        await server.signIn(),
      )
      const fleet = await Promise.all(
        Array.from({ length: hosts }, (_, i) => enrolReportingHost(() => transport, String(token), `killed-${i}`)),
      )
      const running = fleet.map((host) => host.run())
      const recovered: number[] = []
      for (let kill = 0; kill < kills; kill++) {
        // Between a tenth of a second and one: in the middle of batches, commits and timers, never at the same point.
        await new Promise((resolve) => setTimeout(resolve, 100 + Math.random() * 900))
        await server.end('SIGKILL')
        transport.close()
        server = await startServerProcess(options)
        transport = createTransport({ server: new URL(server.url), connections: hosts, timeoutMs: 10_000 })
        recovered.push(server.startMs)
      }
      for (const host of fleet) host.stop()
      await Promise.all(running)
      const { acknowledged, lost, twice, resent, refused } = await compareStored(database.connection, fleet)
      recovered.sort((a, b) => a - b)
      return {
        findings: [
          { what: 'kills', value: kills, atLeast: kills },
          { what: 'acknowledged', value: acknowledged, atLeast: kills },
          { what: 'lost', value: lost, atMost: 0 },
          { what: 'stored twice', value: twice, atMost: 0 },
          { what: 'sent again', value: resent },
          { what: 'refused', value: refused, atMost: 0 },
          {
            what: 'up again p50',
            value: Math.round(recovered[Math.floor(kills / 2)] as number),
            unit: 'ms',
            atMost: 1_500,
          },
          { what: 'up again, slowest', value: Math.round(recovered.at(-1) as number), unit: 'ms', atMost: 3_000 },
        ],
        notes: fleet.flatMap(({ reported }) => reported.refused).slice(0, 3),
      }
    } finally {
      await server.end()
      transport.close()
      await database.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  },
}
