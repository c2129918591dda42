import { cleanText, unescapeText } from '@portcullis/domain'
import { buildDevice, plainKeyboard, storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { agentPost, enrolAgent, pageOf, type TestAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  agentPaths,
  type DeviceReport,
  type PolicyPayload,
  type PolicyRule,
  type PolicyRuleInput,
  type SignedText,
} from '#features/contract.ts'

const base = '/prime/webui'
const front = 'pci0000:00/14.0 usb2'
const fast = 'pci0000:00/14.0 usb3'

let t: TestApp
/** The server after the upgrade, on the same database. */
let upgraded: TestApp | undefined

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(async () => {
  await upgraded?.close()
  await t.close()
})

const post = async (path: string, body: unknown): Promise<void> => {
  const answer = await (await t.admin()).post(`${base}/${path}`, body)
  expect(answer.statusCode, answer.body).toBe(200)
}
const add = (rule: Partial<PolicyRuleInput>): Promise<void> =>
  post('policy/rules', { effect: 'allow', reason: 'test', ...rule })

/** The same device at a port of another speed: other USB version, packet size and power. */
const atOtherSpeed = (report: DeviceReport, portPath: string): DeviceReport => {
  const bytes = Buffer.from(report.descriptors, 'base64')
  bytes.writeUInt16LE(0x0320, 2)
  bytes[7] = 9
  bytes[18 + 8] = 112
  return { ...report, portPath, descriptors: bytes.toString('base64'), speedMbps: 5_000 }
}

const of = (pid: string, portPath: string, more: Partial<Parameters<typeof buildDevice>[0]> = {}): DeviceReport => ({
  ...buildDevice({ vid: '1234', pid, product: `Device ${pid}`, interfaces: ['08:06:50'], portPath, ...more }),
})
/** A device for each kind of rule. */
const devices = {
  vendor: buildDevice({ vid: '4321', pid: '0001', product: 'Vendor', interfaces: ['08:06:50'], portPath: '1-1' }),
  model: of('0002', '1-2', { serial: 'M' }),
  serial: of('0003', '1-3', { serial: 'ab 12' }),
  withoutSerial: of('0004', '1-4'),
  fingerprint: of('0005', '1-5', { serial: 'F' }),
  exact: of('0006', '1-6', { serial: 'E' }),
  tag: of('0007', '1-7', { serial: 'T' }),
  grant: of('0008', '1-8', { serial: 'G' }),
  device: of('0009', '1-9', { serial: 'D' }),
  deviceWithoutSerial: of('000A', '1-10'),
  binary: of('000B', '1-11', { serial: 'P\u0001f\u0002g ' }),
  denied: of('000C', '1-12', { serial: 'X' }),
  deniedBinary: of('000D', '1-13', { serial: 'Q\u0001f\u0002g' }),
  kind: plainKeyboard({ portPath: '1-14' }),
  none: of('000E', '1-15', { serial: 'N' }),
} satisfies Record<string, DeviceReport>
type Name = keyof typeof devices

/** The policy as an agent fetches it. */
const policyOf = async (server: TestApp, agent: TestAgent, understands: string[]): Promise<PolicyRule[]> => {
  const answer = await agentPost(server, agentPaths.policy, { nonce: 'n'.repeat(24), understands }, agent.state.session)
  expect(answer.status, answer.text).toBe(200)
  return (JSON.parse((JSON.parse(answer.text) as SignedText).payload) as PolicyPayload).rules
}
const byId = (rules: readonly PolicyRule[]) => rules.toSorted((a, b) => (a.id < b.id ? -1 : 1))

const rowsOf = async (server: TestApp, agent: TestAgent) =>
  (
    await pageOf<{
      pid: string
      vid: string
      decision: string
      deviceID: string
      present: boolean
      serialNumber: string
    }>(server, `peripherals/${agent.agentId}?PageSize=500`)
  ).data
const decisionsOf = async (server: TestApp, agent: TestAgent): Promise<Record<string, string>> => {
  const rows = await rowsOf(server, agent)
  return Object.fromEntries(
    Object.entries(devices).map(([name, report]) => {
      const [vid, pid] = [10, 8].map((at) => Buffer.from(report.descriptors, 'base64').readUInt16LE(at)).reverse()
      const hex = (n: number | undefined) => (n ?? 0).toString(16).toUpperCase().padStart(4, '0')
      return [name, rows.find((r) => r.present && r.vid === hex(vid) && r.pid === hex(pid))?.decision ?? 'absent']
    }),
  )
}
const reassess = async (server: TestApp): Promise<void> => {
  await server.server.db.execute(
    sql`insert into policy_queue (agent_id) select r.agent_id from agent_rows r on conflict do nothing`,
  )
  await server.server.policy.drain()
}

describe('an upgrade of a fleet with each kind of rule', () => {
  it('changes no decision for the worse', async () => {
    const host = await enrolAgent(t, { devices: Object.values(devices) })
    const before = await rowsOf(t, host)
    const pidOf = (name: Name) =>
      Buffer.from(devices[name].descriptors, 'base64').readUInt16LE(10).toString(16).toUpperCase().padStart(4, '0')
    const row = (name: Name) => before.find((r) => r.pid === pidOf(name))!
    const prints = await t.server.db.query<{ pid: string; exact: string; print: string }>(sql`
      select m.pid, d.policy_fingerprint as exact, d.policy_without_revision as print from designs d join models m on m.model_id = d.model_id`)
    const printOf = (name: Name) => prints.find((one) => one.pid === pidOf(name))!
    const decide = (decision: string, name: Name, more = {}) =>
      post('policy/decisions', {
        ...{ decision, reason: 'test' },
        devices: [{ uuid: host.agentId, vid: '1234', pid: pidOf(name), deviceID: row(name).deviceID }],
        ...more,
      })
    await add({ vid: '4321' })
    await add({ vid: '1234', pid: '0002' })
    await add({ vid: '1234', pid: '0003', serial: 'ab 12' })
    await add({ vid: '1234', pid: '0004', serial: '' })
    await add({ fingerprint: printOf('fingerprint').print, host: host.agentId })
    await add({ fingerprint: printOf('exact').exact })
    await post('generalconfig/addhashtags', { hashtags: ['lab'], elementIds: [host.agentId], entityType: 'Agent' })
    await add({ vid: '1234', pid: '0007', tag: 'lab' })
    await decide('grant', 'grant', { expiresAt: new Date(t.clock.now() + 3_600_000).toISOString() })
    await decide('allow', 'device')
    await decide('allow', 'deviceWithoutSerial')
    await decide('deny', 'denied')
    await add({ kinds: ['Mass Storage'], tag: 'lab', effect: 'allow', vid: '1234', pid: '000D' })
    await add({ kinds: ['Keyboard'] })
    // Rules as the previous release wrote them: serial numbers are cleaned.
    await add({ vid: '1234', pid: '000B', serial: 'P f g', host: host.agentId })
    await add({ vid: '1234', pid: '000D', serial: 'Q f g', effect: 'deny' })

    // The rows as the previous release stored them.
    const { db } = t.server
    await db.execute(sql`update policy_rules set rule_fingerprint = null, exact_serial = false, identity_seal = null`)
    await db.execute(sql`update designs set policy_rule_fingerprint = null`)
    for (const one of before) {
      const clean = cleanText(unescapeText(one.serialNumber))
      const id = one.deviceID.startsWith('USB')
        ? `${one.deviceID.split('\\').slice(0, 2).join('\\')}\\${clean || 'port'}`
        : ''
      await db.execute(sql`
        update peripherals p set controller = null, serial = ${clean}, serial_folded = lower(${clean}),
          device_id = case when ${clean} = '' then p.device_id else ${id} end
        where p.agent_id = ${host.agentId}::uuid and p.device_id = ${one.deviceID}`)
    }
    const after = await startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock, listen: true })
    upgraded = after
    await reassess(after)
    const first = await decisionsOf(after, host)
    expect(first).toEqual({
      ...{
        vendor: 'allow',
        model: 'allow',
        serial: 'allow',
        withoutSerial: 'allow',
        fingerprint: 'allow',
        exact: 'allow',
      },
      ...{
        tag: 'allow',
        grant: 'allow',
        device: 'allow',
        deviceWithoutSerial: 'allow',
        binary: 'allow',
        kind: 'allow',
      },
      ...{ denied: 'block', deniedBinary: 'block', none: 'block' },
    })
    const earlier = byId(await policyOf(after, host, ['options']))
    expect(earlier.some((rule) => rule.ruleFingerprint !== undefined || rule.hasCleanedSerial !== undefined)).toBe(
      false,
    )

    // Rules get their new fingerprints once, under a seal, and agents of earlier releases notice nothing.
    expect(await after.server.policy.adoptFingerprints()).toBe(5)
    expect(await after.server.policy.adoptFingerprints()).toBe(0)
    expect(await after.server.policy.checkSeals()).toEqual([])
    expect(await decisionsOf(after, host)).toEqual(first)
    expect(byId(await policyOf(after, host, ['options']))).toEqual(earlier)
    const newer = byId(await policyOf(after, host, ['options', 'identity']))
    expect(newer.filter((rule) => rule.ruleFingerprint !== undefined)).toHaveLength(5)
    expect(newer.filter((rule) => rule.hasCleanedSerial === true).map((rule) => rule.serial)).toContain('P f g')

    // Its first report names the controller. The devices are the same, and nothing happened to them.
    const report = (some: readonly DeviceReport[]) => {
      host.devices.clear()
      for (const one of some) host.devices.set(one.portPath, one)
      return agentPost(after, agentPaths.checkIn, host.body({ inventory: [...some] }), host.state.session)
    }
    const ids = (await rowsOf(after, host)).map((r) => r.deviceID).sort()
    const events = (await host.events()).length
    const placed = Object.values(devices).map((one) => ({ ...one, controller: front }))
    expect((await report(placed)).status).toBe(200)
    expect((await rowsOf(after, host)).map((r) => r.deviceID).sort()).toEqual(ids)
    expect(await decisionsOf(after, host)).toEqual(first)
    expect((await host.events()).length).toBe(events)
    const onOtherBus = placed.map((one) => ({ ...one, portPath: one.portPath.replace(/^1-/, '5-') }))
    expect((await report(onOtherBus)).status).toBe(200)
    expect((await rowsOf(after, host)).map((r) => r.deviceID).sort()).toEqual(ids)
    expect((await host.events()).length).toBe(events)

    // Decisions about devices and models hold at ports of another speed. An exact fingerprint is exact.
    const moved = Object.values(devices).map((one) => ({
      ...atOtherSpeed(one, one.portPath.replace(/^1-/, '2-')),
      controller: fast,
    }))
    expect((await report(moved)).status).toBe(200)
    expect(await decisionsOf(after, host)).toEqual({ ...first, exact: 'block' })

    // A rule of the earlier release still covers every serial number that was cleaned to its own.
    const twin = { ...devices.binary, serial: 'P\u0003f\u0004g ', controller: front }
    expect((await report([...placed.filter((one) => one.portPath !== twin.portPath), twin])).status).toBe(200)
    expect((await decisionsOf(after, host)).binary).toBe('allow')
    // Otherwise it may carry out the changes of the other tests, a moment later.
    await after.close()
    upgraded = undefined
  })
})

describe('a rule for a serial number with hidden characters', () => {
  it('is for one device, on agents of this release and of earlier ones', async () => {
    const [a, b, c] = ['K\u0001f', 'K\u0002f', 'K f']
    const probes = [a, b, c].map((serial, n) => storageStick({ portPath: `1-${n + 1}`, serial }))
    const host = await enrolAgent(t, { devices: probes })
    const decisions = async () =>
      Object.fromEntries((await rowsOf(t, host)).map((r) => [r.serialNumber, r.decision] as const))
    expect(Object.keys(await decisions()).sort()).toEqual(['K f', 'K%01f', 'K%02f'])
    const [probe] = (await rowsOf(t, host)).filter((r) => r.serialNumber === 'K%01f')
    await post('policy/decisions', {
      ...{ decision: 'allow', reason: 'probe' },
      devices: [{ uuid: host.agentId, vid: '0781', pid: '5581', deviceID: probe?.deviceID }],
    })
    expect(await decisions()).toMatchObject({ 'K%01f': 'allow', 'K%02f': 'block', 'K f': 'block' })
    const own = (rules: readonly PolicyRule[]) => rules.filter((rule) => rule.level === 'host' && rule.vid === '0781')
    expect(own(await policyOf(t, host, ['options', 'identity']))).toMatchObject([{ serial: 'K%01f' }])
    // An older agent would allow all three.
    expect(own(await policyOf(t, host, ['options']))).toEqual([])
    await add({ vid: '0781', pid: '5581', serial: 'k%02F', effect: 'deny' })
    expect(await decisions()).toMatchObject({ 'K%01f': 'allow', 'K%02f': 'block' })
    const denies = (rules: readonly PolicyRule[]) =>
      rules.filter((rule) => rule.effect === 'deny' && rule.pid === '5581')
    expect(denies(await policyOf(t, host, ['options']))).toMatchObject([{ serial: 'k F' }])
  })
})

describe('the identity of a rule that was changed in the database', () => {
  it('is ignored, and the rule matches as in earlier releases', async () => {
    const stick = storageStick({ portPath: '1-1', serial: 'Z' })
    const host = await enrolAgent(t, { devices: [stick] })
    const rows = await rowsOf(t, host)
    await post('policy/decisions', {
      ...{ decision: 'allow', reason: 'stick' },
      devices: [{ uuid: host.agentId, vid: '0781', pid: '5581', deviceID: rows[0]?.deviceID }],
    })
    await host.unplug('1-1')
    const other = { ...atOtherSpeed(stick, '2-1'), product: 'Another product' }
    await host.plug(other)
    const decision = async () => (await rowsOf(t, host)).find((r) => r.present)?.decision
    expect(await decision()).toBe('block')
    const [fingerprint] = await t.server.db.query<{ print: string }>(
      sql`select d.policy_rule_fingerprint as print from designs d where d.product = 'Another product'`,
    )
    await t.server.db.execute(
      sql`update policy_rules set rule_fingerprint = ${fingerprint?.print ?? ''} where agent_id = ${host.agentId}::uuid`,
    )
    await reassess(t)
    expect(await decision()).toBe('block')
    expect(await t.server.policy.checkSeals()).toEqual([])
    expect(await policyOf(t, host, ['options', 'identity'])).not.toContainEqual(
      expect.objectContaining({ ruleFingerprint: fingerprint?.print }),
    )
  })
})
