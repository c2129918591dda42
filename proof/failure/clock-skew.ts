import { inventoryHash } from '@portcullis/domain'
import { storageStick } from '@portcullis/domain/testing'
import { fromRoot } from '../kit/root.ts'
import { withClient } from '../kit/stored.ts'
import { pause, startTrial } from '../kit/trial.ts'
import type { Check, Finding, Outcome } from '../kit/verdict.ts'

const hour = 3_600_000

/** Clock errors of the hosts in milliseconds, by host name. */
const hostClocks = { right: 0, 'two hours ahead': 2 * hour, 'a day behind': -24 * hour } as const
const reports = 5

/** Lets hosts with wrong clocks report to a server whose clock is also wrong. */
const withServer = async (skewMs: number, root: string): Promise<Finding[]> => {
  const name = skewMs === 0 ? 'right clock' : skewMs > 0 ? 'two hours ahead' : 'a day behind'
  const trial = await startTrial({
    name: 'skewed',
    root,
    hosts: 1,
    env: { NODE_OPTIONS: `--import ${fromRoot('proof/kit/skewed-clock.mjs')}`, RIG_SKEW_MS: String(skewMs) },
  })
  try {
    const { call, signIn } = trial.server()
    let refused = 0
    let outOfOrder = 0
    let wrongTimes = 0
    let unseenSkews = 0
    for (const [whose, clock] of Object.entries(hostClocks)) {
      const host = await trial.enrol(`clock-${clock}`)
      const at = (): number => Date.now() + clock
      const took: (number | undefined)[] = []
      const post = async (body: Record<string, unknown>): Promise<void> => {
        took.push((await host.checkIn({ clock: at(), ...body }))?.status)
      }
      await post({ seq: 1, inventoryHash: inventoryHash([]), inventory: [] })
      for (let n = 0; n < reports; n++) {
        const device = storageStick({ serial: `${whose}-${n}` })
        // The host's clock is set back midway. The sequence number still decides which report is newer.
        const set = n > 2 ? -hour : 0
        await post({
          seq: n + 2,
          clock: at() + set,
          inventoryHash: inventoryHash([device]),
          changes: [{ op: 'attached', at: at() + set, device }],
        })
      }
      refused += took.filter((status) => status !== 200).length
      await withClient(trial.connection, async (client) => {
        const { rows } = await client.query<{ serial: string; present: boolean }>(
          'SELECT serial, present FROM peripherals WHERE agent_id = $1',
          [host.agentId],
        )
        const there = rows.filter(({ present }) => present).map(({ serial }) => serial)
        if (there.join() !== `${whose}-${reports - 1}`) outOfOrder += 1
        const { rows: events } = await client.query<{ at: Date }>(
          'SELECT created_at AS at FROM events WHERE agent_id = $1 ORDER BY event_id',
          [host.agentId],
        )
        // Events carry the server's time of receipt, never the host's time.
        const now = Date.now() + skewMs
        wrongTimes += events.filter(({ at: time }) => Math.abs(time.getTime() - now) > 10 * 60_000).length
        if (events.length < reports) wrongTimes += 1
        const { rows: beats } = await client.query<{ skew: number }>(
          'SELECT skew_seconds AS skew FROM agent_heartbeats WHERE agent_id = $1',
          [host.agentId],
        )
        const expected = (clock - hour - skewMs) / 1_000
        if (Math.abs((beats[0]?.skew ?? Number.NaN) - expected) <= 60) return
        unseenSkews += 1
      })
    }
    const token = await signIn()
    const lookAtClock = async (): Promise<{ status: string; description: string } | undefined> => {
      const parts = (await call('/prime/webui/admin/SubsystemHealth', undefined, token)) as unknown
      return (Array.isArray(parts) ? (parts as { name: string; status: string; description: string }[]) : []).find(
        (part) => part.name === 'clock',
      )
    }
    let clock = await lookAtClock()
    // The health check caches its result for 20 s.
    for (let tries = 0; !/ hosts? /.test(clock?.description ?? '') && tries < 60; tries++) {
      await pause(500)
      clock = await lookAtClock()
    }
    const warning = / (\d+) hosts? ha(?:s a|ve) wrong clocks?/.exec(clock?.description ?? '')
    return [
      {
        what: `server ${name}: connected hosts whose clocks are called wrong`,
        value: Number(warning?.[1] ?? 0),
        atLeast: Object.values(hostClocks).filter((clock) => Math.abs(clock - hour - skewMs) > 5 * 60_000).length,
      },
      { what: `server ${name}: reports that were refused`, value: refused, atMost: 0 },
      { what: `server ${name}: hosts whose last report is not what is shown`, value: outOfOrder, atMost: 0 },
      { what: `server ${name}: events with another time than the server's`, value: wrongTimes, atMost: 0 },
      { what: `server ${name}: hosts whose wrong clock is not stored`, value: unseenSkews, atMost: 0 },
      {
        what: `server ${name}: its clock is called wrong`,
        value: clock?.status === 'Error' ? 1 : 0,
        ...(skewMs === 0 ? { atMost: 0 } : { atLeast: 1 }),
      },
    ]
  } finally {
    await trial.stop()
  }
}

/** D8: sets the clocks of hosts and server wrong. */
export const clockSkew: Check = {
  name: 'D8',
  isWaiting: true,
  what: 'The clocks of hosts are right, two hours ahead or a day behind, and are set back during the drill. The clock of the server is right, two hours ahead or a day behind, by a module that is loaded into it. Reports count in the order of their numbers, events have the time of the server, and wrong clocks are reported.',
  run: async ({ root }): Promise<Outcome> => {
    return { findings: (await Promise.all([0, 2 * hour, -24 * hour].map((skew) => withServer(skew, root)))).flat() }
  },
}
