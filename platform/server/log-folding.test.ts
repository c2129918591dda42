// Invariant: The log aggregates repeated lines and never drops the first line of a kind.

import pino from 'pino'
import { describe, expect, it } from 'vitest'
import { createFolding } from './log-folding.ts'

const setUp = () => {
  const lines: Record<string, unknown>[] = []
  const { logMethod, flush } = createFolding()
  const log = pino({ base: null, hooks: { logMethod } }, { write: (line) => lines.push(JSON.parse(line)) })
  return { log, flush, lines }
}
const failure = (code: string) => Object.assign(new Error('failed'), { code })

describe('aggregation of log lines', () => {
  it('writes the first line in full and counts the others', () => {
    const { log, flush, lines } = setUp()
    for (let i = 0; i < 10_000; i++) log.error({ route: '/a', traceId: i, err: failure('E1') }, 'request failed')
    expect(lines).toHaveLength(1)
    expect(lines[0]).toMatchObject({
      traceId: 0,
      msg: 'request failed',
      err: { stack: expect.stringContaining('at ') },
    })
    flush()
    expect(lines[1]).toMatchObject({ level: 50, folded: 9_999, msg: 'request failed', code: 'E1', route: '/a' })
    flush()
    expect(lines).toHaveLength(2)
  })

  it('writes the stack trace once', () => {
    const { log, flush, lines } = setUp()
    for (let i = 0; i < 3; i++) {
      log.error({ err: failure('E1') }, 'request failed')
      flush()
    }
    expect(lines.map(({ err }) => 'stack' in (err as object))).toEqual([true, false, false])
    expect(lines[2]).toMatchObject({ err: { code: 'E1', reason: 'failed' } })
  })

  it('distinguishes lines by level, message, error and route, also of child loggers', () => {
    const { log, lines } = setUp()
    for (let i = 0; i < 2; i++) {
      log.error({ err: failure('E1') }, 'a')
      log.error({ err: failure('E2') }, 'a')
      log.warn({ err: failure('E1') }, 'a')
      log.error({ err: failure('E1') }, 'b')
      log.child({ reqId: i }).error({ route: '/a', err: failure('E1') }, 'a')
      log.error(failure('E3'))
    }
    expect(lines).toHaveLength(6)
  })

  it('distinguishes lines by code and cause, even without an error', () => {
    const { log, flush, lines } = setUp()
    for (let i = 0; i < 3; i++) {
      log.warn({ code: 'refused', cause: 'clock', reason: `late by ${i} s` }, 'a sign-in failed')
      log.warn({ code: 'refused', cause: 'issuer', reason: 'another' }, 'a sign-in failed')
      log.warn({ code: 'denied', reason: 'cancelled' }, 'a sign-in failed')
    }
    expect(lines.map(({ reason }) => reason)).toEqual(['late by 0 s', 'another', 'cancelled'])
    flush()
    expect(lines.slice(3)).toMatchObject([
      { folded: 2, code: 'refused', cause: 'clock' },
      { folded: 2, code: 'refused', cause: 'issuer' },
      { folded: 2, code: 'denied' },
    ])
  })

  it('loses no first line and no count, however many kinds exist', () => {
    const { log, flush, lines } = setUp()
    for (let i = 0; i < 5_000; i++) for (let n = 0; n < 3; n++) log.warn(`kind ${i}`)
    flush()
    expect(lines.filter(({ folded }) => folded === undefined)).toHaveLength(5_000)
    expect(lines.reduce((sum, { folded = 0 }) => sum + Number(folded), 0)).toBe(10_000)
  })

  it('keeps information lines until they repeat often', () => {
    const { log, flush, lines } = setUp()
    for (let i = 0; i < 25; i++) log.info({ job: i }, 'job ended')
    flush()
    expect(lines).toHaveLength(21)
    expect(lines[20]).toMatchObject({ folded: 5 })
  })
})
