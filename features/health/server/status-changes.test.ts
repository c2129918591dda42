import { describe, expect, it } from 'vitest'
import type { HealthStatus } from '#features/contract.ts'
import { createStatusChanges } from './status-changes.ts'

const statuses = { o: 'OK', w: 'Warning', e: 'Error', u: 'Unknown' } as const satisfies Record<string, HealthStatus>
const letter = (status: HealthStatus) => status[0]?.toLowerCase()

/** Feeds statuses 15 s apart, by their first letters. Returns each change as `<from><to>@<first observation>`. */
const changes = (statusLetters: string, from: HealthStatus = 'OK'): string[] => {
  const evaluate = createStatusChanges()
  let current = from
  return [...statusLetters].flatMap((one, i) => {
    const change = evaluate(current, { status: statuses[one as 'o'], description: `observation ${i}`, at: i * 15_000 })
    if (change === null) return []
    const text = `${letter(current)}${letter(change.status)}@${change.at / 15_000}`
    current = change.status
    return [text]
  })
}

describe('health observations', () => {
  it.each([
    ['ooooo', []],
    ['oeooo', []],
    ['oeeoo', ['oe@1', 'eo@3']],
    ['owwee', ['ow@1', 'we@3']],
    // The milder of both.
    ['owe', ['ow@1']],
    ['eewwoo', ['oe@0', 'ew@2', 'wo@4']],
    ['eeowo', ['oe@0', 'ew@2']],
    ['uu', ['ou@0']],
    ['uoo', []],
    ['eeuu', ['oe@0', 'eu@2']],
  ] as const)('turn %s into the expected changes', (statusLetters, expected) =>
    expect(changes(statusLetters)).toEqual(expected),
  )

  it('make one change while they flap', () => {
    expect(changes('oe'.repeat(50))).toEqual(['oe@1'])
  })

  it('stay bad after a few changes if they flap in pairs', () => {
    expect(changes('eeoo'.repeat(60))).toEqual(['oe@0', 'eo@2', 'oe@4'])
  })

  it('get better after at most ten good minutes, and after the usual two after a quiet hour', () => {
    const flapping = 'eeoo'.repeat(20)
    expect(changes(flapping + 'o'.repeat(4)).at(-1)).toBe('eo@78')
    const many = changes(`ee${'o'.repeat(40)}`.repeat(4))
    expect(many).toHaveLength(8)
    expect(changes(`eeooee${'o'.repeat(240)}eeoo`).slice(-2)).toEqual(['oe@246', 'eo@248'])
  })
})
