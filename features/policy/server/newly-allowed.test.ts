import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import { contextOf } from '@portcullis/server/test/capability-app.ts'
import { describe, expect, it } from 'vitest'
import { createNewlyAllowed, type OpenedDevices } from './newly-allowed.read.ts'
import type { RuleRow } from './policy.store.ts'

const now = new Date('2031-05-04T10:11:12Z')
const q = {} as Queryable

/** Returns the deny of one device on one host. */
const denyOn = (host: number): RuleRow => ({
  rule_id: `rule-${host}`,
  effect: 'deny',
  is_grant: false,
  vid: '0951',
  pid: '1666',
  serial: `S${host}`,
  kinds: null,
  fingerprint: null,
  agent_id: `host-${host}`,
  tag_id: null,
  tag_name: null,
  expires_at: null,
  reason: 'x',
  override_attack_tool: false,
  origin: 'approval',
  created_at: now,
  created_by: 'ada',
  changed_at: now,
  changed_by: 'ada',
  seal: Buffer.alloc(0),
})

describe('the hosts that a change opens', () => {
  it('are found by a few queries, even if it deletes the denies of thousands of hosts', async () => {
    const asked: string[] = []
    const counted: (readonly OpenedDevices[])[] = []
    const newlyAllowed = createNewlyAllowed(
      contextOf({ wide: async () => [] }),
      contextOf({
        fingerprintsOf: async (_q: unknown, rules: readonly unknown[]) => {
          asked.push('fingerprints')
          return new Set(rules.length === 0 ? [] : [1])
        },
      }),
      {
        hosts: async () => 0,
        count: async (_q, opened) => {
          counted.push(opened)
          return new Set(opened.map(({ agentId }) => agentId)).size
        },
        among: async () => [],
        withOwnAllow: async () => {
          asked.push('own allows')
          return []
        },
        withOwnUnseen: async () => [],
        approvable: async () => 0,
        undecided: async () => [],
      },
    )
    const gone = Array.from({ length: 2_000 }, (_, host) => denyOn(host))
    expect(await newlyAllowed.measure(q, { gone, write: [] }, now)).toEqual({
      ...{ hosts: 2_000, isForLaterHosts: false, isForAnyHost: false },
    })
    expect(counted[0]?.[7]).toEqual({ fingerprintId: 1, serial: 'S7', source: 2, agentId: 'host-7', isGuarded: true })
    expect(asked).toEqual(['fingerprints', 'fingerprints', 'own allows'])
  })
})
