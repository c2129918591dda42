import { storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { adminPassword, startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { approveRequest } from '@portcullis/server/test/approvals.ts'
import { enrolAgent, enrolmentToken, type TestAgent } from '@portcullis/server/test/builders.ts'
import { type Person, person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ChangeRequest } from '#features/contract.ts'

const base = '/prime/webui'
const stick = { vid: '0781', pid: '5581' }
let t: TestApp
let agents: TestAgent[]
let alice: Person
let bob: Person

/** Two Administrators, alice and bob. Three hosts with the same stick and a limit of one. */
beforeAll(async () => {
  t = await startTestApp({ listen: true })
  agents = await Promise.all([1, 2, 3].map(() => enrolAgent(t, { devices: [storageStick({ portPath: '1-1' })] })))
  const admin = await t.admin()
  const { settings } = (await admin.get(`${base}/policy`)).json()
  await admin.put(`${base}/policy/settings`, { ...settings, twoPersonHosts: 1 })
  bob = await person(t, { profile: 10, userName: 'bob' })
})
afterAll(() => t.close())
beforeEach(async () => {
  await t.db.execute(sql`delete from policy_rules`)
  await t.db.execute(sql`delete from tags`)
  await t.db.execute(sql`delete from change_requests`)
  await later()
})

/** Moves the clock past the 15 minutes in which releases count. Both people sign in again. */
const later = async () => {
  t.clock.advance(16 * 60_000)
  alice = { userName: 'admin', password: adminPassword, token: '', api: t.as(await t.signIn()) }
  bob = { ...bob, api: t.as(await t.signIn(bob.userName, bob.password)) }
}
const uuids = () => agents.map(({ agentId }) => agentId)
const rule = (who: Person, change: object) =>
  who.api.post(`${base}/policy/rules`, { reason: 'test', ...stick, ...change })
const tag = (hashtags: string[], elementIds: string[]) =>
  alice.api.post(`${base}/generalconfig/addhashtags`, { hashtags, elementIds })
const untag = (hashtags: string[], elementIds: string[] | null) =>
  alice.api.post(`${base}/generalconfig/deletehashtags`, { hashtags, elementIds })
const requests = async (): Promise<ChangeRequest[]> =>
  (await alice.api.get(`${base}/policy/changerequests`)).json().data
const approve = async () => {
  const id = (await requests()).find(({ state }) => state === 'Waiting')?.id
  return approveRequest(bob.api, id)
}
/** Code of a refusal. Some operations answer errors as plain text. */
const code = ({ body }: { body: string }): string =>
  body.startsWith('{') ? JSON.parse(body).code : /second approver/.test(body) ? 'second_person_required' : body
const tagged = async (): Promise<Record<string, number>> => {
  const tags: { name: string; agentsCount: number }[] = (
    await alice.api.get(`${base}/generalconfig/gethashtags`)
  ).json()
  return Object.fromEntries(tags.map(({ name, agentsCount }) => [name, agentsCount]))
}
const uploadFile = (path: string, lines: string[]) => {
  const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="a.csv"\r\ncontent-type: text/csv\r\n\r\n'
  return alice.api.post(`${base}/${path}`, `${head}${lines.join('\r\n')}\r\n--b--\r\n`, {
    'content-type': 'multipart/form-data; boundary=b',
  })
}
const importTags = (lines: string[]) => uploadFile('generalconfig/importtags', ['Type,Identifier,Name,Tags', ...lines])

describe('tags do not bypass the second approver', () => {
  it('nobody alone can remove a deny by deleting its tag or untagging its hosts', async () => {
    await tag(['kiosk'], uuids())
    expect((await rule(alice, { effect: 'deny', tag: 'kiosk' })).statusCode).toBe(200)
    expect(code(await rule(alice, { effect: 'allow' }))).toBe('second_person_required')
    expect((await approve()).statusCode).toBe(200)
    await later()
    const attempts = [
      () => untag(['kiosk'], null),
      () => untag(['KIOSK'], uuids()),
      () => alice.api.post(`${base}/agents/bulk`, { action: 'untag', hashtags: ['kiosk'], uuids: uuids() }),
      () => importTags(uuids().map((id) => `Agent,${id},,`)),
    ]
    for (const attempt of attempts) expect(code(await attempt())).toBe('second_person_required')
    expect(await tagged()).toEqual({ kiosk: 3 })
    expect((await requests()).map(({ title }) => title)).toEqual(
      expect.arrayContaining([
        'Delete tag kiosk (newly allows devices on 3 hosts)',
        'Remove tag kiosk from 3 hosts (newly allows devices on 3 hosts)',
        'Remove tag kiosk from 3 hosts',
        'Set the tags of 3 hosts (newly allows devices on 3 hosts)',
      ]),
    )
    const preview = await alice.api.post(`${base}/agents/bulk/preview`, {
      action: 'untag',
      hashtags: ['kiosk'],
      uuids: uuids(),
    })
    expect(preview.json().secondPerson).toBe(true)
    // One host is within the limit; a second one exceeds it.
    expect((await untag(['kiosk'], uuids().slice(0, 1))).statusCode).toBe(200)
    expect(code(await untag(['kiosk'], uuids().slice(1, 2)))).toBe('second_person_required')
    const deletion = (await requests()).find(({ title }) => title.startsWith('Delete'))
    expect((await approveRequest(bob.api, deletion?.id)).statusCode).toBe(200)
    expect(await tagged()).toEqual({})
  })

  it('nobody alone can put the tag of an allow on more hosts than the limit', async () => {
    await alice.api.post(`${base}/generalconfig/addhashtags`, { hashtags: ['trusted'] })
    expect(code(await rule(alice, { effect: 'allow', tag: 'trusted' }))).toBe('second_person_required')
    expect((await approve()).statusCode).toBe(200)
    await later()
    const attempts = [
      () => tag(['trusted'], uuids()),
      () => alice.api.post(`${base}/agents/bulk`, { action: 'tag', hashtags: ['trusted'], uuids: uuids() }),
      () => importTags(uuids().map((id) => `Agent,${id},,trusted`)),
    ]
    for (const attempt of attempts) expect(code(await attempt())).toBe('second_person_required')
    expect(await tagged()).toEqual({ trusted: 0 })
    expect((await tag(['trusted'], uuids().slice(0, 1))).statusCode).toBe(200)
    // Hosts that already have the tag do not count.
    expect((await tag(['trusted'], uuids().slice(0, 1))).statusCode).toBe(200)
    expect((await tag(['other'], uuids())).statusCode).toBe(200)
    const set = (await requests()).find(({ title }) => title.startsWith('Set the tags'))
    expect((await approveRequest(bob.api, set?.id)).statusCode).toBe(200)
    expect(await tagged()).toEqual({ other: 0, trusted: 3 })
  })

  it('a dry run counts the hosts that newly allow devices, and the request and the audit trail contain the reason', async () => {
    await alice.api.post(`${base}/generalconfig/addhashtags`, { hashtags: ['trusted'] })
    expect(code(await rule(alice, { effect: 'allow', tag: 'trusted' }))).toBe('second_person_required')
    expect((await approve()).statusCode).toBe(200)
    await later()
    const add = { hashtags: ['trusted'], elementIds: uuids() }
    const dry = await alice.api.post(`${base}/generalconfig/addhashtags`, { ...add, dryRun: true })
    expect(dry.json()).toEqual({ accepted: [], notFound: [], created: [], newlyAllowed: 3 })
    const file = uuids().map((id) => `Agent,${id},,trusted`)
    const path = 'generalconfig/importtags'
    const tried = await uploadFile(`${path}?dryRun=true`, ['Type,Identifier,Name,Tags', ...file])
    expect(JSON.parse(tried.body)).toMatchObject({ imported: 3, newlyAllowed: 3 })
    expect(await tagged()).toEqual({ trusted: 0 })
    expect((await requests()).filter(({ state }) => state === 'Waiting')).toEqual([])

    const asked = await alice.api.post(`${base}/generalconfig/addhashtags`, { ...add, reason: 'the lab opens' })
    expect(code(asked)).toBe('second_person_required')
    const [waiting] = (await requests()).filter(({ state }) => state === 'Waiting')
    expect(waiting?.details[0]).toBe('Reason: the lab opens')
    expect((await approve()).statusCode).toBe(200)
    const removal = { hashtags: ['trusted'], elementIds: null }
    const none = await alice.api.post(`${base}/generalconfig/deletehashtags`, { ...removal, dryRun: true })
    expect(none.json()).toMatchObject({ deleted: [], newlyAllowed: 0 })
    expect(await tagged()).toEqual({ trusted: 3 })
    await alice.api.post(`${base}/generalconfig/deletehashtags`, { ...removal, reason: 'the lab closes' })
    const trail = (await alice.api.get(`${base}/events/GetAuditsIntegration?PageSize=20`)).body
    expect(trail).toContain('reason: the lab opens')
    expect(trail).toContain('reason: the lab closes')
  })

  it('a file of tags is counted as a whole: a refusal stores none of its lines', async () => {
    await alice.api.post(`${base}/generalconfig/addhashtags`, { hashtags: ['trusted'] })
    expect(code(await rule(alice, { effect: 'allow', tag: 'trusted' }))).toBe('second_person_required')
    expect((await approve()).statusCode).toBe(200)
    await later()
    // One host in each of three batches of 500 lines.
    const file = uuids().flatMap((id, i) => [
      `Agent,${id},,trusted`,
      ...Array.from({ length: 499 }, (_, n) => `Tag,,,new-${i}-${n}`),
    ])
    expect(code(await importTags(file))).toBe('second_person_required')
    expect(await tagged()).toEqual({ trusted: 0 })
    expect((await approve()).statusCode).toBe(200)
    expect(await tagged()).toEqual({ trusted: 3 })
    const again = await importTags(file)
    expect(again.json()).toMatchObject({ imported: 1_500, failed: 0 })
    expect(Object.keys(await tagged())).toHaveLength(1 + 3 * 499)
    // One host is within the limit: counting the file first does not count it twice.
    await untag(['trusted'], uuids())
    expect((await importTags([`Agent,${uuids()[0]},,trusted`])).json()).toMatchObject({ imported: 1, failed: 0 })
  })

  it('an uploaded file of connections is refused as a whole', async () => {
    await tag(['kiosk'], uuids())
    expect((await rule(alice, { effect: 'deny', tag: 'kiosk' })).statusCode).toBe(200)
    expect(code(await rule(alice, { effect: 'allow' }))).toBe('second_person_required')
    expect((await approve()).statusCode).toBe(200)
    await later()
    const names = uuids().map((_, i) => `file-${i}.example`)
    for (const [i, computerName] of names.entries()) {
      const made = await alice.api.post(`${base}/agents/agentless/connectiondetails`, {
        computerName,
        hashtags: ['kiosk'],
      })
      expect(made.statusCode, made.body).toBe(200)
      await t.db.execute(sql`
        update connections set agent_id = ${uuids()[i]} where computer_name = ${computerName}`)
    }
    // 500 new computers between the changes: the refusal comes long after the first one.
    const file = [
      'ComputerName,Tags',
      `${names[0]},open`,
      ...Array.from({ length: 500 }, (_, n) => `new-${n}.example,lab`),
      `${names[1]},open`,
    ]
    const answer = await uploadFile('agents/agentless/uploadconnectiondetailsfile', file)
    expect(code(answer)).toBe('second_person_required')
    expect(await tagged()).toEqual({ kiosk: 3 })
    const { recordsTotal } = (await alice.api.get(`${base}/agents/agentless/connectiondetails`)).json()
    expect(recordsTotal).toBe(3)
  })

  it('files one request for the tags of all connections in a file, after a preview that announces it', async () => {
    await tag(['kiosk'], uuids())
    expect((await rule(alice, { effect: 'deny', tag: 'kiosk' })).statusCode).toBe(200)
    expect(code(await rule(alice, { effect: 'allow' }))).toBe('second_person_required')
    expect((await approve()).statusCode).toBe(200)
    await later()
    const names = ['a', 'b', 'c'].map((name) => `${name}.file.example`)
    for (const [i, computerName] of names.entries()) {
      const connection = { computerName, hashtags: ['kiosk'] }
      expect((await alice.api.post(`${base}/agents/agentless/connectiondetails`, connection)).statusCode).toBe(200)
      await t.db.execute(
        sql`update connections set agent_id = ${agents[i]?.agentId} where computer_name = ${computerName}`,
      )
    }
    const path = 'agents/agentless/uploadconnectiondetailsfile'
    const file = ['ComputerName,Tags', ...names.map((name) => `${name},other`)]
    const preview = await uploadFile(`${path}?dryRun=true`, file)
    expect(JSON.parse(preview.body)).toMatchObject({
      updated: 3,
      failed: 0,
      secondPerson: true,
      newlyAllowed: 3,
    })
    expect((await requests()).filter(({ state }) => state === 'Waiting')).toEqual([])

    expect(code(await uploadFile(path, file))).toBe('second_person_required')
    expect(await requests()).toMatchObject([{ state: 'Waiting', hosts: 3 }, { state: 'Approved' }])
    expect((await approve()).statusCode).toBe(200)
    expect(await tagged()).toEqual({ kiosk: 0, other: 3 })
    expect(JSON.parse((await uploadFile(path, file)).body)).toMatchObject({ updated: 3, secondPerson: false })
  })

  it('the tags of a connection to a host with an agent are counted', async () => {
    await tag(['kiosk'], uuids())
    expect((await rule(alice, { effect: 'deny', tag: 'kiosk' })).statusCode).toBe(200)
    expect(code(await rule(alice, { effect: 'allow' }))).toBe('second_person_required')
    expect((await approve()).statusCode).toBe(200)
    await later()
    const connections = `${base}/agents/agentless/connectiondetails`
    const made = await alice.api.post(connections, { computerName: 'polled.example', hashtags: ['kiosk'] })
    expect(made.statusCode, made.body).toBe(200)
    await t.db.execute(sql`update connections set agent_id = ${agents[1]?.agentId}`)
    expect((await untag(['kiosk'], uuids().slice(0, 1))).statusCode).toBe(200)
    const answer = await alice.api.put(connections, { computerName: 'polled.example', hashtags: [] })
    expect(code(answer)).toBe('second_person_required')
    expect(await tagged()).toEqual({ kiosk: 2 })
    expect((await approve()).statusCode).toBe(200)
    expect(await tagged()).toEqual({ kiosk: 1 })
  })

  it('tags that decide options of hosts are counted', async () => {
    await tag(['closed'], uuids())
    await t.db.execute(sql`
      insert into config_items (name, value) values ('VENDORA_FAIL_CLOSED_TAGS', 'closed')
      on conflict (name) do update set value = excluded.value`)
    expect(code(await untag(['closed'], uuids()))).toBe('second_person_required')
    expect(code(await untag(['closed'], null))).toBe('second_person_required')
    expect((await untag(['closed'], uuids().slice(0, 1))).statusCode).toBe(200)
  })

  it('an item that names the tags of options counts the hosts that carry them', async () => {
    await tag(['loose'], uuids())
    const save = (who: Person, tags: string) =>
      who.api.post(`${base}/generalconfig/AddOrUpdateVendorA`, { VENDORA_NO_LAST_KEYBOARD_TAGS: tags })
    expect((await save(alice, 'nobody')).statusCode).toBe(200)
    expect(code(await save(alice, 'nobody, Loose'))).toBe('second_person_required')
    expect(await requests()).toMatchObject([
      {
        action: 'settings',
        hosts: 3,
        details: expect.arrayContaining(['Last keyboard: tags without exception: "nobody" → "nobody, Loose"']),
      },
    ])
    expect((await save(bob, 'somebody')).statusCode).toBe(200)
    const outdated = await approve()
    expect([outdated.statusCode, outdated.json().detail]).toEqual([
      409,
      expect.stringContaining('Request the change again'),
    ])
    expect((await save(bob, 'nobody')).statusCode).toBe(200)
    expect((await approve()).statusCode).toBe(200)
    const items = await t.db.query<{ value: string }>(
      sql`select i.value from config_items i where i.name = 'VENDORA_NO_LAST_KEYBOARD_TAGS'`,
    )
    expect(items).toEqual([{ value: 'nobody, Loose' }])
  })

  it('approves a change for the hosts with a tag although hosts with that tag enrolled since', async () => {
    await tag(['grown'], uuids())
    await rule(alice, { effect: 'deny', tag: 'grown' })
    const token = await enrolmentToken(t, { hashtags: ['grown'] })
    const devices = [storageStick({ portPath: '1-1' })]
    await later()
    await alice.api.post(`${base}/generalconfig/AddOrUpdateVendorA`, { VENDORA_NO_LAST_KEYBOARD_TAGS: 'grown' })
    await enrolAgent(t, { token, devices })
    expect((await approve()).statusCode).toBe(200)
    expect(code(await untag(['grown'], null))).toBe('second_person_required')
    await enrolAgent(t, { token, devices })
    expect((await approve()).statusCode).toBe(200)
  })

  it('refuses to approve options if a host that enrolled before got the tag since', async () => {
    await tag(['later'], uuids().slice(0, 2))
    await later()
    const item = { VENDORA_NO_LAST_KEYBOARD_TAGS: 'later' }
    expect(code(await alice.api.post(`${base}/generalconfig/AddOrUpdateVendorA`, item))).toBe('second_person_required')
    await tag(['later'], uuids())
    expect((await approve()).statusCode).toBe(409)
  })

  it('a stale session cannot request a change of tags', async () => {
    await alice.api.post(`${base}/generalconfig/addhashtags`, { hashtags: ['trusted'] })
    await rule(alice, { effect: 'allow', tag: 'trusted' })
    expect((await approve()).statusCode).toBe(200)
    t.clock.advance(6 * 60_000)
    expect((await tag(['trusted'], uuids())).statusCode).toBe(401)
    expect(await tagged()).toEqual({ trusted: 0 })
  })
})
