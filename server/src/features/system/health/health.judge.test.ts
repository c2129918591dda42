import type { HealthStatus } from '@portcullis/contract'
import { describe, expect, it } from 'vitest'
import { createJudge } from './health.judge.ts'

const statuses = { o: 'OK', w: 'Warning', e: 'Error', u: 'Unknown' } as const satisfies Record<string, HealthStatus>
const letter = (status: HealthStatus) => status[0]?.toLowerCase()

/** Looks 15 s apart, by their first letters; what became of them as `<from><to>@<look that told first>`. */
const turns = (looks: string, from: HealthStatus = 'OK'): string[] => {
  const judge = createJudge()
  let current = from
  return [...looks].flatMap((one, i) => {
    const turn = judge(current, { status: statuses[one as 'o'], description: `look ${i}`, at: i * 15_000 })
    if (turn === null) return []
    const told = `${letter(current)}${letter(turn.status)}@${turn.at / 15_000}`
    current = turn.status
    return [told]
  })
}

describe('looks', () => {
  it.each([
    ['ooooo', []],
    ['oeooo', []],
    ['oeeoo', ['oe@1', 'eo@3']],
    ['owwee', ['ow@1', 'we@3']],
    // As bad as both of them say.
    ['owe', ['ow@1']],
    ['eewwoo', ['oe@0', 'ew@2', 'wo@4']],
    ['eeowo', ['oe@0', 'ew@2']],
    ['uu', ['ou@0']],
    ['uoo', []],
    ['eeuu', ['oe@0', 'eu@2']],
  ] as const)('%s', (looks, expected) => expect(turns(looks)).toEqual(expected))

  it('that come and go are one change', () => {
    expect(turns('oe'.repeat(50))).toEqual(['oe@1'])
  })

  it('that come and go in pairs stay bad after a few changes', () => {
    expect(turns('eeoo'.repeat(60))).toEqual(['oe@0', 'eo@2', 'oe@4'])
  })

  it('get better after ten minutes in order at most, and after the usual two when an hour was quiet', () => {
    const flapping = 'eeoo'.repeat(20)
    expect(turns(flapping + 'o'.repeat(4)).at(-1)).toBe('eo@78')
    const many = turns(`ee${'o'.repeat(40)}`.repeat(4))
    expect(many).toHaveLength(8)
    expect(turns(`eeooee${'o'.repeat(240)}eeoo`).slice(-2)).toEqual(['oe@246', 'eo@248'])
  })
})
