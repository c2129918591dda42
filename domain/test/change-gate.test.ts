import { describe, expect, it } from 'vitest'
import { type ApprovalCase, evaluateApproval, evaluateChange, type Influence } from '../src/change-gate.ts'
import { exactKey, explore, type Gate, gate, shortKey, start } from './change-gate.model.ts'

/** The exploration takes several seconds, and longer in parallel with other tests. */
const patience = 120_000

describe('exhaustive exploration of the second approver', () => {
  it(
    'no sequence of operations gets one Administrator with a stolen Manager token past the gate',
    () => {
      // Without the token the attacker has fewer operations in the same states, so this covers that case as well.
      const { states, steps, depth, bypass } = explore(start(true), gate, shortKey)
      console.info(`${states} states, ${steps} operations tried, longest path ${depth}`)
      expect(bypass).toBeNull()
      // A lower number would mean that the model lost operations.
      expect(states).toBeGreaterThan(30_000)
    },
    patience,
  )

  const changed = (change: (given: ApprovalCase) => ApprovalCase): Partial<Gate> => ({
    evaluateApproval: (given) => evaluateApproval(change(given)),
  })
  const only = (keep: (one: Influence) => boolean) =>
    changed((given) => ({ ...given, influences: given.influences.filter(keep) }))
  const without = (kind: string): Partial<Gate> => ({
    evaluateChange: (state, actor, given) =>
      given.kind === kind || (given.kind === 'account' && given.change === kind)
        ? 'allow'
        : evaluateChange(state, actor, given),
  })
  const mutants: readonly [string, Partial<Gate>][] = [
    ['counts the Administrators of now instead of latching', { ...without('disable'), isLatched: (n) => n >= 2 }],
    ...(
      ['disable', 'demote', 'delete', 'password', 'factor', 'email', 'signIn', 'program', 'limit', 'allow'] as const
    ).map((kind): [string, Partial<Gate>] => [`does not evaluate ${kind}`, without(kind)]),
    ['counts the window by account', { window: (_, own) => own }],
    ['forgets who made an account', only((one) => one.isApproved)],
    ['forgets everything but the 24 hours after a password was set', only((one) => one.how === 'password')],
    [
      'checks only the direct controller',
      changed((given) => {
        const { approver, requester } = given
        const direct = given.influences.filter(
          ({ by, accountId }) => by === approver?.accountId || by === requester?.accountId || accountId === 'nobody',
        )
        return { ...given, influences: direct.filter(({ by }) => by === 'a') }
      }),
    ],
    ['lets an API token approve', changed((given) => ({ ...given, isApiToken: false }))],
    [
      'lets an API token request',
      { evaluateChange: (state, _actor, given) => evaluateChange(state, { isApiToken: false }, given) },
    ],
    [
      'lets the requester approve',
      { evaluateApproval: (given) => (evaluateApproval(given) === 'own' ? null : evaluateApproval(given)) },
    ],
  ]
  it.each(mutants)(
    'finds the bypass when the gate %s',
    (name, mutant) => {
      const { bypass } = explore(start(true), { ...gate, ...mutant }, exactKey)
      console.info(`${name}: ${bypass?.ops.map((op) => JSON.stringify(Object.values(op))).join(' ')}: ${bypass?.why}`)
      expect(bypass).not.toBeNull()
    },
    patience,
  )
})
