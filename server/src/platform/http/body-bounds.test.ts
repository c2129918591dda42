import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTestApp, type TestApp } from '#test/app.ts'
import { agentPost, enrolAgent } from '#test/builders.ts'
import { isTooDeep, oversize } from './body-bounds.ts'

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
    ['unknown members', own, manyKeys(1_000_000)],
    ['an array where an object belongs', own, `[${'{},'.repeat(300_000)}{}]`],
    ['brackets', own, '['.repeat(1_000_000)],
    ['bad text', own, `{"phone":["${Array.from({ length: 100_000 }, () => '\\u0000').join('","')}"]}`],
    ['more items than an array takes', '/prime/webui/agents/deleteAgents', `[${'1,'.repeat(3_000_000)}1]`],
    ['millions of members', '/prime/webui/generalconfig/addhashtags', manyKeys(8_000_000)],
  ])('full of %s', async (_what, url, body) => {
    const { answer, ms } = await costOf(() => admin.post(url, body))
    expect(answer.statusCode, answer.body.slice(0, 300)).toBe(400)
    expect(answer.json().errors.length).toBeLessThanOrEqual(20)
    expect(ms).toBeLessThan(bound)
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

describe('depth', () => {
  const filler = `"${'x'.repeat(70_000)}"`
  it.each([
    [`[${filler}${',[]'.repeat(100)}]`, false],
    [`[${filler},"${'['.repeat(100)}"]`, false],
    [`[${filler},"\\"${'['.repeat(100)}"]`, false],
    [`[${filler},${'['.repeat(32)}`, true],
    [`{"a":${filler},"b":${'{"a":'.repeat(32)}`, true],
  ])('is counted outside strings', (text, deep) => expect(isTooDeep(text)).toBe(deep))
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
