import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { plainKeyboard, storageStick } from '@portcullis/domain/testing'
import type { FleetEvent, policyActivity, ResponseOf } from '@portcullis/features/contract.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import {
  adminPassword,
  createTree,
  type RunningServer,
  remove,
  type Started,
  startAgent,
  startServer,
  temporaryDir,
  until,
} from '../proof/kit/harness.ts'
import { freePort } from '../server/test/free-port.ts'
import { startSyslogReceiver } from '../server/test/peers/syslog-receiver.ts'
import { serverDir } from './prepared.ts'

const hour = 3_600_000
const dirs: string[] = []
const folder = (): string => {
  const dir = temporaryDir()
  dirs.push(dir)
  return dir
}
const [dataDir, stateDir] = [serverDir(), folder()]
const tree = createTree([plainKeyboard()])
const spoolFile = join(stateDir, 'spool.jsonl')
let server: RunningServer
let agent: Started
let siem: Awaited<ReturnType<typeof startSyslogReceiver>>

const env = {
  PORTCULLIS_ADMIN_PASSWORD: adminPassword,
  PORTCULLIS_PORT: String(await freePort()),
  PORTCULLIS_OUTBOUND_ALLOW: '127.0.0.0/8',
}

beforeAll(async () => {
  siem = await startSyslogReceiver({ protocol: 'tcp' })
  server = await startServer(dataDir, env)
}, 90_000)
afterAll(async () => {
  agent?.child.kill('SIGTERM')
  await agent?.ended
  await server?.stop()
  await siem?.close()
  for (const dir of [tree.dir, dataDir, ...dirs]) remove(dir)
})

interface SpoolLine {
  kind: string
  change?: { at: number }
  added?: { elapsed: number }
}
const spool = (): SpoolLine[] =>
  readFileSync(spoolFile, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as SpoolLine)
const stored = (): number => spool().filter(({ kind }) => kind === 'change').length

/** Makes the spooled changes older, as if the host had stayed on and offline since then. */
const age = (...hours: readonly number[]): void => {
  const older = [...hours]
  const lines = spool().map((line) => {
    if (line.kind !== 'change' || line.change === undefined || line.added === undefined) return line
    const by = (older.shift() ?? 0) * hour
    return {
      ...line,
      change: { ...line.change, at: line.change.at - by },
      added: { ...line.added, elapsed: line.added.elapsed - by },
    }
  })
  writeFileSync(spoolFile, lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
}
const zoned = (time: string): number => Date.parse(`${time}Z`)
const list = async (query: string): Promise<FleetEvent[]> =>
  (await server.get<{ data: FleetEvent[] }>(`events/getevents?${query}`)).data
const attachments = async (): Promise<Map<string, number>> => {
  const { data } = await server.get<ResponseOf<typeof policyActivity>>('policy/activity?days=7')
  return new Map(data.map((one) => [one.day, one.attachments]))
}

it('shows in lists, exports, SIEM messages and counts what happened when, after a weekend offline', async () => {
  await server.post('systemNotification/notifications/update', {
    id: 6,
    channels: { syslog: { isEnabled: true, address: siem.address, protocol: 'tcp', format: 'ocsf' } },
  })
  const token = await server.enrolmentToken()
  agent = startAgent(server, token, tree, stateDir)
  await until('the inventory', async () => (await server.events()).some((e) => e.eventCode === '0x120001'))
  const last = (await server.events())[0]?.eventID ?? 0
  const before = await attachments()

  await server.stop()
  tree.plug(storageStick({ portPath: '1-2' }))
  await until('the stick is in the spool', () => stored() === 1)
  tree.unplug('1-2')
  await until('its removal is in the spool', () => stored() === 2)
  agent.child.kill('SIGKILL')
  await agent.ended
  age(49, 30)
  const backAt = Date.now()
  server = await startServer(dataDir, env)
  agent = startAgent(server, token, tree, stateDir)
  const { value: events } = await until('both events', async () => {
    const found = (await server.events(last + 1)).filter(({ category }) => category === 'USB')
    return found.length >= 2 ? found : undefined
  })

  // Order and ids follow the receipt.
  expect(events.map(({ eventCode }) => eventCode)).toEqual(['0x110003', '0x110001'])
  const [gone, attached] = events as [FleetEvent, FleetEvent]
  for (const [event, hours] of [
    [attached, 49],
    [gone, 30],
  ] as const) {
    expect(zoned(event.creationTime)).toBeGreaterThanOrEqual(backAt)
    expect(event.occurredUncertaintyMs).toBe(1_000)
    // The way to the server and the start of agent and server take time.
    expect(Math.abs(zoned(event.occurredAt) - (backAt - hours * hour))).toBeLessThan(60_000)
  }

  const [from, to] = [50, 48].map((hours) => new Date(backAt - hours * hour).toISOString())
  expect((await list(`occurredFrom=${from}&occurredTo=${to}`)).map(({ eventID }) => eventID)).toEqual([
    attached.eventID,
  ])
  expect(await list(`fromDate=${from}&toDate=${to}`)).toEqual([])
  const csv = await server.request('/prime/webui/events/exporteventscsv', {
    method: 'POST',
    headers: { authorization: `Bearer ${await server.signIn()}`, 'content-type': 'application/json' },
    body: JSON.stringify({ occurredFrom: from, occurredTo: to, columns: ['eventID', 'creationTime', 'occurredAt'] }),
  })
  expect(csv.text.trim().split('\r\n').slice(1)).toEqual([
    [attached.eventID, attached.creationTime, attached.occurredAt].join(','),
  ])

  const { value: message } = await until('the message of the SIEM', () =>
    siem
      .texts()
      .find((text) => text.includes(`"uid":"${attached.eventID}"`) || text.includes(String(attached.occurredAt))),
  )
  const finding = JSON.parse(message.slice(message.indexOf('{')))
  expect([finding.time, finding.metadata.logged_time]).toEqual([
    zoned(attached.occurredAt),
    zoned(attached.creationTime),
  ])

  const day = attached.occurredAt.slice(0, 10)
  const after = await attachments()
  expect(after.get(day)).toBe((before.get(day) ?? 0) + 1)
  const today = attached.creationTime.slice(0, 10)
  expect(after.get(today)).toBe(before.get(today) ?? 0)
}, 120_000)
