// Invariant: Every preview uses one function. Previews of decisions count all known devices, those of modes and
//   simulations the same hosts, devices and times. Predictions come true.

import { plainKeyboard, plainMouse, rubberDucky, storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, enrolmentToken, type TestAgent } from '@portcullis/server/test/builders.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { DeviceReport, Peripheral, PolicyEffect, PolicyRuleInput, Prediction } from '#features/contract.ts'

type Source = NonNullable<DeviceReport['enforced']>['source']

const base = '/prime/webui'
const dayMs = 86_400_000
const days = 30

let t: TestApp
let api: ReturnType<TestApp['as']>
beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const tags = ['closed', 'open'] as const
const kinds = ['stick', 'stick2', 'keyboard', 'mouse', 'tool'] as const
const deviceOf = (kind: (typeof kinds)[number], portPath: string): DeviceReport =>
  ({
    stick: storageStick({ portPath, serial: 'S1' }),
    stick2: storageStick({ portPath, serial: 'S2' }),
    keyboard: plainKeyboard({ portPath }),
    mouse: plainMouse({ portPath }),
    tool: rubberDucky({ portPath }),
  })[kind]

/** A generated fleet. */
const hostArb = fc.record({
  mode: fc.constantFrom('Armed' as const, 'Free' as const, 'observe' as const),
  tags: fc.subarray([...tags]),
  // Ports are numbered by index, so no two devices share one.
  devices: fc.array(
    fc.record({
      kind: fc.constantFrom(...kinds),
      /** Attached now, or detached and last seen within or before the period. */
      when: fc.constantFrom('now' as const, 'now' as const, 'recently' as const, 'long ago' as const),
      times: fc.integer({ min: 1, max: 2 }),
      /** Works on an armed host because it was attached before arming. */
      isSpared: fc.boolean(),
    }),
    { minLength: 1, maxLength: 3 },
  ),
})
const matchArb: fc.Arbitrary<Partial<PolicyRuleInput>> = fc.constantFrom(
  { vid: '0781' },
  { vid: '0781', pid: '5581', serial: 'S1' },
  { kinds: ['Mass Storage'] },
  { kinds: ['Keyboard', 'HID', 'Mouse'] },
  { kinds: ['Keyboard', 'HID', 'Mouse', 'Mass Storage'] },
  { vid: '03EB', pid: '2401', overrideAttackTool: true },
  { vid: '03EB' },
)
const ruleArb = fc.record({
  effect: fc.constantFrom('allow' as const, 'deny' as const),
  match: matchArb,
  scope: fc.constantFrom('all', 'host 0', 'host 1', ...tags, ...tags),
  /** In force for an hour, or expired since the hosts enrolled. */
  ends: fc.constantFrom('never', 'never', 'soon', 'over'),
})
const caseArb = fc.record({
  hosts: fc.array(hostArb, { minLength: 2, maxLength: 3 }),
  rules: fc.array(ruleArb, { maxLength: 4 }),
  /** All of these changes are predicted, then one is made. */
  change: fc.record({
    what: fc.constantFrom('rules', 'rules', 'arm', 'free', 'approve', 'tags', 'tags', 'decide', 'decide'),
    add: fc.array(ruleArb, { maxLength: 2 }),
    remove: fc.boolean(),
    applyToPresent: fc.boolean(),
    effect: fc.constantFrom('add', 'remove'),
    name: fc.constantFrom(...tags),
  }),
})
type Case = typeof caseArb extends fc.Arbitrary<infer T> ? T : never
type Rule = Case['rules'][number]

// biome-ignore lint/suspicious/noExplicitAny: answers are checked against the contract by the app itself
const ok = (answer: { statusCode: number; body: string; json(): any }): any => {
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}
const get = async (path: string) => ok(await api.get(`${base}/${path}`))
const post = async (path: string, body: unknown) => ok(await api.post(`${base}/${path}`, body))

/** Recalculates all decisions. A run that began before the last change may miss it, so this waits for a second run. */
const settle = async () => {
  await t.server.policy.drain()
  await t.server.policy.drain()
}

/** Advances the time. Sessions of people and hosts expire, and expired rules are carried out. */
const pass = async (ms: number, agents: readonly TestAgent[]) => {
  t.clock.advance(ms)
  api = await t.admin()
  for (const agent of agents) await agent.session()
  await t.server.policy.endOver()
  await settle()
}

const inputOf = ({ effect, match, scope, ends }: Rule, agents: readonly TestAgent[]): PolicyRuleInput | null => {
  const { overrideAttackTool, ...what } = match
  const host = scope.startsWith('host') ? agents[Number(scope.slice(5))]?.agentId : undefined
  if (scope.startsWith('host') && host === undefined) return null
  return {
    effect,
    ...what,
    ...(effect === 'allow' && overrideAttackTool === true ? { overrideAttackTool } : {}),
    ...(host === undefined ? {} : { host }),
    ...(scope === 'all' || host !== undefined ? {} : { tag: scope }),
    ...(ends === 'never'
      ? {}
      : { expiresAt: new Date(t.clock.now() + (ends === 'soon' ? 3_600_000 : 60_000)).toISOString() }),
    reason: 'generated',
  }
}

/** A device with its host, as product lists show it. */
interface Known {
  key: string
  agent: TestAgent
  isArmed: boolean
  isEnforcing: boolean
  row: Peripheral
}
const keyOf = (uuid: string, deviceID: string): string => `${uuid}|${deviceID}`

const devicesOf = async (
  agents: readonly TestAgent[],
  modes: readonly Case['hosts'][number]['mode'][],
): Promise<Known[]> => {
  const all: Known[] = []
  for (const [i, agent] of agents.entries())
    for (const row of await agent.peripherals())
      all.push({
        key: keyOf(agent.agentId, row.deviceID),
        agent,
        isArmed: modes[i] === 'Armed',
        isEnforcing: modes[i] !== 'observe',
        row,
      })
  return all
}

const isAttached = ({ row }: Known): boolean => row.present
const isTool = ({ row }: Known): boolean => row.isKnownAttackTool

const device = (kind: (typeof kinds)[number], when: 'now' | 'recently' | 'long ago', isSpared = false) => ({
  ...{ kind, when, isSpared },
  times: 1,
})
const rule = (effect: Rule['effect'], match: Rule['match'], scope: Rule['scope']): Rule => ({
  ...{ effect, match, scope },
  ends: 'never',
})
const everything = { kinds: ['Keyboard', 'HID', 'Mouse', 'Mass Storage'] } satisfies Partial<PolicyRuleInput>

/** A fleet in which each of the changes has an effect. */
const examples = (['rules', 'arm', 'free', 'approve', 'tags', 'decide'] as const).map((what): [Case] => [
  {
    hosts: [
      {
        mode: 'Armed',
        tags: [],
        devices: [device('stick', 'now'), device('tool', 'now'), device('mouse', 'now', true)],
      },
      {
        mode: 'Free',
        tags: ['closed'],
        devices: [device('stick', 'now'), device('keyboard', 'now'), device('stick2', 'recently')],
      },
      { mode: 'observe', tags: [], devices: [device('stick', 'now'), device('mouse', 'long ago')] },
    ],
    rules: [
      rule('allow', { vid: '0781' }, 'host 1'),
      rule('deny', { vid: '03EB' }, 'closed'),
      rule('allow', everything, 'open'),
    ],
    change: {
      ...{ what, remove: true, applyToPresent: true, effect: 'add', name: 'open' },
      add: [rule('allow', { vid: '03EB', pid: '2401', overrideAttackTool: true }, 'host 0')],
    },
  },
])

/** Does what an agent does: blocks by its rules, except spared devices, and reports it. */
const obey = async (
  agents: readonly TestAgent[],
  isSpared: (agent: TestAgent, port: string) => boolean,
  armed: readonly boolean[],
) => {
  for (const [i, agent] of agents.entries())
    for (const row of (await agent.peripherals()).filter((one) => one.present)) {
      const device = agent.devices.get(row.hierarchy)
      if (device === undefined || armed[i] !== true) continue
      const blocks = row.decision === 'block'
      const spared = blocks && row.rule === 'default' && isSpared(agent, row.hierarchy)
      const enforced = {
        effect: row.decision as 'allow' | 'block',
        source: (!blocks
          ? 'global'
          : row.rule === 'default' || row.rule === 'attack-tool'
            ? row.rule
            : 'deny') as Source,
        ruleId: null,
        policyVersion: 1,
        ...(spared ? { guard: 'present' as const } : {}),
      }
      await agent.change({ ...device, authorized: !blocks || spared, enforced })
    }
}

/** Sets up a fleet over days. Rules come first, so that hosts know them when devices arrive. */
const seedFixture = async ({ hosts, rules }: Case) => {
  await t.db.execute(sql`delete from agents`)
  await t.db.execute(sql`delete from policy_rules`)
  await t.db.execute(sql`delete from rollouts`)
  await pass(60 * dayMs, [])
  await post('generalconfig/addhashtags', { hashtags: [...tags] })
  const agents: TestAgent[] = []
  const token = await enrolmentToken(t)
  for (const { mode } of hosts)
    agents.push(
      await enrolAgent(t, { token, ...(mode === 'observe' ? { facts: { enforcement: 'observe' as const } } : {}) }),
    )
  for (const [i, { tags: names }] of hosts.entries())
    if (names.length > 0) await post('generalconfig/addhashtags', { hashtags: names, elementIds: [agents[i]?.agentId] })
  for (const rule of rules.filter(({ ends }) => ends === 'over')) {
    const input = inputOf(rule, agents)
    if (input !== null) await post('policy/rules', input)
  }
  const each = async (when: 'now' | 'recently' | 'long ago') => {
    for (const [i, { devices }] of hosts.entries())
      for (const [n, device] of devices.entries()) {
        if (device.when !== when) continue
        const agent = agents[i] as TestAgent
        const port = `1-${n + 1}`
        for (let time = 1; time <= device.times; time++) {
          await agent.plug(deviceOf(device.kind, port))
          if (when !== 'now' || time < device.times) await agent.unplug(port)
        }
      }
  }
  await each('long ago')
  await pass(20 * dayMs, agents)
  await each('recently')
  await pass(15 * dayMs, agents)
  await each('now')
  const made: string[] = []
  for (const rule of rules.filter(({ ends }) => ends !== 'over')) {
    const input = inputOf(rule, agents)
    if (input !== null) made.push((await post('policy/rules', input)).rule.id)
  }
  await settle()
  const armed = hosts.map(({ mode }) => mode === 'Armed')
  for (const [i, agent] of agents.entries())
    if (armed[i]) await agent.checkIn({ enforcement: { mode: 'Armed', policyVersion: 1, reason: '' } })
  const spared = new Set(
    hosts.flatMap(({ devices }, i) =>
      devices.flatMap(({ isSpared }, n) => (isSpared ? [`${agents[i]?.agentId} 1-${n + 1}`] : [])),
    ),
  )
  await obey(agents, (agent, port) => spared.has(`${agent.agentId} ${port}`), armed)
  return { agents, made }
}

const countsOf = (some: readonly Known[]) => ({
  agents: new Set(some.map(({ agent }) => agent)).size,
  peripherals: some.length,
  attackTools: some.filter(isTool).length,
})
const blocks = ({ row }: Known): boolean => row.decision === 'block'

/** Returns the scope that each existing preview reports. */
const basisOf = ({ computedAt, from, to, agents, peripherals, attachments, isEveryDevice }: Prediction) => ({
  computedAt,
  from,
  to,
  agents,
  peripherals,
  attachments,
  isEveryDevice,
})

const decisionOf = (decision: 'allow' | 'deny', some: readonly Known[]) => ({
  decision,
  devices: some.map(({ agent, row }) => ({
    ...{ uuid: agent.agentId, deviceID: row.deviceID },
    ...{ vid: row.vid, pid: row.pid },
  })),
})
const decide = (path: string, decision: 'allow' | 'deny', some: readonly Known[]) =>
  post(path, { ...decisionOf(decision, some), reason: 'decided' })

describe('predictions', () => {
  it('agree with each other about hosts, devices and times, and with the later outcome', async () => {
    await fc.assert(
      fc.asyncProperty(caseArb, async (given) => {
        const { agents, made } = await seedFixture(given)
        const modes = given.hosts.map(({ mode }) => mode)
        const since = t.clock.now() - days * dayMs
        const { change } = given
        const decision = change.effect === 'add' ? 'allow' : 'deny'
        if (change.what === 'decide') {
          // The new decision replaces an earlier one.
          const [first] = (await devicesOf(agents, modes)).filter((one) => !isTool(one))
          if (first !== undefined) await decide('policy/decisions', decision === 'allow' ? 'deny' : 'allow', [first])
          await settle()
        }
        // A decision holds for all of them. Modes and simulations are about used devices on hosts that can block.
        const all = await devicesOf(agents, modes)
        const before = all.filter(
          (one) => one.isEnforcing && (isAttached(one) || Date.parse(`${one.row.lastSeen}Z`) >= since),
        )
        const chosen = all.filter((one) => decision === 'deny' || !isTool(one))
        const uuids = agents.map(({ agentId }) => agentId)
        const isLasting = (rule: Rule): Rule => (rule.ends === 'over' ? { ...rule, ends: 'never' } : rule)
        const draft = {
          add: change.add.flatMap((rule) => inputOf(isLasting(rule), agents) ?? []),
          remove: change.remove ? made.slice(0, 1) : [],
        }

        // All previews of decisions examine the same hosts, devices and times, and so do all about modes.
        const arming = { action: 'arm', filter: {}, applyToPresent: change.applyToPresent }
        const ruled = await post('policy/preview', draft)
        const simulated = await post('policy/test', { draft, days })
        const inForce = await get(`agents/getPolicyTest?days=${days}&PageSize=1000`)
        const armed = await post('agents/bulk/preview', arming)
        const freed = await post('agents/bulk/preview', { action: 'free', filter: {} })
        const approved = await post('agents/bulk/preview', { action: 'approveAll', filter: {} })
        const tagged = await post('policy/tags/preview', {
          changes: [{ effect: change.effect, hashtags: [change.name], uuids }],
        })
        const listed = await post('agents/bulk/preview', {
          action: change.effect === 'add' ? 'tag' : 'untag',
          hashtags: [change.name],
          filter: {},
        })
        const decided =
          change.what !== 'decide' || chosen.length === 0
            ? ruled
            : await post('policy/preview', { decide: decisionOf(decision, chosen) })
        const timesOf = new Map((inForce.data as Row[]).map((one) => [keyOf(one.uuid, one.deviceID), one]))
        for (const [i, mode] of modes.entries())
          if (mode === 'observe')
            for (const one of (
              await get(`agents/getPolicyTest?days=${days}&PageSize=1000&hostUuid=${agents[i]?.agentId}`)
            ).data as Row[])
              timesOf.set(keyOf(one.uuid, one.deviceID), one)
        const attachmentsOf = (some: readonly Known[]): number =>
          some.reduce((sum, { key }) => sum + (timesOf.get(key)?.attachments ?? 0), 0)
        const subjectOf = (some: readonly Known[]) => {
          const { agents, peripherals } = countsOf(some)
          return { agents, peripherals, attachments: attachmentsOf(some) }
        }
        const basis = {
          computedAt: new Date(t.clock.now()).toISOString(),
          from: new Date(since).toISOString(),
          to: new Date(t.clock.now()).toISOString(),
          agents: new Set(before.map(({ agent }) => agent)).size,
          peripherals: before.length,
          attachments: attachmentsOf(before),
          isEveryDevice: false,
        }
        for (const { prediction } of [simulated, inForce, armed, freed]) expect(basisOf(prediction)).toEqual(basis)
        const everything = {
          ...basis,
          ...{ agents: new Set(all.map(({ agent }) => agent)).size, peripherals: all.length },
          ...{ attachments: attachmentsOf(all), isEveryDevice: true },
        }
        for (const { prediction } of [ruled, decided, approved, tagged, listed])
          expect(basisOf(prediction)).toEqual(everything)
        const { computedAt, agents: examined, peripherals } = basis
        expect(inForce).toMatchObject({ computedAt, days, agents: examined, peripherals, recordsTotal: peripherals })
        expect(listed.prediction).toEqual(tagged.prediction)
        const { newlyAllowed, newlyBlocked } = ruled.prediction as Prediction
        // The simulator and the arming dialog count the same.
        const { changed } = ruled.prediction as Prediction
        expect(simulated.blocked).toEqual(simulated.prediction.blocked)
        expect(changed).toMatchObject({ agents: ruled.agents, peripherals: ruled.peripherals })
        expect(inForce.blocked).toEqual(subjectOf(before.filter(blocks)))
        expect(armed.prediction.blocked).toEqual(inForce.blocked)
        expect([ruled.allowed, ruled.blocked]).toEqual([newlyAllowed.peripherals, newlyBlocked.peripherals])
        expect(simulated.blocked.peripherals).toBe(
          inForce.blocked.peripherals +
            simulated.prediction.newlyBlocked.peripherals -
            simulated.prediction.newlyAllowed.peripherals,
        )

        // A rollout arms the hosts that are not armed. The simulator and the bulk preview agree about those.
        const planned = await post('rollouts/plan', {
          kind: 'arm',
          name: 'all',
          rings: [{ name: 'all', sharePercent: 100 }],
          applyToPresent: arming.applyToPresent,
        })
        const toArm = before.filter(({ isArmed }) => !isArmed)
        expect(basisOf(planned.prediction)).toEqual({
          ...basis,
          agents: new Set(toArm.map(({ agent }) => agent)).size,
          peripherals: toArm.length,
          attachments: attachmentsOf(toArm),
        })
        expect(planned.prediction.blocked).toEqual(subjectOf(toArm.filter(blocks)))
        const stopsAtArming = (one: Known): boolean =>
          isAttached(one) && blocks(one) && (arming.applyToPresent || one.row.rule !== 'default')
        expect(planned.prediction.stopsWorking).toEqual(countsOf(toArm.filter(stopsAtArming)))
        const willBlock = toArm.filter((one) => stopsAtArming(one) || (!isAttached(one) && blocks(one)))
        expect(planned.rings[0].predictedBlocks).toBe(willBlock.length)
        for (const host of planned.hosts as { uuid: string; predictedBlocks: number }[])
          expect(host.predictedBlocks).toBe(willBlock.filter(({ agent }) => agent.agentId === host.uuid).length)
        expect(armed.blocked.peripherals).toBe(before.filter((one) => isAttached(one) && blocks(one)).length)

        // The change is made, and the prediction comes true.
        const predicted: Prediction = (
          { rules: ruled, arm: armed, free: freed, approve: approved, tags: tagged, decide: decided } as const
        )[change.what].prediction
        const wasBlocked = new Set(
          before
            .filter((one) => one.isArmed && isAttached(one) && blocks(one) && one.row.guard === '')
            .map(({ key }) => key),
        )
        if (change.what === 'rules') {
          for (const rule of draft.add) await post('policy/rules', rule)
          for (const id of draft.remove) ok(await api.delete(`${base}/policy/rules/${id}`))
        } else if (change.what === 'decide') {
          if (chosen.length > 0) await decide('policy/decisions', decision, chosen)
        } else if (change.what === 'tags')
          await post(`generalconfig/${change.effect === 'add' ? 'addhashtags' : 'deletehashtags'}`, {
            hashtags: [change.name],
            elementIds: uuids,
          })
        else if (change.what === 'approve') {
          await post('agents/bulk', { action: 'approveAll', filter: {} })
          await t.jobs.drain()
        }
        await settle()
        const after = new Map((await devicesOf(agents, modes)).map((one) => [one.key, one]))
        const now = (one: Known): Known => after.get(one.key) as Known
        const isMode = change.what === 'arm' || change.what === 'free'
        const counted = isMode ? before : all
        if (change.what !== 'decide' || chosen.length > 0) {
          expect(predicted.newlyAllowed).toEqual(countsOf(counted.filter((one) => blocks(one) && !blocks(now(one)))))
          expect(predicted.newlyBlocked).toEqual(countsOf(counted.filter((one) => !blocks(one) && blocks(now(one)))))
          const { agents: hosts, peripherals: devices } = predicted.changed
          const turned = isMode ? [] : all.filter((one) => blocks(one) !== blocks(now(one)))
          const numbers = (some: readonly Known[]) => {
            const { agents, peripherals } = countsOf(some)
            return { agents, peripherals }
          }
          expect({ agents: hosts, peripherals: devices }).toEqual(numbers(turned))
          expect(predicted.takesEffect).toEqual({
            now: numbers(turned.filter(({ isArmed }) => isArmed)),
            whenArmed: numbers(turned.filter(({ isArmed, isEnforcing }) => !isArmed && isEnforcing)),
            never: numbers(turned.filter(({ isEnforcing }) => !isEnforcing)),
          })
        }
        // Every device that the button decides about is counted, even if its decision stays.
        if (change.what === 'decide') {
          if (chosen.length > 0) expect(decided.matching).toMatchObject({ peripherals: chosen.length })
          expect(all.filter((one) => chosen.includes(one)).map((one) => now(one).row.decision)).toEqual(
            chosen.map(() => (decision === 'allow' ? 'allow' : 'block')),
          )
        }

        const isArmedAfter = (one: Known): boolean => change.what === 'arm' || (change.what !== 'free' && one.isArmed)
        const works = before
          .filter(({ key }) => wasBlocked.has(key))
          .filter((one) => !isArmedAfter(one) || !blocks(now(one)))
        expect(predicted.worksAgain).toEqual(countsOf(works))
        const stops = before.filter(
          (one) =>
            isArmedAfter(one) &&
            isAttached(one) &&
            !wasBlocked.has(one.key) &&
            (change.what === 'arm' ? stopsAtArming(one) : !blocks(one) && blocks(now(one))),
        )
        expect(predicted.stopsWorking).toEqual(countsOf(stops))
        if (change.what !== 'rules') return

        // The rule preview and the simulator name exactly the devices whose decision changed.
        const changedDevices = all.filter((one) => blocks(one) !== blocks(now(one)))
        const effects = ruled.effects as PolicyEffect[]
        expect(new Map(effects.map((one) => [keyOf(one.uuid, one.deviceID), one.after]))).toEqual(
          new Map(changedDevices.map((one) => [one.key, now(one).row.decision])),
        )
        const rows = (await post('policy/test', { draft: {}, days, pageSize: 1000 })).data as Row[]
        expect(new Map(rows.map((one) => [keyOf(one.uuid, one.deviceID), one.decision]))).toEqual(
          new Map(before.map((one) => [one.key, now(one).row.decision])),
        )
        expect(simulated.blocked.peripherals).toBe(before.filter((one) => blocks(now(one))).length)
        for (const { uuid, deviceID, lastSeen, attachments } of effects)
          expect({ lastSeen: timesOf.get(keyOf(uuid, deviceID))?.lastSeen ?? lastSeen, attachments }).toEqual({
            lastSeen,
            attachments: timesOf.get(keyOf(uuid, deviceID))?.attachments ?? 0,
          })
        expect(changed.attachments).toBe(attachmentsOf(changedDevices))
      }),
      { numRuns: 12, endOnFailure: true, examples },
    )
  }, 300_000)
})

interface Row {
  uuid: string
  deviceID: string
  decision: string
  lastSeen: string
  attachments: number
}
