/** Sends queries over HTTP to every paged list. */
import {
  agentList,
  auditList,
  commandList,
  connectionDetailsStatus,
  connectionStatusList,
  deliveryList,
  eventList,
  type FleetEvent,
  getAgents,
  getAuditRecords,
  getEvents,
  getPeripheralModels,
  getPeripherals,
  healthChangeList,
  healthHistory,
  hostFindingList,
  listCommands,
  listDeliveries,
  listFindings,
  listPolicyRules,
  listQuarantines,
  listReportRuns,
  modelList,
  type Peripheral,
  peripheralList,
  quarantineList,
  reportRunList,
  ruleList,
} from '@portcullis/features/contract.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { pageOf } from '@portcullis/server/test/builders.ts'
import { seedHosts } from '@portcullis/server/test/list-hosts.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { filtersOf, type ListDefinition } from '../../contract/list.ts'
import type { AnyOperation } from '../../contract/operation.ts'

let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  await seedHosts(t)
})
afterAll(() => t.close())

const lists: [ListDefinition, AnyOperation][] = [
  [agentList, getAgents],
  [peripheralList, getPeripherals],
  [modelList, getPeripheralModels],
  [eventList, getEvents],
  [auditList, getAuditRecords],
  [ruleList, listPolicyRules],
  [commandList, listCommands],
  [connectionStatusList, connectionDetailsStatus],
  [deliveryList, listDeliveries],
  [healthChangeList, healthHistory],
  [quarantineList, listQuarantines],
  [reportRunList, listReportRuns],
  [hostFindingList, listFindings],
]

const asked = (path: string, text: string) => `${path}?PageSize=1000&Query=${encodeURIComponent(text)}`
const refusal = async (path: string, text: string): Promise<string> => {
  const answer = await (await t.admin()).get(`/prime/webui/${asked(path, text)}`)
  expect(answer.statusCode, text).toBe(400)
  const [fault] = (answer.json() as { errors: { field: string; message: string }[] }).errors
  expect(fault?.field).toMatch(/^query\.[qQ]uery$/)
  return fault?.message ?? ''
}

const valid = { enum: [], boolean: ['true'], number: ['>=20'], time: ['2031-05-04T10:11..'], tags: ['lab,"x'] }
const hostile = [
  "x' or '1'='1",
  "'; drop table agents; --",
  '%',
  '\\',
  '$1',
  '::int',
  '-1',
  '9'.repeat(400),
  '{}',
  '..',
  ',',
  '\u0001',
  '本'.repeat(300),
]
const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`

describe.each(lists.map(([list, operation]) => [list.title, list, operation] as const))(
  'the query of %s',
  (_title, list, operation) => {
    const path = operation.path.replace('/prime/webui/', '')

    it('splits the list in two with each filter and its NOT, even where a value is missing', async () => {
      const whole = (await pageOf(t, `${path}?PageSize=1`)).recordsTotal
      for (const { name, kind, values } of filtersOf(list)) {
        const isEnd = /^([Ff]rom|[Tt]o)[A-Z]/.test(name)
        const value = isEnd
          ? { time: '2031-05-04' }[kind as string]
          : ((valid as Record<string, string[]>)[kind]?.[0] ?? values[0] ?? (kind === 'text' ? 'e' : undefined))
        if (value === undefined) continue
        const term = `${name}:${quoted(value)}`
        const yes = await pageOf(t, asked(path, term))
        const no = await pageOf(t, asked(path, `NOT ${term}`))
        expect([name, yes.recordsFiltered + no.recordsFiltered]).toEqual([name, whole])
        expect((await pageOf(t, asked(path, `${term} OR NOT ${term}`))).recordsFiltered, name).toBe(whole)
        expect((await pageOf(t, asked(path, `${term} AND NOT ${term}`))).data, name).toEqual([])
        const alone = await pageOf(t, `${path}?PageSize=1000&${name}=${encodeURIComponent(value)}`)
        expect(yes.data.length, name).toBe(alone.data.length)
      }
    })

    it('returns rows or a 400 for hostile values, never a 500', async () => {
      const admin = await t.admin()
      for (const { name } of [...filtersOf(list), { name: 'GlobalSearch' }])
        for (const text of hostile)
          for (const form of [`${name}:${quoted(text)}`, `NOT (${quoted(text)} OR ${name}:${quoted(text)})`]) {
            const { statusCode } = await admin.get(`/prime/webui/${asked(path, form)}`)
            expect([200, 400], form).toContain(statusCode)
          }
      expect(await refusal(path, 'NoSuchFilter:x')).toMatch(
        /^at character 1: NoSuchFilter is not a filter; .*known names: /,
      )
      expect(await refusal(path, '(a')).toBe('at character 1: the parenthesis is not closed')
    })
  },
)

describe('a query', () => {
  it('reports the position and the value of a fault', async () => {
    expect(await refusal('agents', 'web AND Severity:high')).toBe(
      'at character 9: Severity must be a number, >=n, <=n or a comma list of numbers',
    )
    expect(await refusal('agents', 'NOT Hostidentifer:web')).toContain(
      'at character 5: Hostidentifer is not a filter; did you mean HostIdentifier?',
    )
    expect(await refusal('events/getevents', 'fromEventId:x')).toBe(
      'at character 1: fromEventId must be the ID of an event',
    )
    expect(await refusal('agents', `"${'a'.repeat(257)}"`)).toBe(
      'at character 1: a word can have at most 256 characters',
    )
    expect(await refusal('agents', 'x '.repeat(1_001))).toBe('must have at most 2000 characters')
  })

  it('narrows the other filters, whatever the case of its name', async () => {
    const both = await pageOf(
      t,
      'agents?Status=Free&query=HostIdentifier:web%20OR%20HostIdentifier:kiosk&PageSize=1000',
    )
    const one = await pageOf(t, 'agents?Status=Free&PageSize=1000')
    expect(both.data).toEqual(one.data.filter(({ hostIdentifier }) => /web|kiosk/i.test(hostIdentifier)))
    expect(both.data.length).toBeGreaterThan(0)
  })

  it('keeps the list of one host to this host', async () => {
    const all = (await pageOf<Peripheral>(t, 'peripherals?PageSize=1000')).data
    const { uuid } = all[0] as Peripheral
    const own = all.filter((row) => row.uuid === uuid)
    const page = await pageOf<Peripheral>(t, asked(`peripherals/${uuid}`, 'present:true OR NOT present:true'))
    expect([page.recordsTotal, page.recordsFiltered]).toEqual([own.length, own.length])
    expect(new Set(page.data.map((row) => row.uuid))).toEqual(new Set([uuid]))
  })

  it.each(['', '&SortBy=date_asc', '&fromEventId=0'])('finds and counts events%s', async (order) => {
    const all = (await pageOf<FleetEvent>(t, `events/getevents?PageSize=1000`)).data
    const page = await pageOf<FleetEvent>(
      t,
      `${asked('events/getevents', 'NOT category:Agent source:web OR fromEventId:5')}${order}`,
    )
    const meant = all.filter(
      (event) =>
        event.eventID >= 5 || (event.category !== 'Agent' && event.eventEntityID.toLowerCase().includes('web')),
    )
    expect(page.data.map(({ eventID }) => eventID)).toEqual(meant.map(({ eventID }) => eventID))
    expect([page.recordsTotal, page.recordsFiltered]).toEqual([all.length, meant.length])
  })

  it('finds devices that wait for approval', async () => {
    const all = await pageOf(t, 'policy/approvals')
    expect(all.recordsTotal).toBeGreaterThan(0)
    const split = async (text: string) =>
      (await pageOf(t, `policy/approvals?Query=${encodeURIComponent(text)}`)).recordsFiltered
    expect(await split('hashtags:none OR NOT hashtags:none')).toBe(all.recordsTotal)
    expect(await split('vid:zzzz')).toBe(0)
    expect(await refusal('policy/approvals', 'status:x')).toContain('known names: vendor, vid')
  })

  it('selects the rows of an export and of a bulk operation', async () => {
    const admin = await t.admin()
    const query = 'HostIdentifier:web OR NOT Status:Free'
    const page = await pageOf(t, asked('agents', query))
    const file = await admin.post('/prime/webui/agents/exportagentcsv', { query, columns: ['uuid'] })
    expect(file.body.trim().split(/\r\n/).slice(1)).toEqual(page.data.map(({ uuid }) => uuid))
    const bad = await admin.post('/prime/webui/agents/exportagentcsv', { query: 'a)' })
    expect([bad.statusCode, bad.json()]).toMatchObject([
      400,
      { errors: [{ field: 'body.query', message: 'at character 2: no opening parenthesis matches this one' }] },
    ])
    const preview = await admin.post('/prime/webui/agents/bulk/preview', { filter: { Query: query }, action: 'free' })
    expect([preview.statusCode, preview.json()]).toMatchObject([200, { agents: page.recordsFiltered }])
  })
})
