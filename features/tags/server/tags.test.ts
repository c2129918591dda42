import { randomUUID } from 'node:crypto'
import { Rollback } from '@portcullis/platform/server/db/db.ts'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startCapabilityApp } from '@portcullis/server/test/capability-app.ts'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { auditFeature } from '#features/audit/server/index.ts'
import type { AddTagsResult, DeleteTagsResult, ImportResult, Tag } from '#features/contract.ts'
import { type TagGate, type TagsApi, tagsFeature } from './index.ts'

/** No rule names a tag of this file. */
const openGate: TagGate = {
  measure: async () => 0,
  worksAgain: async () => ({ agents: 0, peripherals: 0, attackTools: 0 }),
  approve: async () => null,
  settle: async (_actor, outcome) => (outcome instanceof Rollback ? outcome.result : outcome),
}

type App = Awaited<ReturnType<typeof startCapabilityApp<TagsApi>>>
let t: App
const base = '/prime/webui/generalconfig'
const [agentA, agentB] = ['0190a000-0000-7000-8000-00000000000a', '0190a000-0000-7000-8000-00000000000b']
const stick = `${agentA}|USB\\VID_0781&PID_5567\\=cmd|'/c calc'!A1`

beforeAll(async () => {
  t = await startCapabilityApp((app, context) =>
    tagsFeature(app, { ...context, audit: auditFeature(app, context), gate: openGate }),
  )
  await t.db.execute(sql`insert into agents (agent_id, host, address, enrolled_at, facts) values
    (${agentA}, '=HYPERLINK("x")', '10.0.0.1', now(), '{}'), (${agentB}, E'multi\nline "host", two', '10.0.0.2', now(), '{}')`)
  await t.db.execute(sql`
    with m as (insert into models (vid, pid, vendor, product, folded, first_seen, last_seen)
               values ('0781', '5567', 'SanDisk', 'Cruzer', '', now(), now()) returning model_id),
         d as (insert into designs (fingerprint, without_revision, model_id, manufacturer, product, folded, icon, kinds, class_code,
                 subclass_code, protocol_code, interfaces, bcd_device, attack_tool, vulnerable, severity, evidence, vulnerabilities,
                 findings, descriptors, configuration, knowledge_version)
               select 'f', 'w', m.model_id, 'SanDisk', 'Cruzer', '', 3, '{}', '', '', '', '', '0100', 0, false, 10, '[]', '[]', '', '', '', '1'
               from m returning design_id)
    insert into peripherals (agent_id, device_id, design_id, port_path, serial, serial_folded, first_seen, last_seen, present)
    select ${agentA}, ${stick.slice(37)}, d.design_id, '1-1', '', '', now(), now(), true from d`)
})
afterAll(() => t.close())

const manager = () => t.as('manager')
const list = async (): Promise<Tag[]> => (await t.as('user').get(`${base}/gethashtags`)).json()
const add = async (body: object): Promise<AddTagsResult> => (await manager().post(`${base}/addhashtags`, body)).json()
const remove = async (body: object): Promise<DeleteTagsResult> =>
  (await manager().post(`${base}/deletehashtags`, body)).json()
const exported = async (): Promise<string> => (await t.as('user').get(`${base}/exporttags`)).body
const upload = (file: string | Buffer, profile: 'manager' | 'user' = 'manager', query = '') => {
  const head =
    '--b\r\ncontent-disposition: form-data; name="file"; filename="tags.csv"\r\ncontent-type: text/csv\r\n\r\n'
  return t
    .as(profile)
    .post(
      `${base}/importtags${query}`,
      Buffer.concat([Buffer.from(head), Buffer.from(file as string), Buffer.from('\r\n--b--\r\n')]),
      {
        'content-type': 'multipart/form-data; boundary=b',
      },
    )
}
const imported = async (file: string | Buffer): Promise<ImportResult> => {
  const answer = await upload(file)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}
const audited = async () =>
  (await t.db.query<{ action: string }>(sql`select action from audit_records order by audit_id`)).map((r) => r.action)
const clear = async () => {
  await remove({ hashtags: (await list()).map((tag) => tag.name) })
  expect(await list()).toEqual([])
}

describe('tags', () => {
  it('are created, added to elements, removed and deleted; only changes are audited', async () => {
    expect(await add({ hashtags: ['Lab', 'lab ', 'Ärzte'] })).toEqual({
      accepted: ['Lab', 'Ärzte'],
      notFound: [],
      created: ['Lab', 'Ärzte'],
    })
    expect(await add({ hashtags: ['LAB'] })).toEqual({ accepted: ['Lab'], notFound: [], created: [] })
    const ghost = randomUUID()
    expect(await add({ hashtags: ['lab', 'new'], elementIds: [agentA, ghost, 'no uuid', agentA] })).toEqual({
      accepted: [agentA],
      notFound: [ghost, 'no uuid'],
      created: ['new'],
    })
    expect(
      await add({ Hashtags: ['lab'], ElementIds: [stick, `${agentA}|gone`, agentA], EntityType: 'Peripheral' }),
    ).toEqual({
      accepted: [stick],
      notFound: [`${agentA}|gone`, agentA],
      created: [],
    })
    expect((await list()).map((tag) => [tag.name, tag.agentsCount, tag.peripheralsCount])).toEqual([
      ['Lab', 1, 1],
      ['new', 1, 0],
      ['Ärzte', 0, 0],
    ])
    expect(await remove({ hashtags: ['lab', 'nowhere'], elementIds: [agentA, agentB] })).toEqual({
      accepted: [agentA, agentB],
      notFound: ['nowhere'],
      deleted: [],
    })
    expect(await remove({ hashtags: ['lab'], elementIds: [agentA] })).toEqual({
      accepted: [agentA],
      notFound: [],
      deleted: [],
    })
    expect(await remove({ hashtags: ['ÄRZTE', 'lab', 'nowhere'] })).toEqual({
      accepted: ['Lab', 'Ärzte'],
      notFound: ['nowhere'],
      deleted: ['Lab', 'Ärzte'],
    })
    expect((await list()).map((tag) => [tag.name, tag.agentsCount, tag.peripheralsCount])).toEqual([['new', 1, 0]])
    expect(await audited()).toEqual([
      'tags.created',
      'tags.created',
      'tags.added',
      'tags.added',
      'tags.removed',
      'tags.deleted',
    ])
  })

  it('treat null and absent as an empty list', async () => {
    expect(await add({ hashtags: null, elementIds: null, entityType: null })).toEqual({
      accepted: [],
      notFound: [],
      created: [],
    })
    expect(await remove({})).toEqual({ accepted: [], notFound: [], deleted: [] })
  })

  it('are not changed by an empty list of elements', async () => {
    await add({ hashtags: ['floor 7'], elementIds: [agentA] })
    const before = await list()
    expect(await remove({ hashtags: ['floor 7'], elementIds: [] })).toEqual({ accepted: [], notFound: [], deleted: [] })
    expect(await add({ hashtags: ['floor 8'], elementIds: [] })).toEqual({ accepted: [], notFound: [], created: [] })
    expect(await list()).toEqual(before)
    await remove({ hashtags: ['floor 7'] })
  })

  it('can be added and deleted at once', async () => {
    const calls = Array.from({ length: 120 }, (_, i) =>
      i % 2 === 0
        ? manager().post(`${base}/addhashtags`, { hashtags: ['race', 'other'], elementIds: [agentA, agentB] })
        : manager().post(`${base}/deletehashtags`, { hashtags: ['race', 'other'] }),
    )
    const answers = await Promise.all(calls)
    expect(answers.filter(({ statusCode }) => statusCode !== 200).map(({ body }) => body)).toEqual([])
    await remove({ hashtags: ['race', 'other'] })
  })

  it.each([['a,b'], ['a;b'], ['#a'], ['  '], [''], ['x'.repeat(65)], ['a\tb'], ['a\u0085b']])(
    'refuse %j as a name',
    async (name) => {
      const before = await list()
      const answer = await manager().post(`${base}/addhashtags`, { hashtags: ['fine', name] })
      expect([answer.statusCode, answer.json().errors[0].field]).toEqual([400, 'body.hashtags[1]'])
      expect(await list()).toEqual(before)
    },
  )

  it('can be changed only by Managers', async () => {
    for (const call of ['addhashtags', 'deletehashtags'])
      expect((await t.as('user').post(`${base}/${call}`, { hashtags: ['a'] })).statusCode).toBe(403)
    expect((await upload('Type,Identifier,Name,Tags\r\n', 'user')).statusCode).toBe(403)
  })

  it('have a color derived from the name', async () => {
    const colorOf = async () => (await list()).find((tag) => tag.name.toLowerCase() === 'color')?.color
    await add({ hashtags: ['color'] })
    const first = await colorOf()
    await remove({ hashtags: ['color'] })
    await add({ hashtags: ['COLOR'] })
    expect(first).toMatch(/^#[0-9a-f]{6}$/)
    expect(await colorOf()).toBe(first)
  })

  it('can be changed in the transaction of another capability', async () => {
    const ids = await t.db.transaction(async (tx) => {
      const tagIds = await t.capabilities.ensureTags(tx, ['enrolled', 'NEW'])
      await t.capabilities.tagAgents(tx, [agentB], tagIds)
      return tagIds
    })
    expect(new Set(ids).size).toBe(2)
    expect((await list()).find((tag) => tag.name === 'enrolled')?.agentsCount).toBe(1)
  })
})

describe('exporttags and importtags', () => {
  it('writes RFC 4180 with defused cells', async () => {
    await clear()
    await add({ hashtags: ['=2+5', 'a "b"'], elementIds: [agentA] })
    await add({ hashtags: ['z'], elementIds: [agentB] })
    await add({ hashtags: ['-x'], elementIds: [stick], entityType: 'Peripheral' })
    await add({ hashtags: ['＝wide', 'unused'] })
    expect((await t.as('user').get(`${base}/exporttags`)).headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': expect.stringMatching(/^attachment; filename="tags-2031-05-04T\d{6}Z\.csv"/),
    })
    expect(await exported()).toBe(
      [
        '\ufeffType,Identifier,Name,Tags',
        'Tag,,,unused',
        "Tag,,,'＝wide",
        `Agent,${agentA},"'=HYPERLINK(""x"")","'=2+5;a ""b"""`,
        `Agent,${agentB},"multi\nline ""host"", two",z`,
        `Peripheral,${stick},"'=HYPERLINK(""x"") Cruzer",'-x`,
        '',
      ].join('\r\n'),
    )
  })

  it('previews the result of a file without storing it', async () => {
    await clear()
    const file = `Type,Identifier,Name,Tags\nTag,,,dry\nAgent,${agentA},,dry\nAgent,01977f6e-0000-7c3e-8f2a-2d1c6b5a4e3f,,x\nTag,,,b`
    const before = await exported()
    const dry = (await upload(file, 'manager', '?dryRun=true')).json() as ImportResult
    expect([dry.imported, dry.failed]).toEqual([3, 1])
    expect(await exported()).toBe(before)
    const { newlyAllowed, worksAgain, ...same } = dry
    expect([newlyAllowed, worksAgain?.agents]).toEqual([0, 0])
    expect((await upload(file)).json()).toEqual(same)
    expect(await exported()).not.toBe(before)
  })

  it('imports its own export, whatever the names', async () => {
    const name = fc
      .string({
        unit: fc.constantFrom('=', '+', "'", '"', 'a', 'ß', '😀', ' ', '＝', '\\', '<'),
        minLength: 1,
        maxLength: 6,
      })
      .filter((text) => text.trim() !== '')
    const names = fc.array(name, { maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(names, names, names, async (tags, onAgent, onStick) => {
        await clear()
        await add({ hashtags: tags })
        await add({ hashtags: onAgent, elementIds: [agentA] })
        await add({ hashtags: onStick, elementIds: [stick], entityType: 'Peripheral' })
        const [file, before] = [await exported(), await list()]
        await clear()
        // Elements with tags must now have exactly those of the file.
        await add({ hashtags: ['other'], elementIds: [agentA] })
        const result = await imported(file)
        expect([result.failed, result.imported]).toEqual([0, file.trimEnd().split('\r\n').length - 1])
        const after = await list()
        expect(after.filter((tag) => tag.name !== 'other' || onAgent.includes('other'))).toEqual(before)
        if (onAgent.length > 0) expect(after.find((tag) => tag.name === 'other')?.agentsCount).toBe(0)
      }),
      { numRuns: 15 },
    )
  })

  it('applies valid lines and reports invalid ones by their first line', async () => {
    await clear()
    const ghost = randomUUID()
    const file = [
      'identifier,TYPE,Tags',
      `${agentA},Agent,one;two`,
      `"${ghost}",agent,x`,
      `"${agentB}`,
      '",Agent,three',
      ',Tag,"a,b"',
      ',Tag,',
      `${agentA},Host,x`,
      `${agentA},Agent,"bro"ken`,
      ',Tag,free; other ;',
      '',
      `${agentA},Agent,two`,
      `${agentA}|nothing,Peripheral,x`,
    ].join('\n')
    expect(await imported(file)).toEqual({
      imported: 4,
      failed: 6,
      errors: [
        { line: 3, message: `The agent ${ghost} does not exist.` },
        { line: 6, message: expect.stringContaining('"a,b"') },
        { line: 7, message: expect.stringContaining('needs a tag') },
        { line: 8, message: 'Type must be Tag, Agent or Peripheral.' },
        { line: 9, message: expect.stringContaining('quote') },
        { line: 13, message: `The peripheral ${agentA}|nothing does not exist.` },
      ],
    })
    expect((await list()).map((tag) => [tag.name, tag.agentsCount])).toEqual([
      ['free', 0],
      ['other', 0],
      ['three', 1],
      ['two', 1],
    ])
  })

  it('removes all tags from an element with an empty row', async () => {
    expect(await imported(`Type,Identifier,Name,Tags\r\nAgent,${agentB},whatever,\r\n`)).toMatchObject({ imported: 1 })
    expect((await list()).find((tag) => tag.name === 'three')?.agentsCount).toBe(0)
  })

  it.each([
    ['an empty file', ''],
    ['no header', 'Agent,x,y,z\n'],
    ['an unknown column', 'Type,Identifier,Name,Tags,Color\n'],
    ['a column missing', 'Type,Identifier\n'],
    ['a column twice', 'Type,Identifier,Tags,tags\n'],
    ['UTF-16', Buffer.from('\ufeffType,Identifier,Name,Tags\n', 'utf16le')],
  ])('refuses %s', async (_what, file) => {
    const answer = await upload(file)
    expect([answer.statusCode, answer.json().errors[0].field]).toEqual([400, 'body.file'])
  })

  it('refuses a body that is not a form, and one that is too large', async () => {
    expect((await manager().post(`${base}/importtags`, {})).statusCode).toBe(415)
    const large = await upload(Buffer.alloc(32 * 1024 * 1024 + 1, 'x'))
    expect([large.statusCode, large.json().code]).toEqual([413, 'payload_too_large'])
  })

  it('reads 10,000 lines, most of them invalid, and lists 1,000 errors', async () => {
    const file = `Type,Identifier,Name,Tags\n${'Agent,none,,x\n'.repeat(10_000)}Tag,,,last\n`
    const result = await imported(file)
    expect([result.imported, result.failed, result.errors.length]).toEqual([1, 10_000, 1_000])
  })
})
