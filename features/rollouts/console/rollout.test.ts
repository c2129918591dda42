import { describe, expect, it } from 'vitest'
import {
  controlsOf,
  draftFault,
  firstDraft,
  hostStateOrder,
  inputOf,
  ringHosts,
  ringParts,
  ringText,
} from './rollout.ts'

const none = Object.fromEntries(hostStateOrder.map((state) => [state, 0])) as Parameters<typeof ringHosts>[0]['hosts']

describe('rollout', () => {
  it('offers the actions that its state allows', () => {
    expect(controlsOf({ kind: 'arm', state: 'running' })).toEqual({
      pause: true,
      resume: false,
      halt: true,
      revert: true,
      cancel: true,
    })
    expect(controlsOf({ kind: 'arm', state: 'halted' })).toMatchObject({ resume: true, halt: false, revert: true })
    expect(controlsOf({ kind: 'update', state: 'halted' })).toMatchObject({ revert: false })
    expect(Object.values(controlsOf({ kind: 'arm', state: 'completed' }))).toEqual([false, false, false, false, false])
  })

  it('returns the hosts of a ring in order, without empty states', () => {
    const ring = { hosts: { ...none, waiting: 2, done: 5, failed: 1 } }
    expect(ringHosts(ring)).toBe(8)
    expect(ringParts(ring)).toEqual([
      { state: 'done', hosts: 5 },
      { state: 'failed', hosts: 1 },
      { state: 'waiting', hosts: 2 },
    ])
  })

  it('says which hosts a ring takes', () => {
    expect(ringText({ tags: ['canary', 'lab'] })).toBe('Hosts with #canary or #lab')
    expect(ringText({ tags: [], sharePercent: 10 })).toBe('10 % of remaining hosts')
    expect(ringText({ tags: [], sharePercent: 100 })).toBe('All remaining hosts')
  })
})

describe('rollout draft', () => {
  const draft = firstDraft('arm')

  it('is complete by default', () => {
    expect(draftFault(draft)).toBeNull()
    expect(inputOf(draft)).toMatchObject({
      kind: 'arm',
      name: 'Arm hosts',
      rings: [{ sharePercent: 10 }, { sharePercent: 50 }, { name: 'All remaining hosts', sharePercent: 100 }],
    })
    expect(JSON.stringify(inputOf(draft))).not.toContain('key')
  })

  it('says what is missing', () => {
    const [first, second, rest] = draft.rings as [never, never, never]
    expect(draftFault({ rings: [] })).toMatch(/at least one ring/)
    expect(draftFault({ rings: [{ ...(first as object), name: ' ' } as never] })).toBe('Ring 1 needs a name.')
    expect(draftFault({ rings: [{ ...(first as object), by: 'tags' } as never] })).toBe(
      'Ring 1 needs at least one tag.',
    )
    expect(draftFault({ rings: [rest, second] })).toMatch(/must be the last ring/)
  })
})
