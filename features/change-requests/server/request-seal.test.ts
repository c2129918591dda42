import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { approveRequest, trustAccounts } from '@portcullis/server/test/approvals.ts'
import { enrolAgent, type TestAgent } from '@portcullis/server/test/builders.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { ChangeRequest } from '#features/contract.ts'

const base = '/prime/webui'
let t: TestApp
let agents: TestAgent[]
let requester: Person
let approver: Person

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  agents = await Promise.all([1, 2, 3].map(() => enrolAgent(t)))
  const admin = await t.admin()
  const { settings } = (await admin.get(`${base}/policy`)).json()
  expect((await admin.put(`${base}/policy/settings`, { ...settings, twoPersonHosts: 2 })).statusCode).toBe(200)
  requester = await person(t, { profile: 10 })
  approver = await person(t, { profile: 10 })
  await trustAccounts(t)
})
afterAll(() => t.close())

const file = async (): Promise<string> => {
  await t.db.execute(sql`delete from change_requests`)
  const free = agents.map(({ agentId }) => ({ uuid: agentId, agentConfigViewResource: { isSystemArmed: 'free' } }))
  expect((await requester.api.post(`${base}/agents/configuration`, free)).statusCode).toBe(403)
  const [request] = (await approver.api.get(`${base}/policy/changerequests`)).json().data as ChangeRequest[]
  return request?.id as string
}

it.each([
  ['request_id', "request_id = '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f'"],
  ['action', "action = 'delete'"],
  ['title', "title = 'Free 1 host'"],
  ['hosts', 'hosts = 1'],
  ['details', "details = '{harmless}'"],
  ['removed details', "details = '{}'"],
  ['body', "body = replace(body, '{', '{ ')"],
  ['sealed', "sealed = '\\x00'"],
  ['requested_by', "requested_by = 'somebody'"],
  ['requested_by_account', "requested_by_account = (select account_id from accounts where user_name = 'admin')"],
  ['requested_at', "requested_at = requested_at + interval '1 millisecond'"],
  ['expires_at', "expires_at = expires_at + interval '1 day'"],
  ['seal', "seal = decode(repeat('00', 32), 'hex')"],
  ['shown_seal', "shown_seal = decode(repeat('00', 32), 'hex')"],
])('a request is not carried out if its row was changed in the database: %s', async (column, assignment) => {
  await file()
  await t.db.execute(sql`update change_requests set ${raw(assignment)}`)
  const [stored] = await t.db.query<{ id: string }>(sql`select q.request_id as id from change_requests q`)
  const answer = await approveRequest(approver.api, stored?.id)
  expect([column, answer.statusCode, answer.json().detail]).toEqual([
    ...[column, 409],
    expect.stringContaining('not authentic'),
  ])
})

it('an unchanged request is carried out', async () => {
  const answer = await approveRequest(approver.api, await file())
  expect(answer.json()).toMatchObject({ state: 'Approved' })
})
