import type { Quarantine } from '@portcullis/contract'
import { expect, it } from 'vitest'
import { timelineOf } from './timeline.ts'

const at = '2031-05-04T10:11:12.000Z'
const step = (name: Quarantine['timeline'][number]['step'], ok = true) => ({
  at,
  step: name,
  ok,
  by: 'ada',
  message: 'm',
})

it('tells the story in words with the name of the system, and what is under way', () => {
  const { lines, next } = timelineOf({
    system: 'ise',
    state: 'applied',
    timeline: [step('asked'), step('applying'), step('delayed', false), step('applied')],
  })
  expect(lines.map(({ words, mark }) => [words, mark])).toEqual([
    ['Asked for', 'done'],
    ['Sent to Cisco ISE', 'done'],
    ['Tried again later', 'failed'],
    ['Taken by Cisco ISE', 'done'],
  ])
  // Steps of one moment are still different lines.
  expect(new Set(lines.map(({ key }) => key)).size).toBe(4)
  expect(next).toBe('Read back from Cisco ISE')
})

it('has nothing under way where it ended or a person has to act', () => {
  for (const state of ['verified', 'cleared', 'failed', 'dismissed', 'waiting'] as const)
    expect([state, timelineOf({ system: 'cact', state, timeline: [] }).next]).toEqual([state, null])
  const timeline = [step('asked'), step('waiting', false)]
  const lastMark = (state: Quarantine['state']) => timelineOf({ system: 'ise', state, timeline }).lines.at(-1)?.mark
  expect([lastMark('waiting'), lastMark('wanted')]).toEqual(['open', 'done'])
})
