// Invariant: Every count of the overview, of lists, previews and files is the number of rows behind it.

import { hub, plainKeyboard, rubberDucky, storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, enrolmentToken, pageOf, type TestAgent } from '@portcullis/server/test/builders.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type {
  Agent,
  AgentDetail,
  DeviceReport,
  Peripheral,
  PolicyRuleInput,
  WhitelistViolation,
} from '#features/contract.ts'

const base = '/prime/webui'
let t: TestApp
beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const makes = { stick: storageStick, keyboard: plainKeyboard, tool: rubberDucky, hub }
const kinds = Object.keys(makes) as (keyof typeof makes)[]
const deviceOf = (kind: keyof typeof makes, portPath: string): DeviceReport => makes[kind]({ portPath })

const fleetArb = fc.record({
  hosts: fc.array(
    fc.record({
      mode: fc.constantFrom('Armed' as const, 'Free' as const, 'observe' as const),
      isOffline: fc.boolean(),
      devices: fc.array(fc.record({ kind: fc.constantFrom(...kinds), isGone: fc.boolean(), blocks: fc.boolean() }), {
        minLength: 1,
        maxLength: 4,
      }),
    }),
    { minLength: 2, maxLength: 4 },
  ),
  rules: fc.array(
    fc.record({
      effect: fc.constantFrom('allow' as const, 'deny' as const),
      vid: fc.constantFrom('0781', '413C', '03EB'),
      /** Number of the only host; null: all hosts. */
      host: fc.constantFrom(null, 0, 1),
    }),
    { maxLength: 4 },
  ),
})
type Fleet = typeof fleetArb extends fc.Arbitrary<infer T> ? T : never

const everyKind = kinds.map((kind) => ({ kind, isGone: false, blocks: true }))
const withoutRules: Fleet = {
  hosts: (['Armed', 'Free', 'observe'] as const).map((mode) => ({
    ...{ mode, isOffline: false },
    devices: [...everyKind, { kind: 'stick', isGone: true, blocks: false }],
  })),
  rules: [],
}
const rules: Fleet['rules'] = [
  { effect: 'allow', vid: '413C', host: null },
  { effect: 'deny', vid: '0781', host: 1 },
]

/** Enrols the hosts, arms them, and lets armed ones block. */
const enrolFleet = async ({ hosts, rules: made }: Fleet) => {
  const api = await t.admin()
  const known = (await pageOf<Agent>(t, 'agents?PageSize=1000')).data.map(({ uuid }) => uuid)
  if (known.length > 0) await api.post(`${base}/agents/deleteAgents`, known)
  await t.db.execute(sql`delete from policy_rules`)
  const token = await enrolmentToken(t)
  const agents: TestAgent[] = []
  for (const { mode } of hosts)
    agents.push(
      await enrolAgent(t, { token, facts: { enforcement: mode === 'observe' ? 'observe' : 'before-driver' } }),
    )
  for (const { host, ...rule } of made) {
    const body: PolicyRuleInput = { ...rule, reason: 'generated' }
    const agent = host === null ? undefined : agents[host]
    const answer = await api.post(`${base}/policy/rules`, agent === undefined ? body : { ...body, host: agent.agentId })
    expect(answer.statusCode, answer.body).toBe(200)
  }
  await t.server.policy.drain()
  for (const [i, { mode, devices }] of hosts.entries()) {
    const agent = agents[i] as TestAgent
    for (const [n, { kind, isGone }] of devices.entries()) {
      await agent.plug(deviceOf(kind, `1-${n + 1}`))
      if (isGone) await agent.unplug(`1-${n + 1}`)
    }
    if (mode !== 'Armed') continue
    await agent.checkIn({ enforcement: { mode, policyVersion: 1, reason: '' } })
    for (const row of (await agent.peripherals()).filter((one) => one.present && one.decision === 'block')) {
      const device = agent.devices.get(row.hierarchy)
      const isBlocked = devices[Number(row.hierarchy.slice(2)) - 1]?.blocks === true
      if (device !== undefined && isBlocked) await agent.change({ ...device, authorized: false })
    }
  }
  await t.server.policy.drain()
  t.clock.advance(181_000)
  for (const [i, { isOffline }] of hosts.entries()) if (!isOffline) await agents[i]?.checkIn()
  await t.server.ingest.sweep()
  t.clock.advance(2_000)
}

it('the counts of overview, lists, host pages, previews and files agree with their rows', async () => {
  await fc.assert(
    fc.asyncProperty(fleetArb, async (fleet) => {
      await enrolFleet(fleet)
      const api = await t.admin()
      // biome-ignore lint/suspicious/noExplicitAny: answers are checked against the contract by the app itself
      const ok = (answer: { statusCode: number; body: string; json(): any }): any => {
        expect(answer.statusCode, answer.body).toBe(200)
        return answer.json()
      }
      const get = async (path: string) => ok(await api.get(`${base}/${path}`))
      const { data: hosts } = await pageOf<Agent>(t, 'agents?PageSize=1000')
      const { data: devices } = await pageOf<Peripheral>(t, 'peripherals?PageSize=1000')
      const countOf = async (path: string): Promise<number> => (await pageOf(t, path)).recordsFiltered
      expect(hosts.length).toBe(fleet.hosts.length)

      // Each number of the overview is the number of hosts behind its link.
      const summary = await get('agents/AgentsClassificationSummary')
      const { protected: isProtected, possible, impossible } = summary.protection
      expect(isProtected + possible + impossible).toBe(summary.total)
      for (const [number, filters] of [
        [summary.total, ''],
        [summary.connected, 'Status=Connected'],
        [summary.armed, 'Status=Armed'],
        [isProtected, 'Status=Armed&CanBlock=true'],
        [possible, 'Status=Free&CanBlock=true'],
        [impossible, 'CanBlock=false'],
        [summary.knownAttackTools, 'HasKnownAttackTools=true'],
        [summary.vulnerable, 'HasVulnerablePeripherals=true'],
        [summary.unapproved, 'HasUnapprovedPeripherals=true'],
      ])
        expect(await countOf(`agents?${filters}`), filters).toBe(number)

      // The list, the page of the host and the list of hosts give each device one state.
      const isListed = ({ policyState: state, present }: Peripheral): boolean =>
        present && !state.startsWith('allowed') && state !== 'noAllowlist'
      for (const host of hosts) {
        const page: AgentDetail = await get(`agents/agent/${host.uuid}`)
        const own = devices.filter(({ uuid }) => uuid === host.uuid)
        const stateOf = (some: readonly Peripheral[]) =>
          some.map(({ deviceID, policyState }) => `${deviceID} ${policyState}`).sort()
        expect(stateOf(page.peripherals)).toEqual(stateOf(own))
        const hasAllowlist = page.policy.whitelist
        for (const one of own) {
          expect(one.isUnapprovedPeripherals, one.policyState).toBe(hasAllowlist && isListed(one))
          expect(one.policyState.startsWith('allowed')).toBe(one.decision === 'allow')
          if (!hasAllowlist) expect(one.policyState).not.toMatch(/^notListed/)
          expect(one.policyState === 'blocked').toBe(one.present && one.isDisabled && one.decision === 'block')
        }
        const present = own.filter((one) => one.present)
        const listed = own.filter((one) => one.isUnapprovedPeripherals)
        expect([host.notApproved, host.hasUnapprovedPeripherals]).toEqual([listed.length, listed.length > 0])
        expect(host.approvedAndPresent + host.notApproved).toBe(present.length)
        if (!host.canBlock)
          for (const one of own.filter(({ decision }) => decision === 'block'))
            expect(one.decisionReason).toMatch(/^The host cannot block devices/)
      }

      // Lists of findings, models and approvals count the same devices.
      const unlisted = devices.filter((one) => one.isUnapprovedPeripherals)
      expect(await countOf('peripherals?isUnapprovedPeripheral=true')).toBe(unlisted.length)
      const violations: WhitelistViolation[] = await get('agents/UniqueWhitelistViolation')
      const sum = (numbers: readonly number[]): number => numbers.reduce((total, n) => total + n, 0)
      expect(sum(violations.map(({ peripheralsCount }) => peripheralsCount))).toBe(unlisted.length)
      const models = (await pageOf(t, 'peripherals/models?PageSize=1000')).data as unknown as {
        vid: string
        pid: string
        peripheralsCount: number
      }[]
      for (const { vid, pid, peripheralsCount } of models)
        expect(await countOf(`peripherals?vid=${vid}&pid=${pid}&present=true`)).toBe(peripheralsCount)
      const armed = new Set(hosts.filter((host) => host.operationalStatus === 'Armed').map(({ uuid }) => uuid))
      const waiting = devices.filter(
        ({ uuid, rule, present }) => present && armed.has(uuid) && (rule === 'default' || rule === 'attack-tool'),
      )
      expect((await get('policy')).waiting).toBe(waiting.length)

      // A file has the same rows, with the same labels.
      const file = await api.post(`${base}/peripherals/exportperipheralscsv`, {
        columns: ['uuid', 'deviceID', 'policyState'],
      })
      expect(file.statusCode, file.body).toBe(200)
      const lines = file.body.trim().split('\n').slice(1)
      expect(lines.length).toBe(devices.length)
      for (const { uuid, deviceID, policyState } of devices)
        expect(lines.some((line) => line.includes(uuid) && line.includes(deviceID) && line.includes(policyState))).toBe(
          true,
        )

      // A preview counts the devices that the button decides about, and says where the decision has no effect.
      const decided = devices.filter(({ rule }) => rule !== 'hub')
      if (decided.length === 0) return
      const preview = ok(
        await api.post(`${base}/policy/preview`, {
          decide: {
            decision: 'deny',
            devices: decided.map(({ uuid, deviceID, vid, pid }) => ({ uuid, deviceID, vid, pid })),
          },
        }),
      )
      const { matching, prediction } = preview
      expect(matching.peripherals).toBe(decided.length)
      expect(preview.blocked).toBe(decided.filter(({ decision }) => decision === 'allow').length)
      const hostOf = new Map(hosts.map((host) => [host.uuid, host]))
      const on = (test: (host: Agent) => boolean): number =>
        decided.filter(({ uuid }) => test(hostOf.get(uuid) as Agent)).length
      const { now, whenArmed, never } = matching.takesEffect
      expect([now.peripherals, whenArmed.peripherals, never.peripherals]).toEqual([
        on((host) => armed.has(host.uuid)),
        on((host) => !armed.has(host.uuid) && host.canBlock),
        on((host) => !armed.has(host.uuid) && !host.canBlock),
      ])
      expect(prediction.peripherals).toBe(devices.length)
    }),
    { numRuns: 6, endOnFailure: true, examples: [[withoutRules], [{ ...withoutRules, rules }]] },
  )
}, 300_000)
