import { describe, expect, it } from 'vitest'
import type { AcceptedRow } from './accepted.store.ts'
import { withAcceptance } from './accepted.ts'
import type { Verdict } from './fingerprint.ts'

const accepted: AcceptedRow = {
  acceptance_id: '0198f2a0-0000-7000-8000-000000000001',
  ...{ fingerprint: 'f'.repeat(32), finding: 'Types and stores', vid: '1209', pid: '0001' },
  ...{ reason: 'macro pad', accepted_by: 'eva', accepted_at: new Date(0), seal: Buffer.alloc(0) },
}
const verdict = (change: Partial<Verdict>): Verdict => ({
  ...({
    accepted: false,
    attackTool: 'suspected',
    attackToolName: 'Types and stores',
    evidence: [],
  } as unknown as Verdict),
  ...{ vulnerable: false, vulnerabilities: [], severity: 40, findings: 'Types and stores' },
  ...change,
})

describe('an acceptance', () => {
  it('leaves the suspected finding that it names out of the verdict', () =>
    expect(withAcceptance(verdict({}), accepted)).toMatchObject({
      ...{ accepted: true, attackTool: null, attackToolName: '', findings: '' },
      evidence: ['Accepted by eva: macro pad'],
    }))

  it.each<[string, Partial<Verdict>]>([
    ['a confirmed finding', { attackTool: 'confirmed' }],
    ['another finding', { attackToolName: 'Types at once' }],
    ['a verdict without a finding', { attackTool: null, attackToolName: '' }],
  ])('does not change %s', (_, change) => {
    const given = verdict(change)
    expect(withAcceptance(given, accepted)).toBe(given)
  })
})
