import { sql } from '@portcullis/platform/server/db/sql.ts'
import { type Actor, systemActor } from '@portcullis/platform/server/http/actor.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf } from '@portcullis/server/test/builders.ts'
import { person } from '@portcullis/server/test/people.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type AuditAction,
  type AuditDetail,
  type AuditRow,
  auditActionCodes,
  auditActionOf,
  auditActions,
  auditAreas,
} from '#features/contract.ts'
import { type AuditTarget, auditWriter } from './audit.service.ts'

const base = 'admin/audit/records'
let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

interface Made {
  id: number
  at: number
  actor: string
  action: AuditAction
  entity: string
  details: string
  reason: string
  severity: number
  outcome: 'success' | 'failure'
  objects: AuditTarget[]
}

const people = ['ana.novak', 'Bor', 'Žiga', "o'neil\\"]
const actions: AuditAction[] = [
  'account.created',
  'command.ordered',
  'policy.rule.changed',
  'tags.added',
  'heldPorts.released',
]
const names = [
  'kiosk-01',
  'Kiosk 011',
  'front desk',
  'Kingston DataTraveler (0951:1666)',
  'Ärzte',
  "a'b\\c:*|&!",
  '---',
]
const kinds = ['host', 'device', 'rule', 'account'] as const
const uuids = ['0190a1b2-0000-7000-8000-000000000001', '0190a1b2-0000-7000-8000-000000000002']

const target = fc.record({
  kind: fc.constantFrom(...kinds),
  id: fc.constantFrom('', '0951:1666', ...uuids),
  name: fc.constantFrom(...names),
})
const entry = fc.record({
  actor: fc.constantFrom(...people),
  action: fc.constantFrom(...actions),
  entity: fc.constantFrom(...names),
  details: fc.constantFrom('', 'because of ticket 4711', `agent ${uuids[0]}`, 'Nach Rücksprache'),
  reason: fc.constantFrom('', 'Lost stick', 'NUL \0 and half \ud800'),
  severity: fc.integer({ min: 0, max: 7 }),
  outcome: fc.constantFrom('success' as const, 'failure' as const),
  objects: fc.array(target, { maxLength: 4 }),
  pause: fc.integer({ min: 0, max: 7_200_000 }),
})

const uuid = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .replaceAll(uuid, ' ')
    .match(/[\p{Alphabetic}\p{Nd}]+/gu) ?? []
/** Returns whether each word of `asked` is the beginning of a word in `texts`. */
const hasWords = (asked: string, texts: readonly string[]): boolean => {
  const given = texts.flatMap(wordsOf)
  const wanted = wordsOf(asked)
  return wanted.length > 0 && wanted.every((word) => given.some((one) => one.startsWith(word)))
}

type Query = Partial<
  Record<
    | 'person'
    | 'area'
    | 'actions'
    | 'host'
    | 'device'
    | 'rule'
    | 'account'
    | 'outcome'
    | 'minimumSeverity'
    | 'time'
    | 'GlobalSearch',
    string
  >
>
const camelWords = (code: string): string => code.replaceAll(/([a-z])([A-Z])/g, '$1 $2')
const models: { [K in keyof Query]-?: (made: Made, text: string) => boolean } = {
  person: ({ actor }, text) => actor.toLowerCase() === text.toLowerCase(),
  area: ({ action }, text) => text.split(',').includes(auditActionOf(action)?.area ?? ''),
  actions: ({ action }, text) => text.split(',').includes(action),
  outcome: ({ outcome }, text) => text.split(',').includes(outcome),
  minimumSeverity: ({ severity }, text) => severity <= Number(text),
  time: ({ at }, text) => {
    const [from = '', to = ''] = text.split('..')
    return (from === '' || at >= Date.parse(from)) && (to === '' || at < Date.parse(to))
  },
  host: (made, text) => concerns(made, 'host', text),
  device: (made, text) => concerns(made, 'device', text),
  rule: (made, text) => concerns(made, 'rule', text),
  account: (made, text) => concerns(made, 'account', text),
  GlobalSearch: ({ actor, action, entity, details, reason, objects }, text) =>
    hasWords(text, [actor, camelWords(action), entity, details, reason, ...objects.map(({ name }) => name)]),
}
const concerns = ({ objects }: Made, kind: string, text: string): boolean => {
  const own = objects.filter((one) => one.kind === kind)
  if (own.some(({ id, name }) => id === text.toLowerCase() || name.toLowerCase() === text.toLowerCase())) return true
  // Words of all objects of the kind count together.
  return hasWords(
    text,
    own.map(({ name }) => name),
  )
}

const rowsOf = async (query: Query): Promise<AuditRow[]> =>
  (await pageOf<AuditRow>(t, `${base}?${new URLSearchParams({ PageSize: '1000', ...query })}`)).data

const actorOf = (userName: string): Actor => ({ ...systemActor(userName), kind: 'session', ip: '192.0.2.7' })

describe('the records of the audit trail', () => {
  it('are filtered by any combination of person, action, object, time, outcome and text', async () => {
    const audit = auditWriter(t.clock)
    const made: Made[] = []
    for (const { pause, ...one } of fc.sample(entry, { numRuns: 250, seed: 20_310_504 })) {
      t.clock.advance(pause)
      await t.db.transaction((tx) => audit.write(tx, actorOf(one.actor), one))
      const [last] = await t.db.query<{ n: number }>(sql`select max(r.audit_id) as n from audit_records r`)
      made.push({ ...one, id: last?.n ?? 0, at: t.clock.now() })
    }
    const first = made[0]?.id ?? 0
    const instant = fc.constantFrom(...made.map(({ at }) => new Date(at).toISOString()))
    const object = fc.constantFrom(...names, ...uuids, '0951:1666', 'kiosk', 'KIOSK 01', 'desk fro', 'nothing')
    const query = fc.record(
      {
        person: fc.constantFrom(...people, 'ANA.NOVAK', 'nobody', 'ana'),
        area: fc.subarray([...auditAreas], { minLength: 1, maxLength: 3 }).map((all) => all.join(',')),
        actions: fc.subarray(actions, { minLength: 1 }).map((all) => all.join(',')),
        host: object,
        device: object,
        rule: object,
        account: object,
        outcome: fc.constantFrom('success', 'failure', 'success,failure'),
        minimumSeverity: fc.integer({ min: 0, max: 7 }).map(String),
        time: fc.tuple(instant, instant).map(([from, to]) => `${from}..${to}`),
        GlobalSearch: fc.constantFrom(
          'kiosk',
          'kiosk 01',
          '4711',
          'lost STICK',
          'rück',
          'released held',
          'ana order',
          "'",
          'zzz',
          '0951',
        ),
      },
      { requiredKeys: [] },
    )
    await fc.assert(
      fc.asyncProperty(query, async (asked) => {
        const given = asked as Query
        const expected = made
          .filter((one) => Object.entries(given).every(([name, text]) => models[name as keyof Query](one, text)))
          .map(({ id, at }) => ({ id, at }))
          .toSorted((a, b) => b.at - a.at || b.id - a.id)
          .map(({ id }) => id)
        const found = (await rowsOf(given)).map(({ auditTrailID }) => auditTrailID).filter((id) => id >= first)
        expect(found, JSON.stringify(given)).toEqual(expected)
      }),
      { numRuns: 250 },
    )
  })

  it('state the objects of a command with names and ids, and whether they exist', async () => {
    const host = await enrolAgent(t, { facts: { hostname: 'lobby-kiosk' } })
    await (await t.admin()).post('/prime/webui/agents/configuration', [
      { uuid: host.agentId, hostIdentifier: null, ipAddress: null, agentConfigViewResource: { isSystemArmed: 'ARM' } },
    ])
    const [row] = await rowsOf({ actions: 'command.ordered', host: host.agentId })
    expect(row).toMatchObject({
      userName: 'admin',
      variant: 'arm',
      objects: [{ kind: 'host', id: host.agentId, name: 'lobby-kiosk', exists: true }],
    })
    const detail: AuditDetail = (await (await t.admin()).get(`/prime/webui/${base}/${row?.auditTrailID}`)).json()
    expect(detail.requestId).toMatch(/^[0-9a-f]{32}$/)
    expect(detail).toMatchObject({ credential: 'session', sourceIp: '127.0.0.1', checkpoint: null })
    expect(JSON.parse(detail.record)).toMatchObject({ action: 'command.ordered', userName: 'admin' })
    t.clock.advance(60_000)
    await t.server.checkpoints.run()
    const covered: AuditDetail = (await (await t.admin()).get(`/prime/webui/${base}/${row?.auditTrailID}`)).json()
    expect(covered.checkpoint?.auditTrailID).toBeGreaterThanOrEqual(row?.auditTrailID ?? 0)
  })

  it('state the values of an account before and after a change', async () => {
    const one = await person(t)
    await (await t.admin()).post('/prime/webui/admin/updateuser', { userName: one.userName, userProfile: 20 })
    const [row] = await rowsOf({ account: one.userName, actions: 'account.changed' })
    const detail: AuditDetail = (await (await t.admin()).get(`/prime/webui/${base}/${row?.auditTrailID}`)).json()
    expect(detail.facts).toContainEqual({ name: 'Profile', before: 'User', after: 'Manager' })
  })

  it('are for Managers and above', async () => {
    const user = await person(t)
    for (const path of [base, `${base}/1`, 'admin/audit/people']) {
      expect((await user.api.get(`/prime/webui/${path}`)).statusCode, path).toBe(403)
      expect((await t.as(undefined).get(`/prime/webui/${path}`)).statusCode, path).toBe(401)
    }
  })

  it('refuse unknown filters and values, and missing records', async () => {
    const admin = await t.admin()
    for (const query of [
      'area=nowhere',
      'actions=account.exploded',
      'outcome=maybe',
      'time=soon',
      'colour=red',
      `host=${'x'.repeat(257)}`,
    ])
      expect((await admin.get(`/prime/webui/${base}?${query}`)).statusCode, query).toBe(400)
    expect((await admin.get(`/prime/webui/${base}/999999999`)).statusCode).toBe(404)
    expect((await admin.get(`/prime/webui/${base}/one`)).statusCode).toBe(404)
  })

  it('are found by their words, even if they name many objects with long names', async () => {
    const admin = await t.admin()
    const letters = (i: number, n: number) =>
      Array.from({ length: n }, (_, j) => String.fromCodePoint(0x4e00 + ((i * 31 + j * 97) % 20_000))).join('')
    const rules = Array.from({ length: 1_000 }, (_, i) => ({
      effect: 'deny',
      vid: '0951',
      pid: i.toString(16).padStart(4, '0'),
      serial: Array.from({ length: 5 }, (_, j) => letters(i * 5 + j, 40)).join(' '),
      reason: 'Not ours',
    }))
    const put = await admin.post('/prime/webui/generalconfig/document', { rules })
    expect(put.statusCode, put.body).toBe(200)
    const [row] = await rowsOf({ actions: 'policy.replaced' })
    expect(row).toMatchObject({ count: 1_000 })
    expect((await rowsOf({ GlobalSearch: 'replaced' })).map(({ auditTrailID }) => auditTrailID)).toEqual([
      row?.auditTrailID,
    ])
    const detail: AuditDetail = (await admin.get(`/prime/webui/${base}/${row?.auditTrailID}`)).json()
    expect(detail.objects).toHaveLength(1_000)
    expect(await rowsOf({ rule: detail.objects.at(-1)?.id ?? '' })).toHaveLength(1)
  })

  it('name the people of the trail once each', async () => {
    const { data } = (await (await t.admin()).get('/prime/webui/admin/audit/people')).json() as { data: string[] }
    expect(data).toEqual(expect.arrayContaining(['admin', ...people]))
    expect(new Set(data).size).toBe(data.length)
  })

  it('are exported as CSV with the same filters', async () => {
    const filter = { person: 'admin', actions: 'command.ordered' }
    const listed = await rowsOf(filter)
    const file = await (await t.admin()).post('/prime/webui/reports/export', { list: 'audit', format: 'csv', filter })
    expect(file.statusCode).toBe(200)
    expect(file.body.trimEnd().split('\n')).toHaveLength(listed.length + 1)
  })
})

describe('the registry of actions', () => {
  it('contains every action in the trail', async () => {
    const rows = await t.db.query<{ action: string }>(sql`select distinct r.action from audit_records r`)
    expect(rows.filter(({ action }) => auditActionOf(action) === undefined)).toEqual([])
    expect(auditActionCodes).toHaveLength(Object.keys(auditActions).length)
  })
})
