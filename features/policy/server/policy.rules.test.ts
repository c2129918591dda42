import type { Actor } from '@portcullis/platform/server/http/actor.ts'
import { describe, expect, it } from 'vitest'
import { replacing, writtenRule } from './policy.rules.ts'

const many = 1_000

/** Returns a decision for each of many hosts. `read` is called whenever something compares one of them. */
const decisions = (effect: 'allow' | 'deny', read: () => void) =>
  Array.from({ length: many }, (_, host) => ({
    effect,
    get vid() {
      read()
      return '0951'
    },
    pid: '1666',
    serial: null,
    kinds: null,
    fingerprint: null,
    agent_id: String(host),
    tag_name: null,
    expires_at: null,
    override_attack_tool: false,
  }))

describe('a decision about many devices', () => {
  it('compares each device once with earlier decisions', () => {
    let reads = 0
    const read = () => {
      reads++
    }
    const [earlier, same, opposite] = [decisions('deny', read), decisions('deny', read), decisions('allow', read)]
    expect(replacing(same, earlier)).toEqual({ write: [], remove: [] })
    const change = replacing(opposite, earlier)
    expect([change.write, change.remove]).toEqual([opposite, earlier])
    reads = 0
    replacing(opposite, earlier)
    expect(reads).toBeLessThanOrEqual(2 * many)
  })
})

describe('the reason of a rule', () => {
  it('may be empty for a deny rule only', () => {
    const actor = { profile: 10 } as Actor
    const write = (effect: 'allow' | 'deny') =>
      writtenRule({ effect, vid: '0951', reason: ' ' }, { actor, now: 0, field: 'body', grantMaxHours: 1 })
    expect(write('deny').reason).toBe('')
    expect(() => write('allow')).toThrow()
  })
})
