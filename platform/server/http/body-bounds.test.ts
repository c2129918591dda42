import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { agentPost, enrolAgent } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type BodyShape, bodyCostOf, bytesOf, costlyText, jsonLimitOf, oversize } from './body-bounds.ts'

let t: TestApp
let admin: ReturnType<TestApp['as']>
/** Limit of the processor time for a body, in ms: 2 s, or six times what this machine takes to parse a large one. */
let bound = 2_000

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  admin = await t.admin()
  const text = manyKeys(8_000_000)
  bound = Math.max(bound, 6 * (await costOf(async () => JSON.parse(text))).ms)
})
afterAll(() => t.close())

const signin = '/prime/webui/Auth/LocalLogin'
const own = '/prime/webui/admin/updateuserdetails'

/** Measures the processor time of this process for a call in ms, which delays all others. */
const costOf = async <T>(work: () => Promise<T>): Promise<{ answer: T; ms: number }> => {
  const before = process.cpuUsage()
  const answer = await work()
  const { user, system } = process.cpuUsage(before)
  return { answer, ms: (user + system) / 1000 }
}

/** Returns about `size` bytes of members that no schema has. */
const manyKeys = (size: number): string => {
  const keys: string[] = []
  for (let i = 0, n = 0; n < size; i++) {
    keys.push(`"k${i}":1`)
    n += (keys.at(-1) as string).length + 1
  }
  return `{${keys.join(',')}}`
}

describe('a hostile body costs no more than a valid one', () => {
  it('without a credential it is limited to 16 KiB', async () => {
    for (const url of [signin, '/agent/v1/enrol']) {
      const over = await t.as(undefined).post(url, `{"username":"${'x'.repeat(16 * 1024)}"}`)
      expect([url, over.statusCode]).toEqual([url, 413])
      const under = await t.as(undefined).post(url, `{"username":"${'x'.repeat(16 * 1024 - 32)}"}`)
      expect([url, under.statusCode]).toEqual([url, 400])
    }
  })

  // Each took 2 to 12 s of processor time before faults were limited.
  it.each([
    ['unknown members', own, manyKeys(300_000)],
    ['an array where an object belongs', own, `[${'{},'.repeat(100_000)}{}]`],
    ['brackets', own, '['.repeat(300_000)],
    ['bad text', own, `{"phone":["${Array.from({ length: 30_000 }, () => '\\u0000').join('","')}"]}`],
    ['more items than an array takes', '/prime/webui/agents/deleteAgents', `[${'1,'.repeat(3_000_000)}1]`],
    ['millions of members', '/prime/webui/generalconfig/addhashtags', manyKeys(8_000_000)],
  ])('full of %s', async (_what, url, body) => {
    const { answer, ms } = await costOf(() => admin.post(url, body))
    expect(answer.statusCode, answer.body.slice(0, 300)).toBe(400)
    expect(answer.json().errors.length).toBeLessThanOrEqual(20)
    expect(ms).toBeLessThan(bound)
  })

  it('cannot be larger than its schema allows', async () => {
    const answer = await admin.post(own, manyKeys(500_000))
    expect([answer.statusCode, answer.json().detail]).toEqual([
      413,
      expect.stringMatching(/^The request body is larger than 3\d{5} bytes\.$/),
    ])
  })

  it('cannot have many names', async () => {
    const answer = await admin.post('/prime/webui/generalconfig/addhashtags', manyKeys(7_000_000))
    expect([answer.statusCode, answer.json().detail]).toEqual([
      400,
      expect.stringMatching(/has more than 1\d{3} different names/),
    ])
  })

  it.each(['{},', '"",'])('cannot have many values: %s', async (value) => {
    const answer = await admin.post('/prime/webui/policy/preview', `[${value.repeat(600_000)}1]`)
    expect([answer.statusCode, answer.json().detail]).toEqual([
      400,
      expect.stringMatching(/has more than \d{5,6} values/),
    ])
  })

  it('from an agent', async () => {
    const agent = await enrolAgent(t)
    const large = Array.from({ length: 1_000_000 }, () => 1)
    const device = { portPath: '1-1', descriptors: 'A'.repeat(24), reportDescriptors: large }
    for (const [said, field] of [
      [{ inventory: large }, 'body.inventory'],
      [{ changes: [{ op: 'attached', at: 1, device }] }, 'body.changes[0].device.reportDescriptors'],
      [JSON.parse(manyKeys(3_000_000)), 'body.k0'],
    ] as const) {
      const body = JSON.stringify({ ...agent.body(), ...said })
      const { answer, ms } = await costOf(() => agentPost(t, '/agent/v1/check-in', body, agent.state.session))
      expect([answer.status, JSON.parse(answer.text).errors[0].field]).toEqual([400, field])
      expect(ms).toBeLessThan(bound)
    }
  })
})

const free = { unknown: Number.POSITIVE_INFINITY, known: new Set<string>() }

describe('depth', () => {
  const filler = `"${'x'.repeat(70_000)}"`
  it.each([
    [`[${filler}${',[]'.repeat(100)}]`, false],
    [`[${filler},"${'['.repeat(100)}"]`, false],
    [`[${filler},"\\"${'['.repeat(100)}"]`, false],
    [`[${filler},${'['.repeat(32)}`, true],
    [`{"a":${filler},"b":${'{"a":'.repeat(32)}`, true],
  ])('is counted outside strings', (text, deep) =>
    expect(costlyText(text, { names: 100, values: 1_000, ...free })).toBe(
      deep ? 'is nested deeper than 32' : undefined,
    ),
  )
})

describe('names', () => {
  const names = (n: number, after = '') =>
    `{${Array.from({ length: n }, (_, i) => `"k${i}"${after}:"a,:b"`).join(',')}}`
  it.each([
    ['as many as allowed', names(8_000), 8_000, undefined],
    ['one more', names(8_001), 8_000, 'has more than 8000 different names'],
    ['blanks before the colon', names(8_001, ' \n'), 8_000, 'has more than 8000 different names'],
    ['the same names again', `[${names(10)}${`,${names(10)}`.repeat(5_000)}]`, 10, undefined],
    ['strings in an array', JSON.stringify(Array.from({ length: 50_000 }, (_, i) => `k${i}`)), 10, undefined],
  ])('are counted before parsing: %s', (_what, text, most, cost) =>
    expect(costlyText(text, { names: most, values: 200_000, ...free })).toBe(cost),
  )
  it('and values follow from the schema', () => {
    const map = { type: 'object', patternProperties: { '^': { type: 'string' } }, maxProperties: 500 }
    expect(bodyCostOf({ type: 'object', properties: { map, b: { type: 'string' } } })).toEqual({
      names: 1_502,
      values: 10_505,
      unknown: 500_000,
      known: new Set(['map', 'b']),
    })
    expect(bodyCostOf({ type: 'array', items: map })).toMatchObject({ names: 1_500, values: 500_000, unknown: 500_000 })
  })
  it.each(['{},', '[],', '1,', '"",'])('and values are counted before parsing: %s', (item) => {
    const text = `[${item.repeat(100_000)}1]`
    expect(costlyText(text, { names: 0, values: 99_999, ...free })).toBe('has more than 99999 values')
    expect(costlyText(text, { names: 0, values: 200_001, ...free })).toBeUndefined()
  })
})

it('members with unknown names are counted before parsing, whatever their case', async () => {
  const part = (name: string) => `{${Array.from({ length: 100 }, (_, i) => `"${name}${i}":1`).join(',')}}`
  const items = (name: string) => `{"delete":[${Array(200).fill(part(name)).join(',')}]}`
  const post = await admin.post('/prime/webui/policy/tags/preview', JSON.parse(items('n')))
  expect([post.statusCode, post.body]).toEqual([400, expect.stringContaining('10000 members with unknown names')])
  const shape = { type: 'object', properties: { Ab: { type: 'string' } }, additionalProperties: false }
  const limits = bodyCostOf({ type: 'array', items: shape, maxItems: 100_000 })
  const list = (name: string, count: number) => `[${Array(count).fill(`{"${name}":"x"}`).join(',')}]`
  expect(costlyText(list('aB', 20_000), limits)).toBeUndefined()
  expect(costlyText(list('c', 10_000), limits)).toBeUndefined()
  expect(costlyText(list('c', 10_001), limits)).toBe('has more than 10000 members with unknown names')
})

describe('the body limit', () => {
  const list = (maxItems: number) => ({ type: 'array', maxItems, items: { type: 'string', maxLength: 10 } })
  it.each([
    [undefined, 64 * 1024],
    [list(10), 64 * 1024],
    [list(10_000), Math.ceil((2 + 10_000 * 63) * 1.25)],
    [list(10_000_000), 8 * 1024 * 1024],
    [{ type: 'string' }, 8 * 1024 * 1024],
    [{ type: 'string', maxLength: 1_000_000 }, Math.ceil(1_000_002 * 1.25)],
  ])('of %j is %d', (shape, limit) => expect(jsonLimitOf(shape)).toBe(limit))
  it('of every operation follows from its schema, and only those on many objects or files exceed 1 MiB', () => {
    const reasons: Record<string, RegExp> = {
      'up to 100,000 hosts, connections, accounts or elements':
        /^(agentsConfiguration|deleteAgents(Commands)?|updateAgents|fetchAgentsDebugLogs|previewBulk|runBulk|previewTags|(add|delete)Hashtags|peripheralsCommand|deleteUsers|(delete|register|unregister)Connections)$/,
      'up to 10,000 devices, rules, connections, keys or deliveries':
        /^(decideDevices|moveRules|addConnections|confirmHostKeys|(drop|retry)Deliveries)$/,
      'up to 2,000 names of hosts': /^createEnrollmentToken$/,
      'up to 1,000 rules, and 10,000 to remove': /^(previewPolicy|testPolicyDraft)$/,
      'all recipients, hosts and certificates of a group': /^(testNotificationChannel|updateNotificationGroup)$/,
      'the whole configuration': /^applyConfigDocument$/,
      'a certificate, now and before': /^addOrUpdate(Ldap|Cact)$/,
      'a file': /^(uploadKnowledge|importPolicyRules)$/,
    }
    /** Returns the members of a schema that have no limit. */
    const endless = (shape: BodyShape, path: string): string[] => {
      if (shape.anyOf !== undefined) return shape.anyOf.flatMap((member) => endless(member, path))
      const members = Object.entries({
        ...shape.properties,
        ...shape.patternProperties,
        ...(shape.items && { '[]': shape.items }),
      })
      const inner = members.flatMap(([name, member]) => endless(member, `${path}.${name}`))
      const isMap = shape.patternProperties !== undefined
      const isEndless =
        shape.type === 'array'
          ? shape.maxItems === undefined
          : shape.type === 'object'
            ? shape.additionalProperties !== false || (isMap && shape.maxProperties === undefined)
            : bytesOf(shape) === Number.POSITIVE_INFINITY
      return isEndless ? [path, ...inner] : inner
    }
    const json = t.app.operations.filter(
      ({ method, permission, upload, rawTypes, streamType }) =>
        method !== 'GET' && !['public', 'agent'].includes(permission) && !upload && !rawTypes && !streamType,
    )
    const bodyOf = ({ body }: (typeof json)[number]) => body as BodyShape | undefined
    const open = json.flatMap((one) =>
      one.bodyLimit === undefined ? endless(bodyOf(one) ?? { type: 'null' }, one.id) : [],
    )
    // Ignores members that it does not know.
    expect(open).toEqual(['agentsConfiguration.[].agentConfigViewResource'])
    const large = json.filter((one) => (one.bodyLimit ?? jsonLimitOf(bodyOf(one))) > 1024 * 1024).map(({ id }) => id)
    expect(large.filter((id) => !Object.values(reasons).some((ids) => ids.test(id)))).toEqual([])
    for (const [reason, ids] of Object.entries(reasons))
      expect(
        large.some((id) => ids.test(id)),
        reason,
      ).toBe(true)
  })
  it('of an operation that takes one digest is small', async () => {
    const path = '/prime/webui/policy/changerequests/00000000-0000-4000-8000-000000000000/approve'
    expect((await admin.post(path, { digest: 'a'.repeat(70_000) })).statusCode).toBe(413)
  })
  it.each([
    ['^[0-9a-f]{64}$', 64],
    ['^SHA256:[A-Za-z0-9+/]{43}$|^$', 50],
    ['^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$', 36],
    ['^([01][0-9]|2[0-3]):[0-5][0-9]$', 5],
    ['^[0-9]{1,3}(\\.[0-9]{1,3}){0,7}$', 31],
    ['^[^\\u0000-\\u001f\\]]{2}?a?$', 3],
    ['^a+$', undefined],
    ['^a{2,}$', undefined],
    ['a', undefined],
    ['^a|b$', undefined],
    ['^(?=a)b$', undefined],
  ])('of texts with the pattern %s follows from it', (pattern, length) =>
    expect(jsonLimitOf({ type: 'array', maxItems: 3_000, items: { type: 'string', pattern } })).toBe(
      length === undefined ? 8 * 1024 * 1024 : Math.ceil(Math.max(64 * 1024, (2 + 3_000 * (3 + length * 6)) * 1.25)),
    ),
  )
})

describe('size', () => {
  const member = { type: 'object', properties: { a: {} }, additionalProperties: false }
  it('of a union is too large only if every matching member says so', () => {
    const other = { type: 'object', properties: { b: {} }, additionalProperties: false }
    const union = { anyOf: [member, other, { type: 'null' }] }
    expect(oversize({ b: 1 }, union, 'body')).toBeUndefined()
    expect(oversize({ c: 1 }, union, 'body')).toEqual({ field: 'body.c', message: 'is unknown' })
  })
  it('is found in items', () => {
    const rows = { type: 'array', maxItems: 2, items: member }
    expect(oversize([{ a: 1 }, { a: 1 }], rows, 'body')).toBeUndefined()
    expect(oversize([{ a: 1 }, { z: 1 }], rows, 'body')?.field).toBe('body[1].z')
    expect(oversize([1, 2, 3], rows, 'body')?.message).toBe('must not have more than 2 items')
  })
})
