import { randomUUID } from 'node:crypto'
import { connect } from 'node:net'
import { cleanText, escapeText, factsHash, inventoryHash } from '@portcullis/domain'
import {
  type HostileVariant,
  hostileStrings,
  hostileTexts,
  hub,
  plainKeyboard,
  storageStick,
} from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import {
  agentPost,
  enrolAgent,
  enrolmentToken,
  hostFacts,
  pageOf,
  type TestAgent,
} from '@portcullis/server/test/builders.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { agentLimits, agentPaths, type CheckInRequest } from '#features/contract.ts'

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

/** Returns everything that a report could change for one agent. */
const stored = async (agentId: string): Promise<unknown> =>
  t.server.db.query(sql`
    select h.seq, h.inventory_hash, h.facts_hash, h.last_seen, a.host, a.facts, a.latest_events,
      (select count(*) from peripherals p where p.agent_id = a.agent_id) as peripherals,
      (select count(*) from agent_errors e where e.agent_id = a.agent_id) as errors,
      (select count(*) from events e where e.agent_id = a.agent_id) as events,
      (select count(*) from designs) as designs
    from agents a join agent_heartbeats h on h.agent_id = a.agent_id where a.agent_id = ${agentId}`)

const attached = (device: unknown) => ({ changes: [{ op: 'attached', at: 1, device }] })
const inventoryOf = (devices: readonly unknown[]) => ({
  inventory: devices,
  inventoryHash: inventoryHash(devices as never),
})
const many = (n: number) =>
  Array.from({ length: n }, (_, i) => plainKeyboard({ portPath: `${Math.floor(i / 250) + 1}-${(i % 250) + 1}` }))

const malformed: [string, number, (request: CheckInRequest, agent: TestAgent) => unknown][] = [
  ['no JSON', 400, () => '{"seq":'],
  ['an empty body', 400, () => ''],
  ['null', 400, () => 'null'],
  ['an array', 400, (r) => [r]],
  ['invalid UTF-8', 400, (r) => Buffer.from(JSON.stringify(r).replace('}', ',"x":"\u00ff"}'), 'latin1')],
  ['an unknown member', 400, (r) => ({ ...r, isAdmin: true })],
  ['a member named __proto__', 400, (r) => JSON.stringify(r).replace('{', '{"__proto__":{"seq":1},')],
  ['no seq', 400, ({ seq: _, ...r }) => r],
  ['seq 0', 400, (r) => ({ ...r, seq: 0 })],
  ['seq beyond int4', 400, (r) => ({ ...r, seq: 2_147_483_648 })],
  ['a fraction as seq', 400, (r) => ({ ...r, seq: 1.5 })],
  ['text as seq', 400, (r) => ({ ...r, seq: `${r.seq}` })],
  ['a hash in upper case', 400, (r) => ({ ...r, inventoryHash: 'A'.repeat(32) })],
  ['a boot id that is not a uuid', 400, (r) => ({ ...r, bootId: '-'.repeat(36) })],
  ['another boot id', 409, (r) => ({ ...r, bootId: randomUUID() })],
  ['a hash that does not match the inventory', 400, (r) => ({ ...r, inventory: [plainKeyboard()] })],
  ['a port twice', 400, (r) => ({ ...r, ...inventoryOf([plainKeyboard(), storageStick()]) })],
  ['1,025 devices', 400, (r) => ({ ...r, ...inventoryOf(many(agentLimits.devices + 1)) })],
  ['2,049 changes', 400, (r) => ({ ...r, changes: Array(2049).fill({ op: 'removed', at: 1, portPath: '1-1' }) })],
  ['33 errors', 400, (r) => ({ ...r, errors: Array(33).fill({ at: 1, code: 'x', message: 'x' }) })],
  ['an unknown change', 400, (r) => ({ ...r, changes: [{ op: 'exploded', at: 1, portPath: '1-1' }] })],
  ['a port path with dots', 400, (r) => ({ ...r, changes: [{ op: 'removed', at: 1, portPath: '../../etc' }] })],
  ['a device without descriptors', 400, (r) => ({ ...r, ...attached({ portPath: '1-1' }) })],
  [
    'descriptors that are not base64',
    400,
    (r) => ({ ...r, ...attached({ ...plainKeyboard(), descriptors: '!'.repeat(30) }) }),
  ],
  ['base64 cut short', 400, (r) => ({ ...r, ...attached({ ...plainKeyboard(), descriptors: 'A'.repeat(25) }) })],
  [
    'base64 with stray bits',
    400,
    (r) => ({ ...r, ...attached({ ...plainKeyboard(), descriptors: `${'A'.repeat(24)}A9==` }) }),
  ],
  [
    '17 KiB of descriptors',
    400,
    (r) => ({ ...r, ...attached({ ...plainKeyboard(), descriptors: 'A'.repeat(17_408) }) }),
  ],
  ['a string of 256', 400, (r) => ({ ...r, ...attached(storageStick({ product: 'x'.repeat(256) })) })],
  ['a number as a string', 400, (r) => ({ ...r, ...attached({ ...storageStick(), product: 7 }) })],
  [
    'a bad device after a good one',
    400,
    (r) => ({
      ...r,
      changes: [
        { op: 'attached', at: 1, device: plainKeyboard() },
        { op: 'attached', at: 1, device: { portPath: '1-2' } },
      ],
    }),
  ],
  ['facts without a host name', 400, (r, a) => ({ ...r, facts: { ...a.facts, hostname: '' } })],
  [
    'facts with an invalid MAC',
    400,
    (r, a) => ({
      ...r,
      facts: { ...a.facts, nics: [{ name: 'x', mac: 'not a mac', addresses: [], isUp: true }] },
    }),
  ],
]

describe('a malformed report', () => {
  it.each(malformed)(
    'with %s is refused completely with a reason, and the next one is accepted',
    async (_what, status, make) => {
      const agent = await enrolAgent(t)
      const request = agent.body()
      const before = await stored(agent.agentId)
      const answer = await agent.post(make(request, agent))
      const problem = JSON.parse(answer.text)
      expect([answer.status, problem.code], answer.text).toEqual([
        status,
        status === 409 ? 'agent_session_superseded' : 'agent_report_invalid',
      ])
      expect(answer.headers.get('content-type')).toBe('application/problem+json; charset=utf-8')
      expect(problem.detail.length).toBeGreaterThan(10)
      expect(await stored(agent.agentId)).toEqual(before)
      expect((await agent.post(request)).status).toBe(200)
    },
  )

  it('of 10 MB is refused with 413, with and without a stated length', async () => {
    const agent = await enrolAgent(t)
    const before = await stored(agent.agentId)
    const size = 10 * 1024 * 1024
    const stated = await agent.post(' '.repeat(size)).then(
      (answer) => answer.status,
      // The server may close the connection before the whole body is sent.
      (error: { cause?: { code?: string } }) => error.cause?.code,
    )
    expect([413, 'EPIPE', 'ECONNRESET', 'UND_ERR_SOCKET']).toContain(stated)
    const head = await rawRequest(
      `POST ${agentPaths.checkIn} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${agent.state.session}\r\ntransfer-encoding: chunked\r\n\r\n`,
      (write) => {
        const chunk = `10000\r\n${' '.repeat(65_536)}\r\n`
        for (let sent = 0; sent < size; sent += 65_536) write(chunk)
      },
    )
    expect(head.slice(0, 12)).toBe('HTTP/1.1 413')
    expect(await stored(agent.agentId)).toEqual(before)
    expect((await agent.post(agent.body())).status).toBe(200)
  })

  it('fails alone: other reports of the same batch are stored', async () => {
    const agents = await Promise.all(Array.from({ length: 12 }, () => enrolAgent(t)))
    const results = await Promise.all(
      agents.map((agent, i) => {
        const device = storageStick({ serial: `S${i}` })
        agent.devices.set('1-1', device)
        const bad = { ...device, descriptors: 'A'.repeat(25) }
        return agent.post(agent.body({ changes: [{ op: 'attached', at: 1, device: i % 4 === 0 ? bad : device }] }))
      }),
    )
    expect(results.map((r) => r.status)).toEqual(agents.map((_, i) => (i % 4 === 0 ? 400 : 200)))
    const shown = await Promise.all(agents.map((agent) => agent.peripherals()))
    expect(shown.map((rows) => rows.length)).toEqual(agents.map((_, i) => (i % 4 === 0 ? 0 : 1)))
  })

  it('is always answered and crashes nothing', async () => {
    const agent = await enrolAgent(t)
    const template = agent.body({
      inventory: [plainKeyboard(), storageStick({ portPath: '1-2' }), hub({ portPath: '2-1' })],
      facts: agent.facts,
      factsHash: factsHash(agent.facts),
      errors: [{ at: 1, code: 'a', message: 'b' }],
      acks: [{ commandId: 'x', outcome: 'failed', message: 'y' }],
      changes: [{ op: 'removed', at: 1, portPath: '1-1' }],
    })
    const paths = leaves(template)
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom(...paths), oddValue), { minLength: 1, maxLength: 4 }),
        fc.integer({ min: 0, max: 3 }),
        async (changes, seq) => {
          const request = structuredClone({ ...template, seq: agent.state.seq + seq })
          for (const [path, value] of changes) put(request, path, value)
          const answer = await agent.post(request)
          expect([200, 400, 409], answer.text).toContain(answer.status)
          if (answer.status === 200) agent.state.seq = Math.max(agent.state.seq, request.seq)
        },
      ),
      { numRuns: 300 },
    )
    await agent.session(true)
    agent.devices.clear()
    expect(await agent.inventory()).toEqual({ nextCheckInSeconds: 60 })
    expect((await agent.peripherals('&present=true')).length).toBe(0)
  })
})

const oddValue = fc.oneof(
  fc.jsonValue(),
  fc.constantFrom<unknown>(-1, 0, 1e308, 2 ** 53, '', '\u0000', '\ud800', ...Object.values(hostileTexts), [], {}, null),
  fc.base64String({ minLength: 24, maxLength: 400 }),
  fc.string({ unit: 'binary', maxLength: 255 }),
)

/** Any UTF-16 units, including lone surrogates and U+0000, as JSON can carry them. */
const anyText = fc
  .array(fc.integer({ min: 0, max: 0xffff }), { minLength: 1, maxLength: 60 })
  .map((units) => String.fromCharCode(...units))

type Path = (string | number)[]
const leaves = (value: unknown, path: Path = []): Path[] =>
  typeof value !== 'object' || value === null
    ? [path]
    : [...(path.length > 0 ? [path] : []), ...Object.entries(value).flatMap(([key, v]) => leaves(v, [...path, key]))]

const put = (target: unknown, path: Path, value: unknown): void => {
  let at = target as Record<string | number, unknown>
  for (const key of path.slice(0, -1)) {
    at = at?.[key] as Record<string | number, unknown>
    if (typeof at !== 'object' || at === null) return
  }
  const last = path.at(-1)
  if (last !== undefined && last !== 'bootId' && last !== 'seq') at[last] = value
}

const rawRequest = (head: string, send: (write: (text: string) => void) => void): Promise<string> =>
  new Promise((resolve) => {
    const { port } = new URL(t.address)
    let got = ''
    const socket = connect({ host: '127.0.0.1', port: Number(port) })
    const done = () => resolve(got)
    socket.on('data', (data) => {
      got += data.toString('latin1')
    })
    socket.on('error', done)
    socket.on('close', done)
    socket.write(head)
    send((text) => socket.write(text))
  })

const cleaned: Partial<Record<HostileVariant, string>> = {
  nul: 'before after',
  surrogate: 'half \uFFFD a pair',
  html: '<img src=x onerror=alert(document.domain)>',
  formula: "=cmd|' /C calc'!A0",
  rightToLeft: 'gnp.exe abc',
  newline: 'first second third',
  prototype: '__proto__',
  sql: "'; DROP TABLE peripherals; --",
  template: '{{7*7}}#{7*7}%s%n',
  escape: '[2J ]0;owned',
}

describe('hostile strings', () => {
  it.each(Object.entries(cleaned))('%s is stored cleaned and answered as text', async (variant, clean) => {
    const text = hostileTexts[variant as HostileVariant]
    const agent = await enrolAgent(t, {
      laterFacts: {
        hostname: text,
        address: text.slice(0, 60),
        osName: text,
        osVersion: text,
        kernel: text,
        vendor: text,
        model: text,
        sku: text,
        chassis: text.slice(0, 60),
        agentVersion: text.slice(0, 60),
        nics: [{ name: text.slice(0, 60), mac: '02:00:00:00:00:02', addresses: [text.slice(0, 60)], isUp: true }],
      },
      devices: [hostileStrings(variant as HostileVariant)],
    })
    // The hash covers cleaned strings, so the server and the agent hold the same.
    expect(await agent.checkIn()).toEqual({ nextCheckInSeconds: 60 })
    const detail = await agent.detail()
    expect(detail.hostIdentifier).toBe(clean)
    expect(detail.osVersion).toBe(clean)
    const [device] = detail.peripherals
    // The serial number identifies the device, so every character of it is shown.
    const shown = escapeText(hostileStrings(variant as HostileVariant).serial ?? '')
    expect(cleanText(shown, 2_000)).toBe(shown)
    expect([device?.manufacturer, device?.serialNumber, device?.caption]).toEqual([clean, shown, clean])
    expect(device?.deviceID).toBe(`USB\\VID_0781&PID_5581\\${shown}`)
    await agent.plug(hostileStrings(variant as HostileVariant, { portPath: '1-9' }))
    expect((await pageOf(t, `agents?GlobalSearch=${encodeURIComponent(clean)}`)).recordsFiltered).toBeGreaterThan(0)
    expect((await pageOf(t, `peripherals?globalSearch=${encodeURIComponent(clean)}`)).recordsFiltered).toBeGreaterThan(
      0,
    )
  })

  it('of maximum length are stored or refused, including 255 x U+10FFFF', async () => {
    const longest = hostileTexts.longest // 255 code points, 510 UTF-16 units
    const agent = await enrolAgent(t)
    const device = storageStick({ manufacturer: longest, product: longest, serial: longest })
    agent.devices.set('1-1', device)
    const answer = await agent.post(agent.body({ changes: [{ op: 'attached', at: 1, device }] }))
    // Either the protocol refuses the string, or it is stored and shown completely. The server never fails.
    expect([200, 400]).toContain(answer.status)
    const rows = await agent.peripherals()
    if (answer.status === 400) expect(rows).toEqual([])
    else expect([...(rows[0]?.serialNumber ?? '')].length).toBeLessThanOrEqual(255)
    const half = '\u{10FFFF}'.repeat(127)
    await agent.session()
    agent.devices.set('1-1', storageStick({ manufacturer: half, product: half, serial: half }))
    await agent.inventory()
    expect(await agent.checkIn()).toEqual({ nextCheckInSeconds: 60 })
    expect((await agent.peripherals('&present=true'))[0]?.manufacturer).toBe(half)
  })

  it('are stored as reported, next to the cleaned names that searches and rules match', async () => {
    const agent = await enrolAgent(t, {
      devices: [
        storageStick({
          portPath: '1-1',
          manufacturer: 'King\u202eston',
          product: 'Odd\u0000Trav\u200beler',
          serial: 'A1',
        }),
        storageStick({ portPath: '1-2', manufacturer: 'Kingston', product: 'Odd Traveler', serial: 'A2' }),
      ],
    })
    await agent.checkIn()
    const rows = (await agent.peripherals('&productInfo=odd%20traveler')).sort((a, b) =>
      a.hierarchy < b.hierarchy ? -1 : 1,
    )
    expect(rows.map((row) => [row.manufacturer, row.caption, row.reportedManufacturer, row.reportedProduct])).toEqual([
      ['Kingston', 'Odd Traveler', 'King%u202Eston', 'Odd%00Trav%u200Beler'],
      ['Kingston', 'Odd Traveler', '', ''],
    ])
    // Neither a rule for the fingerprint nor the exact fingerprint tells them apart.
    expect(rows[0]).toMatchObject({ fingerprint: rows[1]?.fingerprint, fpData: rows[1]?.fpData })
  })

  it('never leave a control or direction mark in any answer', async () => {
    await fc.assert(
      fc.asyncProperty(anyText, async (text) => {
        const agent = await enrolAgent(t, {
          laterFacts: { hostname: text, osName: text, model: text },
          devices: [storageStick({ manufacturer: text, product: text, serial: text })],
        })
        expect(await agent.checkIn()).toEqual({ nextCheckInSeconds: 60 })
        const answer = await (await t.admin()).get(`/prime/webui/agents/agent/${agent.agentId}`)
        expect(answer.statusCode).toBe(200)
        expect(JSON.stringify(answer.json())).not.toMatch(
          /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2066-\u2069\u2028\u2029]/,
        )
      }),
      { numRuns: 40 },
    )
  })
})

describe('a hostile session', () => {
  it.each<[string, Record<string, unknown>, number]>([
    ['a boot id of dashes', { bootId: '-'.repeat(36) }, 400],
    ['a boot id of SQL', { bootId: "'; drop table agents; --              " }, 400],
    ['a nonce of one character', { nonce: 'x' }, 400],
    ['an unknown member', { token: 'x' }, 400],
    ['an invalid signature', { signature: 'AAAA' }, 403],
    ['an agent id that is not a uuid', { agentId: 'words' }, 403],
  ])('with %s is refused', async (_what, change, status) => {
    const agent = await enrolAgent(t)
    const answer = await agentPost(t, agentPaths.session, { ...agent.proven(randomUUID()), ...change })
    expect(answer.status, answer.text).toBe(status)
    expect((await agentPost(t, agentPaths.session, agent.proven('-'.repeat(36)))).status).toBe(400)
  })

  it('with a used nonce is refused', async () => {
    const agent = await enrolAgent(t)
    const proven = agent.proven(randomUUID())
    expect((await agentPost(t, agentPaths.session, proven)).status).toBe(200)
    expect((await agentPost(t, agentPaths.session, proven)).status).toBe(403)
  })
})

describe('a hostile enrolment', () => {
  it.each<[string, number, (body: Record<string, unknown>) => unknown]>([
    ['an unknown member', 400, (b) => ({ ...b, agentId: randomUUID() })],
    ['a key that is not base64', 403, (b) => ({ ...b, publicKey: 'AAAA' })],
    ['a key of another type', 403, (b) => ({ ...b, keyAlgorithm: 'ES256' })],
    ['a proof by another key', 403, (b) => ({ ...b, proof: 'A'.repeat(86) })],
    ['facts of the wrong shape', 400, (b) => ({ ...b, facts: 'none' })],
    ['a host name with U+0000', 400, (b) => ({ ...b, facts: hostFacts({ hostname: 'a\u0000b' }) })],
    ['a token of SQL', 403, (b) => ({ ...b, token: "' or true --" })],
    ['no token', 400, ({ token: _, ...b }) => b],
  ])('with %s is refused and stores nothing', async (_what, status, make) => {
    const token = await enrolmentToken(t)
    const count = async () => (await t.server.db.query<{ n: number }>(sql`select count(*) as n from agents`))[0]?.n
    const before = await count()
    const body = {
      token,
      keyAlgorithm: 'Ed25519',
      publicKey: 'MCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=',
      machineIdHash: null,
      smbiosHash: null,
      facts: hostFacts(),
      proof: 'AAAA',
    }
    const answer = await agentPost(t, agentPaths.enrol, make(body))
    expect(answer.status, answer.text).toBe(status)
    expect(await count()).toBe(before)
  })
})
