import { describe, expect, it } from 'vitest'
import {
  type AccountChangeKind,
  type ApprovalCase,
  approverHoldMs,
  evaluateApproval,
  evaluateChange,
  type GatedChange,
  type Influence,
} from '../src/change-gate.ts'

describe('decisions of the gate', () => {
  const state = { isLatched: true, limit: 100, released: 0, allowed: 0 }
  const person = { isApiToken: false }

  it('counts the hosts of all people together against the limit', () => {
    const at = (released: number, hosts: number) =>
      evaluateChange({ ...state, released }, person, { kind: 'release', hosts })
    expect([at(0, 100), at(0, 101), at(60, 40), at(60, 41), at(101, 0)]).toEqual([
      'allow',
      'approver',
      'allow',
      'approver',
      'allow',
    ])
    expect(evaluateChange({ ...state, limit: null }, person, { kind: 'release', hosts: 10_000 })).toBe('allow')
  })

  it.each<[string, number | null, number, GatedChange, 'allow' | 'approver']>([
    ['up to the limit', 100, 60, { kind: 'allow', hosts: 40 }, 'allow'],
    ['beyond the limit', 100, 60, { kind: 'allow', hosts: 41 }, 'approver'],
    ['on no host, with the limit exceeded', 100, 101, { kind: 'allow', hosts: 0 }, 'allow'],
    ['on any number of hosts, without a limit', null, 60, { kind: 'allow', hosts: 10_000 }, 'allow'],
    ['on hosts that enrol later', 100, 0, { kind: 'allow', hosts: 0, isForLaterHosts: true }, 'approver'],
    [
      'on hosts that enrol later, without a limit',
      null,
      0,
      { kind: 'allow', hosts: 0, isForLaterHosts: true },
      'allow',
    ],
    ['on existing hosts only', 100, 0, { kind: 'allow', hosts: 1, isForLaterHosts: false }, 'allow'],
  ])('decides on allowing devices %s', (_, limit, allowed, change, verdict) => {
    expect(evaluateChange({ ...state, limit, allowed }, person, change)).toBe(verdict)
  })

  it.each<AccountChangeKind>(['disable', 'demote', 'delete', 'password', 'factor', 'email'])(
    'asks for an approver to %s the account of another Administrator, and for no other account',
    (change) => {
      const to = (isAdministrator: boolean, isOwn: boolean) =>
        evaluateChange(state, person, { kind: 'account', change, isAdministrator, isOwn })
      expect([to(true, false), to(true, true), to(false, false)]).toEqual(['approver', 'allow', 'allow'])
    },
  )

  it.each(['signIn', 'program'] as const)('requires an approver for a person and refuses a token: %s', (kind) => {
    expect(evaluateChange(state, person, { kind })).toBe('approver')
    expect(evaluateChange(state, { isApiToken: true }, { kind })).toBe('refuse')
    expect(evaluateChange(state, { isApiToken: true }, { kind: 'release', hosts: 1 })).toBe('allow')
  })

  it('lets one person lower the limit, but not raise or disable it', () => {
    const to = (limit: number | null, from: number | null = 100) =>
      evaluateChange({ ...state, limit: from }, person, { kind: 'limit', limit })
    expect([to(50), to(100), to(101), to(null), to(50, null)]).toEqual([
      'allow',
      'allow',
      'approver',
      'approver',
      'allow',
    ])
  })

  it('requires an approver for the limit of armed Windows hosts of a build, if hosts are limited at all', () => {
    const at = (limit: number | null) => evaluateChange({ ...state, limit }, person, { kind: 'verification' })
    expect([at(100), at(null)]).toEqual(['approver', 'allow'])
  })

  it('is off until two Administrators have existed', () => {
    expect(evaluateChange({ ...state, isLatched: false }, person, { kind: 'release', hosts: 10_000 })).toBe('allow')
    expect(evaluateChange({ ...state, isLatched: false }, { isApiToken: true }, { kind: 'program' })).toBe('allow')
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

  it.each<[string, Partial<ApprovalCase>, ReturnType<typeof evaluateApproval>]>([
    ['another Administrator', {}, null],
    ['an API token', { isApiToken: true }, 'token'],
    ['the requester', { approver: account('a') }, 'own'],
    ['a Manager where an Administrator is needed', { approver: account('b', { profile: 20 }) }, 'profile'],
    ['a Manager where one is enough', { approver: account('b', { profile: 20 }), leastProfile: 20 }, null],
    ['a disabled account', { approver: account('b', { isEnabled: false }) }, 'disabled'],
    ['a deleted account', { approver: null }, 'disabled'],
    ['a suspended account', { approver: account('b', { isSuspended: true }) }, 'suspended'],
    ['anybody, for a suspended requester', { requester: account('a', { isSuspended: true }) }, 'requester'],
    ['anybody, for a disabled requester', { requester: account('a', { isEnabled: false }) }, 'requester'],
    ['anybody, for a deleted requester', { requester: null }, 'requester'],
    ['anybody, a day later', { now: 123 * hour }, 'late'],
    ['anybody, just before the request expires', { now: 123 * hour - 1 }, null],
    ['an account created at the same time as the request', { approver: account('b', { madeAt: 99 * hour }) }, null],
    ['an account whose link is still valid', { approver: account('b', { heldUntil: 100 * hour + 1 }) }, 'recent'],
    ['an account whose link has just expired', { approver: account('b', { heldUntil: 100 * hour }) }, null],
    ['an account that is newer than the request', { approver: account('b', { madeAt: 99.5 * hour }) }, 'new'],
    ['an account whose password another person set an hour ago', { influences: [influence()] }, 'recent'],
    ['the same account a day later', { influences: [influence({ at: 75 * hour })] }, null],
    [
      'an account whose directory changed an hour ago',
      { approver: account('b', { signInChangedAt: 99 * hour }) },
      'recent',
    ],
    [
      'an account whose directory changed 24 hours ago',
      { approver: account('b', { signInChangedAt: 100 * hour - approverHoldMs }) },
      null,
    ],
    ['an account, an hour after the password of another', { influences: [influence({ accountId: 'd' })] }, null],
    [
      'one of many accounts whose passwords were set an hour ago',
      { influences: [influence({ accountId: 'd' }), influence()] },
      'recent',
    ],
    ...(['password', 'factor', 'email'] as const).flatMap((how): [string, Partial<ApprovalCase>, 'recent' | null][] => [
      [`an account whose ${how} was set 24 hours ago`, { influences: [influence({ how, at: 76 * hour })] }, null],
      [`an account whose ${how} was set later`, { influences: [influence({ how, at: 76 * hour + 1 })] }, 'recent'],
    ]),
    ...(['created', 'promoted', 'enabled'] as const).map((how): [string, Partial<ApprovalCase>, null] => [
      `an account that was ${how} an hour ago, with an approval`,
      { influences: [influence({ how, by: 'a' })] },
      null,
    ]),
    [
      'an account that created an account other than the requester',
      { influences: [influence({ accountId: 'd', by: 'b', how: 'created', isApproved: false, at: 0 })] },
      null,
    ],
    [
      'an account that the requester created',
      { influences: [influence({ by: 'a', how: 'created', isApproved: false, at: 0 })] },
      'related',
    ],
    [
      'an account created by an account that the requester created',
      {
        influences: [
          influence({ by: 'c', how: 'created', isApproved: false, at: 0 }),
          influence({ accountId: 'c', by: 'a', how: 'created', isApproved: false, at: 0 }),
        ],
      },
      'related',
    ],
    [
      'two accounts created by the same account',
      {
        influences: [
          influence({ by: 'c', how: 'created', isApproved: false, at: 0 }),
          influence({ accountId: 'a', by: 'c', how: 'created', isApproved: false, at: 0 }),
        ],
      },
      'related',
    ],
  ])('approval by %s', (_, change, refusal) => {
    expect(evaluateApproval(request(change))).toBe(refusal)
  })
})
