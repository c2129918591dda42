import { expect, it } from 'vitest'
import type { Quarantine } from '#features/contract.ts'
import { timelineOf } from './timeline.ts'

const at = '2031-05-04T10:11:12.000Z'
const step = (name: Quarantine['timeline'][number]['step'], ok = true) => ({
  at,
  step: name,
  ok,
  by: 'ada',
  message: 'm',
})

it('labels each step with the name of the system, and names the next one', () => {
  const { lines, next } = timelineOf({
    system: 'ise',
    state: 'applied',
    awaitsApproval: false,
    timeline: [step('asked'), step('applying'), step('delayed', false), step('applied')],
  })
  expect(lines.map(({ label, mark }) => [label, mark])).toEqual([
    ['Requested', 'done'],
    ['Sent to Cisco ISE', 'done'],
    ['Will be retried', 'failed'],
    ['Accepted by Cisco ISE', 'done'],
  ])
  // Steps of the same moment have different keys.
  expect(new Set(lines.map(({ key }) => key)).size).toBe(4)
  expect(next).toBe('Verifying with Cisco ISE')
})

it('has no next step after the end or while a person has to act', () => {
  for (const state of ['verified', 'cleared', 'failed', 'dismissed', 'waiting'] as const)
    expect([state, timelineOf({ system: 'cact', state, awaitsApproval: false, timeline: [] }).next]).toEqual([
      state,
      null,
    ])
  const timeline = [step('asked'), step('waiting', false)]
  const lastMark = (state: Quarantine['state'], awaitsApproval: boolean) =>
    timelineOf({ system: 'ise', state, awaitsApproval, timeline }).lines.at(-1)?.mark
  // A part of the addresses can await approval while the rest is in force.
  expect([lastMark('waiting', true), lastMark('verified', true), lastMark('wanted', false)]).toEqual([
    'open',
    'open',
    'done',
  ])
})
