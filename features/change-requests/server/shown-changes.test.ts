import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { windowsSteps } from '#features/contract.ts'

// What an approver reads must determine what an approval carries out. The test changes each value of a sample of each
// kind of change. The text that the approver reads must then change too, or the value is listed with the reason why not.

const id = (n: number): string => `01977f6e-6a4c-7c3e-8f2a-${String(n).padStart(12, '0')}`
const time = '2031-05-04T10:11:00.000Z'
const build = {
  ...{ version: '2.0.0', architecture: 'linux-x64', sha256: 'a1'.repeat(32), size: 5, releaseKey: 'key' },
  ...{ releaseSignature: 'signature', rotations: [{ from: 'old', to: 'new', signature: 'rotation' }] },
}
const rule = {
  ...{ rule_id: id(1), effect: 'allow', is_grant: false, vid: '1B4F', pid: '9999', serial: 'S1', kinds: ['Keyboard'] },
  ...{ fingerprint: 'f1', rule_fingerprint: 'f2', exact_serial: true, agent_id: null, tag_id: 7, tag_name: 'desk' },
  ...{ expires_at: time, reason: 'test', override_attack_tool: false, origin: 'rule', created_at: time },
  ...{ created_by: 'alice', changed_at: time, changed_by: 'alice', seal: 'c2VhbA==', identity_seal: 'c2VhbA==' },
}
const settings = {
  ...{
    kind: 'update',
    name: 'Kiosks',
    rings: [
      { name: 'first', tags: ['a'] },
      { name: 'rest', sharePercent: 50 },
    ],
  },
  ...{ dwellMinutes: 60, failurePercent: 5, blocksOverPercent: 6, catchUpHours: 168, applyToPresent: false },
}
const payload = JSON.stringify({
  ...{ format: 'portcullis-windows-verification-1', agentId: id(1), osBuild: '10.0.22631.3000', edition: 'Pro' },
  ...{
    agentVersion: '2.0.0',
    createdAt: time,
    checks: windowsSteps.map((step) => ({ id: step.id, result: 'not-performed', detail: '' })),
  },
})

const attached = { agentId: id(1), vid: '1B4F', pid: '9999', serial: 'S1', fingerprint: 'f1', ruleFingerprint: 'f2' }

/** Changes of each kind, with every member that a change of this kind can have. */
const samples: Readonly<Record<string, readonly object[]>> = {
  'publish-package': [{ packageId: id(1), version: '2.0.0', architecture: 'linux-x64', sha256: 'a1'.repeat(32) }],
  'activate-worker': [{ id: id(1), pollers: [{ id: id(2), name: 'worker-1', address: '192.0.2.7' }] }],
  configuration: [
    {
      items: [
        { uuid: id(1), mode: 'Free', approveAll: true, applyToPresent: false },
        { uuid: id(2), mode: 'Armed', approveAll: false, applyToPresent: true, revertMinutes: 10 },
      ],
      devices: [attached],
    },
  ],
  bulk: [
    { action: 'free', uuids: [id(1), id(2)], reason: 'test' },
    { action: 'tag', uuids: [id(1)], hashtags: ['a', 'b'], reason: 'test' },
    { action: 'approveAll', uuids: [id(1), id(2)], devices: [attached], reason: 'test' },
  ],
  'bulk-update': [
    { update: [id(1), id(2)], builds: [{ architecture: 'linux-x64', version: '2.0.0', sha256: 'a1'.repeat(32) }] },
  ],
  'accept-drivers': [{ agentId: id(1), id: id(2), title: 'Release port 1-3 of host-a' }],
  'windows-verification': [{ file: { payload, signature: 'c2ln' }, confirmed: ['hubs'], host: 'host-a' }],
  revert: [{ rollout: { rolloutId: id(1), name: 'Kiosks', hosts: 3, reason: 'test' } }],
  'rollout-update': [{ name: 'Kiosks', settings, builds: { 'linux-x64': build }, planned: [3, 9] }],
  'accept-finding': [
    {
      ...{ title: 'Accept the finding', uuid: id(1), deviceID: 'd1', fingerprint: 'f1', finding: 'tool' },
      ...{ evidence: ['a', 'b'], reason: 'test', hosts: 3 },
    },
  ],
  policyOptions: [
    {
      options: { VENDORA_NO_LAST_KEYBOARD_TAGS: 'a', VENDORA_FAIL_CLOSED_TAGS: 'b' },
      before: { VENDORA_NO_LAST_KEYBOARD_TAGS: '', VENDORA_FAIL_CLOSED_TAGS: 'b' },
      hosts: 3,
    },
  ],
  tags: [
    {
      order: { op: 'add', names: ['a', 'b', 'c', 'd', 'e', 'f'], agentIds: [id(1), id(2)], reason: 'test' },
      ...{ changes: [{ effect: 'add', names: ['a'], agentIds: [id(1)] }], hosts: 2 },
    },
    { order: { op: 'delete', names: ['a', 'b', 'c', 'd', 'e', 'f'], reason: 'test' }, changes: [], hosts: 2 },
    {
      order: { op: 'set', agents: [{ agentId: id(1), names: ['a', 'b'] }], reason: 'test' },
      ...{ changes: [], hosts: 2 },
    },
  ],
  settings: [
    {
      settings: { twoPersonHosts: 100, grantMaxHours: 24, commandHours: 12, contact: 'desk' },
      before: { twoPersonHosts: 50, grantMaxHours: 24, commandHours: 12, contact: 'desk' },
    },
  ],
  rules: [
    {
      ...{ reason: 'test', title: 'Allow', hosts: 3, remove: [id(9)], write: [rule], replaced: { [id(9)]: null } },
      ...{ summary: 'Added a rule', action: 'policy.rule.created', details: 'text', stated: { count: 1 } },
    },
    {
      ...{ title: 'Allow', hosts: 3, remove: [], replaced: {}, summary: '', action: '', details: '' },
      write: [{ ...rule, agent_id: id(2), tag_id: null, tag_name: undefined }],
    },
  ],
  knowledge: [
    { what: 'apply', id: id(1), version: '2031.05.04', text: 'signed by key k' },
    { what: 'rollback', id: id(1), version: '2031.05.04', text: '' },
    { what: 'trust', fingerprint: 'a1'.repeat(32), publicKey: 'a2V5' },
  ],
  account: [
    {
      ...{ accountId: id(1), userName: 'bob', title: 'Make Administrator bob a Manager' },
      given: {
        ...{ userName: 'bob', userProfile: 20, isEnabled: false, mustChangePassword: true, firstName: 'Bob' },
        ...{ lastName: 'B', email: 'bob@example.org', phone: '1', image: 'data:image/png;base64,AAAA' },
        revokeApiTokens: true,
      },
    },
  ],
  accountDeletion: [{ accounts: [{ accountId: id(1), userName: 'bob', isAdministrator: true }] }],
  factorReset: [{ accountId: id(1), userName: 'bob' }],
  signIn: [
    {
      changes: [{ name: 'LDAP_URL', from: '', to: 'ldaps://192.0.2.7' }],
      ...{ items: { LDAP_URL: 'ldaps://192.0.2.7' }, note: 'note' },
    },
    { changes: [{ name: 'LDAP_URL', from: 'a', to: 'b' }], version: 3, prefix: 'LDAP_', note: 'note' },
    {
      changes: [{ name: 'SECURITY_FACTOR_USERS', from: 'true', to: 'false' }],
      items: { SECURITY_FACTOR_USERS: 'false' },
    },
  ],
}

const record = 'text of the audit record'
const bookkeeping = 'does not affect decisions'
const checked = 'the approval refuses any other value'
/** Values that an approver does not read, and why. `*`: any index or name. */
const unshown: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  rules: {
    'write.*.rule_id': bookkeeping,
    'write.*.tag_id': checked,
    'write.*.origin': bookkeeping,
    'write.*.created_at': bookkeeping,
    'write.*.created_by': bookkeeping,
    'write.*.changed_at': bookkeeping,
    'write.*.changed_by': bookkeeping,
    'write.*.seal': 'a rule with another seal decides nothing',
    'write.*.identity_seal': 'a rule with another seal decides by its other members',
    'replaced.*': checked,
    summary: record,
    action: record,
    details: record,
    'stated.*': record,
  },
  tags: { changes: checked, 'changes.*.*': checked, 'changes.*.*.*': checked },
  knowledge: { publicKey: checked },
  signIn: { 'items.*': checked, prefix: checked },
}

type Path = readonly (string | number)[]

/** Returns the paths of all values of a change, and of all its lists. */
const pathsOf = (value: unknown, path: Path = []): Path[] => {
  if (value === undefined) return []
  if (typeof value !== 'object' || value === null) return [path]
  const inside = Object.entries(value).flatMap(([name, one]) => pathsOf(one, [...path, name]))
  return Array.isArray(value) && value.length > 0 ? [path, ...inside] : inside
}

const others: Readonly<Record<string, string>> = {
  ...{
    Armed: 'Free',
    Free: 'Armed',
    allow: 'deny',
    add: 'remove',
    free: 'delete',
    approveAll: 'free',
    tag: 'untag',
    update: 'arm',
    LDAP_URL: 'LDAP_BASE_DN',
    SECURITY_FACTOR_USERS: 'SECURITY_FACTOR_MANAGERS',
  },
  ...{ apply: 'rollback', rollback: 'apply' },
  // Other operations have other members.
  ...{ delete: 'delete', set: 'set' },
}

const otherValue = (value: unknown, name: string): unknown => {
  if (Array.isArray(value)) return value.slice(1)
  if (typeof value === 'number') return value === 20 ? 30 : value + 1
  if (typeof value === 'boolean') return !value
  if (typeof value !== 'string') return name === 'agent_id' ? id(8) : 'x'
  if (/^[0-9a-f-]{36}$/.test(value)) return id(7)
  if (value === time) return '2031-05-04T10:11:00.001Z'
  return others[value] ?? (value.startsWith('{') ? `${value} ` : `${value}x`)
}

/** Returns a copy of a change with another value at a path. */
const changed = (change: object, path: Path): object => {
  const copy = structuredClone(change) as Record<string | number, unknown>
  const last = path.at(-1) as string
  let at = copy
  for (const name of path.slice(0, -1)) at = at[name] as typeof copy
  at[last] = otherValue(at[last], last)
  return copy
}

const isSame = (change: object, path: Path): boolean => JSON.stringify(changed(change, path)) === JSON.stringify(change)

const isUnshown = (kind: string, path: Path): boolean =>
  Object.keys(unshown[kind] ?? {}).some((pattern) => {
    const names = pattern.split('.')
    return names.length === path.length && names.every((name, i) => name === '*' || name === String(path[i]))
  })

let t: TestApp
beforeAll(async () => {
  t = await startTestApp()
})
afterAll(() => t.close())

/** Returns what the approver of a change reads. */
const shown = async (name: string, change: object): Promise<string> => {
  const kind = t.server.changeRequests.kinds().get(name)
  if (kind === undefined) throw new Error(`kind ${name} is not registered`)
  const action = typeof kind.action === 'function' ? kind.action(change) : kind.action
  const details = await t.db.transaction(async (tx) => (await kind.details?.(tx, change)) ?? [])
  return JSON.stringify([action, kind.hosts?.(change) ?? 0, kind.title(change), ...details])
}

describe('what an approver reads determines what is carried out', () => {
  it('there is a sample of every kind of change', () => {
    expect([...t.server.changeRequests.kinds().keys()].sort()).toEqual(Object.keys(samples).sort())
  })

  it.each(Object.entries(samples).flatMap(([kind, all]) => all.map((sample, i) => [kind, i + 1, sample] as const)))(
    '%s %i: every value is shown',
    async (kind, _, sample) => {
      const before = await shown(kind, sample)
      const hidden: string[] = []
      for (const path of pathsOf(sample).filter((one) => !isUnshown(kind, one)))
        if (!isSame(sample, path) && (await shown(kind, changed(sample, path))) === before) hidden.push(path.join('.'))
      expect(hidden).toEqual([])
    },
  )
})
