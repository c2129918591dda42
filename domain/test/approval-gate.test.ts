import { describe, expect, it } from 'vitest'
import { type ApprovalCase, type Influence, judgeApproval, judgeWish } from '../src/approval-gate.ts'
import { exactKey, explore, type Gate, gate, shortKey, start } from './approval-gate.model.ts'

/** Both explorations take some seconds; more beside other tests. */
const patience = 120_000

describe('finding 4: the second approver, explored exhaustively', () => {
  it.each([
    ['one Administrator', false],
    ['one Administrator with a stolen Manager token', true],
  ])(
    'no sequence of operations gets %s past the gate',
    (who, withToken) => {
      const { states, steps, depth, bypass } = explore(start(withToken), gate, shortKey)
      console.info(`${who}: ${states} states, ${steps} operations tried, longest path ${depth}`)
      expect(bypass).toBeNull()
      // Fewer would mean that the model lost operations.
      expect(states).toBeGreaterThan(30_000)
    },
    patience,
  )

  const changed = (change: (given: ApprovalCase) => ApprovalCase): Partial<Gate> => ({
    judgeApproval: (given) => judgeApproval(change(given)),
  })
  const only = (keep: (one: Influence) => boolean) =>
    changed((given) => ({ ...given, influences: given.influences.filter(keep) }))
  const without = (kind: string): Partial<Gate> => ({
    judgeWish: (state, actor, wish) =>
      wish.kind === kind || (wish.kind === 'account' && wish.change === kind) ? 'allow' : judgeWish(state, actor, wish),
  })
  const mutants: readonly [string, Partial<Gate>][] = [
    ['counts the Administrators of now instead of latching', { ...without('disable'), isLatched: (n) => n >= 2 }],
    ...(
      ['disable', 'demote', 'delete', 'password', 'factor', 'email', 'signIn', 'program', 'limit', 'allow'] as const
    ).map((kind): [string, Partial<Gate>] => [`does not judge ${kind}`, without(kind)]),
    ['counts the window by account', { window: (_, own) => own }],
    ['forgets who made an account', only((one) => one.isApproved)],
    ['forgets everything but the 24 hours after a password was set', only((one) => one.how === 'password')],
    [
      'looks at the direct controller only',
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
      { judgeWish: (state, _actor, wish) => judgeWish(state, { isApiToken: false }, wish) },
    ],
    [
      'lets the requester approve',
      { judgeApproval: (given) => (judgeApproval(given) === 'own' ? null : judgeApproval(given)) },
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

describe('what the gate decides', () => {
  const state = { isLatched: true, limit: 100, released: 0, allowed: 0 }
  const person = { isApiToken: false }

  it('counts everyone together, up to the limit and not beyond', () => {
    const at = (released: number, hosts: number) =>
      judgeWish({ ...state, released }, person, { kind: 'release', hosts })
    expect([at(0, 100), at(0, 101), at(60, 40), at(60, 41), at(100, 0)]).toEqual([
      'allow',
      'approver',
      'allow',
      'approver',
      'allow',
    ])
  })

  it('lets one person lower the limit, and not raise it or switch it off', () => {
    const to = (limit: number | null, from: number | null = 100) =>
      judgeWish({ ...state, limit: from }, person, { kind: 'limit', limit })
    expect([to(50), to(100), to(101), to(null), to(50, null)]).toEqual([
      'allow',
      'allow',
      'approver',
      'approver',
      'allow',
    ])
  })

  it('is off until two Administrators have existed', () => {
    expect(judgeWish({ ...state, isLatched: false }, person, { kind: 'release', hosts: 10_000 })).toBe('allow')
    expect(judgeWish({ ...state, isLatched: false }, { isApiToken: true }, { kind: 'program' })).toBe('allow')
  })

  const hour = 3_600_000
  const account = (accountId: string, change = {}) => ({
    accountId,
    profile: 10,
    isEnabled: true,
    isSuspended: false,
    madeAt: 0,
    signInChangedAt: null,
    heldUntil: null,
    ...change,
  })
  const request = (change: Partial<ApprovalCase> = {}): ApprovalCase => ({
    now: 100 * hour,
    isApiToken: false,
    approver: account('b'),
    requester: account('a'),
    leastProfile: 10,
    requestedAt: 99 * hour,
    expiresAt: 123 * hour,
    influences: [],
    ...change,
  })
  const influence = (change: Partial<Influence> = {}): Influence => ({
    accountId: 'b',
    by: 'c',
    how: 'password',
    isApproved: true,
    at: 99 * hour,
    ...change,
  })

  it.each<[string, Partial<ApprovalCase>, ReturnType<typeof judgeApproval>]>([
    ['another Administrator', {}, null],
    ['an API token', { isApiToken: true }, 'token'],
    ['the requester', { approver: account('a') }, 'own'],
    ['a Manager where an Administrator is needed', { approver: account('b', { profile: 20 }) }, 'profile'],
    ['a Manager where one is enough', { approver: account('b', { profile: 20 }), leastProfile: 20 }, null],
    ['a disabled account', { approver: account('b', { isEnabled: false }) }, 'disabled'],
    ['a deleted account', { approver: null }, 'disabled'],
    ['a suspended account', { approver: account('b', { isSuspended: true }) }, 'suspended'],
    ['anybody, for a suspended requester', { requester: account('a', { isSuspended: true }) }, 'requester'],
    ['anybody, for a deleted requester', { requester: null }, 'requester'],
    ['anybody, a day later', { now: 123 * hour }, 'late'],
    ['an account that is newer than the request', { approver: account('b', { madeAt: 99.5 * hour }) }, 'new'],
    ['an account whose password somebody set an hour ago', { influences: [influence()] }, 'recent'],
    ['the same account a day later', { influences: [influence({ at: 75 * hour })] }, null],
    [
      'an account whose directory changed an hour ago',
      { approver: account('b', { signInChangedAt: 99 * hour }) },
      'recent',
    ],
    [
      'an account that the requester made',
      { influences: [influence({ by: 'a', how: 'created', isApproved: false, at: 0 })] },
      'related',
    ],
    [
      'an account made by an account that the requester made',
      {
        influences: [
          influence({ by: 'c', how: 'created', isApproved: false, at: 0 }),
          influence({ accountId: 'c', by: 'a', how: 'created', isApproved: false, at: 0 }),
        ],
      },
      'related',
    ],
    [
      'two accounts of the same maker',
      {
        influences: [
          influence({ by: 'c', how: 'created', isApproved: false, at: 0 }),
          influence({ accountId: 'a', by: 'c', how: 'created', isApproved: false, at: 0 }),
        ],
      },
      'related',
    ],
  ])('approval by %s', (_, change, refusal) => {
    expect(judgeApproval(request(change))).toBe(refusal)
  })
})
