import { factsHash } from '@portcullis/domain'
import { storageStick } from '@portcullis/domain/testing'
import { hostFacts } from '@portcullis/server/test/builders.ts'
import { evaluated } from '@portcullis/server/test/evaluated.ts'
import { describe, expect, it } from 'vitest'
import type { AgentState } from '#features/agents/server/index.ts'
import type { CheckInRequest } from '#features/contract.ts'
import { storedHash } from './apply-report.ts'
import { collectReport, isArmed, type Received, refusalOf, skewSeconds } from './collect-report.ts'

const noon = Date.parse('2031-05-04T12:00:00.000Z')
const state: AgentState = {
  ...{ agent_id: 'a', boot_id: 'b', seq: 4, last_seen: new Date(noon - 60_000), skew_seconds: 0 },
  ...{ inventory_hash: 'hash', facts_hash: 'facts', host: 'H', address: '10.0.0.1', enforcement: '' },
  ...{ hashtags: 'lab', armed: false, has_commands: false, policy_due: false },
}
const request = (members: object = {}): CheckInRequest =>
  ({ bootId: 'b', seq: 5, clock: noon, inventoryHash: storedHash([]), ...members }) as CheckInRequest
const stick = storageStick({ portPath: '1-1', serial: 'S1' })
const dictionary = new Map([
  ['Linux', 1],
  ['1.0.0', 2],
])

const collect = (
  members: object = {},
  {
    of = {} as Partial<AgentState>,
    received = {} as Partial<Received>,
    inventory = null as Parameters<typeof collectReport>[2]['inventory'],
    stored = [] as Parameters<typeof collectReport>[3],
  } = {},
) => {
  const given = request(members)
  const changes = (given.changes ?? []).map((change) =>
    'device' in change ? { ...change, device: evaluated(change.device) } : change,
  )
  const dated = changes.map(({ at: _, beforeRestart: __, repeated: ___, ...change }) => change)
  return collectReport(
    { ...state, ...of },
    { request: given, ageMs: 0, receivedAt: noon, ...received },
    { changes: dated as never, inventory },
    stored,
    dictionary,
  )
}

describe('a check-in changes nothing', () => {
  it('of an unknown host, of an earlier boot and with a known sequence number', () => {
    expect(refusalOf(undefined, request())).toMatchObject({ code: 'agent_unknown' })
    expect(refusalOf(state, request({ bootId: 'old' }))).toMatchObject({ code: 'agent_session_superseded' })
    expect(refusalOf(state, request({ seq: 4 }))).toEqual({ hasCommands: false })
    expect(refusalOf({ ...state, has_commands: true }, request({ seq: 3 }))).toEqual({ hasCommands: true })
    expect(refusalOf(state, request())).toBeNull()
  })
})

describe('a host is armed', () => {
  it('by its report, and without one as stored', () => {
    const report = (mode: string) => request({ enforcement: { mode, policyVersion: 1, reason: '' } })
    expect([true, false].map((armed) => isArmed({ ...state, armed }, undefined))).toEqual([true, false])
    expect([true, false].map((armed) => isArmed({ ...state, armed }, request()))).toEqual([true, false])
    expect([true, false].map((armed) => isArmed({ ...state, armed }, report('Armed')))).toEqual([true, true])
    expect([true, false].map((armed) => isArmed({ ...state, armed }, report('Free')))).toEqual([false, false])
  })
})

describe('the clock of a host', () => {
  it('is ahead by whole seconds that fit into the database', () => {
    const skew = (clock: number) => skewSeconds({ clock, ageMs: 500, receivedAt: 1_000 })
    expect([500, 2_400, -1_200].map(skew)).toEqual([0, 2, -2])
    expect([Number.MAX_SAFE_INTEGER, -Number.MAX_SAFE_INTEGER].map(skew)).toEqual([2_147_483_647, -2_147_483_648])
  })
})

describe('a check-in', () => {
  it('without changes is a heartbeat', () => {
    expect(collect()).toMatchObject({
      ...{ agentId: 'a', isFirst: false, isMoved: false, facts: null, mode: null, held: null, errors: [] },
      events: { mode: [], dropped: [], errors: [] },
      beat: { agentId: 'a', seq: 5, inventoryHash: storedHash([]), factsHash: null, skewSeconds: 0, address: '' },
      outcome: { needInventory: false, needFacts: false, needPolicy: false, hasCommands: false },
    })
    const { seen, beat } = collect({}, { received: { address: '10.9.9.9', ageMs: 2_000 } })
    expect(seen).toEqual(state)
    expect([beat.address, beat.skewSeconds]).toEqual(['10.9.9.9', 2])
  })

  it('is answered with what the server needs and has', () => {
    const outcome = (members: object, of: Partial<AgentState> = {}) => collect(members, { of }).outcome
    expect(outcome({ inventoryHash: 'other' }).needInventory).toBe(true)
    expect(outcome({ factsHash: 'facts' }).needFacts).toBe(false)
    expect(outcome({ factsHash: 'other' }).needFacts).toBe(true)
    const facts = { ...hostFacts(), osName: 'Linux', osVersion: '', agentVersion: '1.0.0' }
    expect(outcome({ factsHash: factsHash(facts), facts }).needFacts).toBe(false)
    expect(outcome({ factsHash: 'facts', facts }).needFacts).toBe(true)
    expect(outcome({}, { policy_due: true, has_commands: true })).toMatchObject({ needPolicy: true, hasCommands: true })
  })

  it('with facts shows their name and address, and stores them', () => {
    const facts = {
      ...hostFacts(),
      hostname: 'NEW',
      address: '10.0.0.2',
      osName: 'Linux',
      osVersion: '',
      agentVersion: '1.0.0',
    }
    const collected = collect({ facts, enforcement: { mode: 'Armed', policyVersion: 3, reason: '' } })
    expect(collected.facts).toMatchObject({ agentId: 'a', host: 'NEW', address: '10.0.0.2' })
    expect(collected.seen).toMatchObject({ host: 'NEW', address: '10.0.0.2', hashtags: 'lab' })
    expect(collected.state).toEqual(state)
    expect(collected.beat.factsHash).toBe(factsHash(facts))
    expect(collected.events.mode[0]?.entity).toBe('NEW (10.0.0.2)')
  })

  it('with a change moves the host, and says when it happened', () => {
    const { applied, isMoved, current, outcome } = collect({
      changes: [
        { op: 'attached', at: noon - 5_000, device: stick },
        { op: 'removed', at: noon - 1_000, portPath: '1-1' },
      ],
    })
    expect(applied.changes.map(({ what, occurred }) => [what, occurred?.at])).toEqual([
      ['attached', noon - 5_000],
      ['gone', noon - 1_000],
    ])
    expect([isMoved, current.length, outcome.needInventory]).toEqual([true, 1, false])
  })

  it('with changes from before a restart covers both clocks of the host', () => {
    const at = noon - 5_000
    const changes = [
      { op: 'attached', at, device: stick, repeated: { count: 2, at: at + 1_000, beforeRestart: true } },
      { op: 'removed', at: at + 2_000, portPath: '1-1', beforeRestart: true },
      { op: 'attached', at: at + 3_000, device: stick, repeated: { count: 1, at: at + 3_500 } },
    ]
    const { applied } = collect({ changes }, { of: { skew_seconds: -6 } })
    const [first, second, third] = applied.changes
    expect(first).toMatchObject({ occurred: { at, uncertaintyMs: 1_000 }, repeated: { count: 2 } })
    expect(first?.repeated?.last?.uncertaintyMs).toBe(4_000)
    expect(second?.occurred?.uncertaintyMs).toBe(4_000)
    expect([first?.repeated?.last?.at, second?.occurred?.at]).toEqual([noon - 1_000, noon])
    expect(third?.repeated?.last).toEqual({ at: at + 3_500, uncertaintyMs: 1_000 })
    // An older agent does not say how long its check-in waited.
    const older = collect({ changes: changes.slice(2) }, { received: { ageMs: undefined } })
    expect(older.applied.changes[0]?.occurred?.uncertaintyMs).toBe(61_000)
  })

  it('with dropped changes raises an event for each port', () => {
    const { events, isMoved } = collect({
      changes: [
        { op: 'dropped', at: noon - 5_000, portPath: '1-1', repeated: { count: 4, at: noon } },
        { op: 'removed', at: noon, portPath: '1-2' },
      ],
    })
    expect(events.dropped.map(({ kind, details }) => [kind, details])).toEqual([
      ['changesDropped', 'Port 1-1: 5 changes between 2031-05-04T11:59:55Z and 2031-05-04T12:00:00Z'],
    ])
    expect(isMoved).toBe(false)
  })

  it('with the first inventory of a host is the first, and only then', () => {
    const blind = { inventory_hash: null }
    const device = evaluated(stick)
    const first = collect({ inventoryHash: 'x' }, { of: blind, inventory: [device] })
    expect(first).toMatchObject({ isFirst: true, isMoved: true })
    expect(first.beat.inventoryHash).toBe(storedHash(first.current))
    expect(collect({}, { of: blind }).isFirst).toBe(false)
    expect(collect({}, { of: blind, inventory: [device], stored: first.current }).isFirst).toBe(false)
    expect(collect({}, { inventory: [device] }).isFirst).toBe(false)
    const attachedAt = new Map([['1-1', { at: noon, uncertaintyMs: 7 }]])
    const timed = collect({}, { of: blind, inventory: [device], received: { attachedAt } })
    expect(timed.applied.changes[0]?.occurred).toEqual({ at: noon, uncertaintyMs: 7 })
  })

  it('with changes before the first inventory changes nothing and asks for the inventory', () => {
    const changes = [{ op: 'attached', at: noon, device: stick }]
    const blind = collect({ changes }, { of: { inventory_hash: null } })
    expect(blind).toMatchObject({ isMoved: false, current: [], beat: { inventoryHash: null } })
    expect(blind.outcome.needInventory).toBe(true)
    const both = collect({ changes }, { of: { inventory_hash: null }, inventory: [evaluated(stick)] })
    expect(both.current).toHaveLength(1)
  })

  it('with a new mode moves the host and raises an event', () => {
    const report = (mode: string, reason = '') => ({ enforcement: { mode, policyVersion: 3, reason } })
    const armed = collect(report('Armed'))
    expect(armed).toMatchObject({ isMoved: true, mode: { agentId: 'a', armed: true, version: 3, reason: '' } })
    expect(armed.events.mode.map(({ kind }) => kind)).toEqual(['armed'])
    const again = collect(report('Armed'), { of: { armed: true } })
    expect(again).toMatchObject({ isMoved: false, mode: { armed: true }, events: { mode: [] } })
    const freed = collect(report('Free', 'by\u202eroot'.repeat(200)), { of: { armed: true } })
    expect(freed.events.mode[0]).toMatchObject({ kind: 'reverted', details: freed.mode?.reason })
    expect(freed.mode?.reason).toHaveLength(500)
    expect(freed.mode?.reason).not.toContain('\u202e')
    const held = [{ id: 'h' }]
    expect(collect({ enforcement: { ...report('Free').enforcement, held } }).held).toEqual(held)
    expect(collect(report('Free')).held).toBeNull()
  })

  it('with errors stores them cleaned and raises an event for each', () => {
    const errors = [
      { at: noon - 2_000, code: 'disk_full', message: `no\u202espace${'x'.repeat(600)}` },
      { at: Number.MAX_SAFE_INTEGER, code: 'c'.repeat(70), message: 'm' },
    ]
    const collected = collect({ errors })
    const [first, second] = collected.errors
    expect(Object.keys(first ?? {})).toEqual(['agentId', 'at', 'code', 'message'])
    expect(first).toMatchObject({ agentId: 'a', at: new Date(noon - 2_000), code: 'disk_full' })
    expect(first?.message).toHaveLength(500)
    expect(first?.message).not.toContain('\u202e')
    expect([second?.at.getTime(), second?.code.length]).toEqual([8.64e15, 64])
    expect(collected.events.errors).toMatchObject([
      {
        ...{ agentId: 'a', entity: 'H (10.0.0.1)', hashtags: 'lab', kind: 'agentError', details: first?.message },
        occurred: { at: noon - 2_000, uncertaintyMs: 1_000 },
      },
      { occurred: undefined },
    ])
    expect(collect().acks).toBeUndefined()
    const acks = [{ commandId: 'c', outcome: 'confirmed', message: '' }]
    expect(collect({ acks }).acks).toEqual(acks)
  })
})
