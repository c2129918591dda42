import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { plainKeyboard, plainMouse, storageStick } from '@portcullis/domain/testing'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent } from '@portcullis/server/test/builders.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type KnowledgeEffect,
  type KnowledgePayload,
  type KnowledgeStatus,
  knowledgeProofText,
  type SignedKnowledge,
} from '#features/contract.ts'

const path = '/prime/webui/admin/knowledge'
const makeKey = () => generateKeyPairSync('ed25519')
const key = makeKey()

const signed = (
  payload: unknown,
  { privateKey, publicKey }: { privateKey: KeyObject; publicKey: KeyObject } = key,
): SignedKnowledge => {
  const text = typeof payload === 'string' ? payload : JSON.stringify(payload)
  return {
    format: 'portcullis-signed-knowledge-1',
    payload: text,
    publicKey: publicKey.export({ type: 'spki', format: 'der' }).toString('base64'),
    signature: sign(null, Buffer.from(knowledgeProofText(text)), privateKey).toString('base64'),
  }
}

const payload = (version: string, files: Record<string, unknown>): unknown =>
  ({ format: 'portcullis-knowledge-1', version, createdAt: '2031-05-01T00:00:00Z', files }) satisfies Omit<
    KnowledgePayload,
    'files'
  > & { files: unknown }

const tool = (change: Record<string, unknown> = {}) => ({
  id: 'kb216',
  group: 'own',
  vid: '413C',
  pid: '2113',
  name: 'Keyboard with an implant',
  kind: 'keyboard',
  source: 'a report of ours',
  ...change,
})
const weak = (vid: string, pid: string) => ({
  id: 'CVE-2031-1',
  match: 'id',
  vid,
  pid,
  vendor: 'Logitech',
  product: 'Mouse',
  condition: 'all',
  weakness: 'a made-up weakness',
  cvss: 7.5,
  source: 'a report of ours',
})

let t: TestApp

const status = async (): Promise<KnowledgeStatus> => {
  const answer = await (await t.admin()).get(path)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}
const upload = async (file: SignedKnowledge, trust?: string) =>
  (await t.admin()).post(path, { ...file, ...(trust === undefined ? {} : { trust }) })
const uploaded = async (file: SignedKnowledge): Promise<{ candidate: { id: string }; effect: KnowledgeEffect }> => {
  const answer = await upload(file)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json()
}
const applied = async (file: SignedKnowledge): Promise<string> => {
  const { candidate } = await uploaded(file)
  const answer = await (await t.admin()).post(`${path}/apply`, { id: candidate.id })
  expect(answer.statusCode, answer.body).toBe(200)
  await t.server.jobs.drain()
  return answer.json().version
}
const audited = async (action: string): Promise<number> => {
  const answer = await (await t.admin()).get('/prime/webui/events/GetAuditsIntegration?PageSize=1000')
  return (answer.json().data as { action: string }[]).filter((record) => record.action === action).length
}
const severities = async (agent: Awaited<ReturnType<typeof enrolAgent>>) =>
  (await agent.peripherals()).map((p) => [p.vid, p.severity, p.attackTool, p.isVulnerablePeripheral])

beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

describe('knowledge files', () => {
  it('show the knowledge in force before the first upload', async () => {
    const now = await status()
    expect(now).toMatchObject({ source: 'release', candidate: null, history: [], trustedKeys: [] })
    expect(now.version).toBe(now.releaseVersion)
    expect(now.files.map((f) => [f.name, f.source])).toEqual([
      ['usbIds', 'release'],
      ['attackTools', 'release'],
      ['vulnerable', 'release'],
      ['genuine', 'release'],
      ['supplement', 'release'],
      ['registries', 'release'],
    ])
    expect(now.files[0]?.entries).toBeGreaterThan(20_000)
  })

  it('require an Administrator', async () => {
    const { api } = await person(t, { profile: 20 })
    const file = signed(payload('2031.1', { attackTools: [tool()] }))
    for (const [url, body] of [
      [path, file],
      [`${path}/apply`, { id: 'x' }],
      [`${path}/rollback`, undefined],
    ] as const)
      expect((await api.post(url, body)).statusCode).toBe(403)
    expect((await api.get(path)).statusCode).toBe(200)
  })

  it('pin the key of the first file only when its fingerprint is confirmed, and refuse every other key', async () => {
    const file = signed(payload('2031.1', { attackTools: [tool({ vid: 'FFF0' })] }))
    const unknown = await upload(file)
    expect([unknown.statusCode, unknown.json().code]).toEqual([409, 'knowledge_key_unknown'])
    const fingerprint = /trust=([0-9a-f]{64})/.exec(unknown.json().detail)?.[1] as string
    expect(
      (
        await upload(
          file,
          fingerprint.replace(/^./, (c) => (c === '0' ? '1' : '0')),
        )
      ).statusCode,
    ).toBe(409)
    expect((await status()).trustedKeys).toEqual([])
    expect((await upload(file, fingerprint)).statusCode).toBe(200)
    expect((await status()).trustedKeys).toEqual([
      { fingerprint, trustedAt: '2031-05-04T10:11:12.000Z', trustedBy: 'admin' },
    ])
    const other = makeKey()
    const foreign = signed(payload('2031.2', { attackTools: [tool()] }), other)
    const refused = await upload(foreign)
    expect([refused.statusCode, refused.json().code]).toEqual([403, 'knowledge_key_refused'])
    const otherPrint = /by ([0-9a-f]{64})/.exec(refused.json().detail)?.[1] as string
    expect((await upload(foreign, otherPrint)).statusCode).toBe(403)
    expect(await audited('knowledge.key_trusted')).toBe(1)
  })

  it('are refused when one character changed after signing', async () => {
    const file = signed(payload('2031.2', { attackTools: [tool()] }))
    const changed = await upload({ ...file, payload: file.payload.replace('implant', 'Implant') })
    expect([changed.statusCode, changed.json().code]).toEqual([422, 'knowledge_signature_wrong'])
    const nonsense = await upload({ ...file, publicKey: `${'A'.repeat(59)}=` })
    expect(nonsense.json().code).toBe('knowledge_signature_wrong')
  })

  it.each<[string, unknown, string]>([
    ['text that is not JSON', '{"format":\n"portcullis', 'line 2'],
    ['an unknown member', payload('2031.2', { attackTools: [{ ...tool(), colour: 'red' }] }), 'files.attackTools[0]'],
    [
      'an id in lower case',
      payload('2031.2', { attackTools: [tool(), tool({ vid: '413c' })] }),
      'files.attackTools[1].vid',
    ],
    ['an unknown file', payload('2031.2', { malware: [] }), 'files'],
    ['nothing at all', payload('2031.2', {}), 'files'],
    [
      'a broken pattern',
      payload('2031.2', { attackTools: [tool({ when: { product: '(' } })] }),
      'files.attackTools[0].when.product',
    ],
    [
      'a pattern without an upper bound',
      payload('2031.2', { attackTools: [tool({ when: { product: '(a+)+' } })] }),
      'files.attackTools[0].when.product',
    ],
    [
      'a row for every device',
      payload('2031.2', { attackTools: [tool({ vid: undefined, pid: undefined })] }),
      'files.attackTools[0]',
    ],
    [
      'a weakness without a device',
      payload('2031.2', { vulnerable: [{ ...weak('046D', 'C077'), vid: null }] }),
      'files.vulnerable[0]',
    ],
    ['an empty usb.ids', payload('2031.2', { usbIds: '# nothing\n' }), 'files.usbIds'],
    ['a version that is not a number', payload('new', { attackTools: [tool()] }), 'version'],
  ])('are refused with %s, and the error names its location', async (_what, content, field) => {
    const before = await status()
    const answer = await upload(signed(content))
    expect([answer.statusCode, answer.json().code]).toEqual([422, 'knowledge_invalid'])
    expect(answer.json().errors.map((e: { field: string }) => e.field)).toContain(field)
    expect((await status()).history).toEqual(before.history)
  })

  it('change nothing as a candidate, and show their effect', async () => {
    const agents = [
      await enrolAgent(t, { devices: [plainKeyboard({ portPath: '1-1' }), plainMouse({ portPath: '1-2' })] }),
      await enrolAgent(t, { devices: [plainKeyboard({ portPath: '1-1' })] }),
    ] as const
    const { effect, candidate } = await uploaded(
      signed(payload('2031.3', { attackTools: [tool()], vulnerable: [weak('046D', 'C077')] })),
    )
    expect(effect).toMatchObject({
      version: '2031.3',
      designs: 2,
      devices: 3,
      hosts: 2,
      worse: 2,
      better: 0,
      renamed: 0,
    })
    expect(effect.data).toMatchObject([
      {
        vid: '413C',
        agentsCount: 2,
        peripheralsCount: 2,
        before: { severity: 10, attackTool: '', vulnerable: false, findings: '' },
        after: { severity: 40, attackTool: 'suspected', findings: 'Suspected attack tool: Keyboard with an implant' },
      },
      { vid: '046D', agentsCount: 1, after: { severity: 30, vulnerable: true } },
    ])
    expect(await severities(agents[0])).toEqual([
      ['046D', 10, '', false],
      ['413C', 10, '', false],
    ])
    expect((await (await t.admin()).get(`${path}/preview`)).json()).toEqual(effect)
    expect((await status()).candidate).toMatchObject({ id: candidate.id, brings: ['attackTools', 'vulnerable'] })
    const stale = await (await t.admin()).post(`${path}/apply`, { id: '01977f6e-6a4c-7c3e-8f2a-2d1c6b5a4e3f' })
    expect(stale.statusCode).toBe(409)
  })

  it('apply to known and new devices, create events for new findings, and can be withdrawn', async () => {
    const agent = await enrolAgent(t, {
      devices: [plainKeyboard({ portPath: '1-1' }), plainMouse({ portPath: '1-2' })],
    })
    const before = await status()
    const version = await applied(
      signed(payload('2031.4', { attackTools: [tool()], vulnerable: [weak('046D', 'C077')] })),
    )
    expect(version).toMatch(/^2031\.4\+[0-9a-f]{8}$/)
    expect(await severities(agent)).toEqual([
      ['046D', 30, '', true],
      ['413C', 40, 'suspected', false],
    ])
    expect(await agent.detail()).toMatchObject({
      severity: 40,
      hasKnownAttackTools: true,
      hasVulnerablePeripherals: true,
    })
    const codes = async () => (await agent.events()).map((e) => e.eventCode).filter((code) => code.startsWith('0x1100'))
    expect(await codes()).toEqual(['0x110012', '0x110010'])
    const now = await status()
    expect(now).toMatchObject({ version, source: 'upload', judging: { waiting: 0, hosts: 0 }, candidate: null })
    expect(now.files.map((f) => f.source)).toEqual(['release', 'upload', 'upload', 'release', 'release', 'release'])
    expect(now.agentsHash).not.toBe(before.agentsHash)
    // The files replace those of the release, so its attack tools are no longer in force.
    const fresh = await enrolAgent(t, { devices: [plainKeyboard({ portPath: '1-1', product: 'a new one' })] })
    expect(await severities(fresh)).toEqual([['413C', 40, 'suspected', false]])

    const back = await (await t.admin()).post(`${path}/rollback`)
    expect(back.statusCode, back.body).toBe(200)
    await t.server.jobs.drain()
    expect(await severities(agent)).toEqual([
      ['046D', 10, '', false],
      ['413C', 10, '', false],
    ])
    expect(await agent.detail()).toMatchObject({ severity: 10, riskScore: 0, hasKnownAttackTools: false })
    expect(await codes()).toHaveLength(2)
    expect(await status()).toMatchObject({ source: 'release', version: before.version })
    expect((await (await t.admin()).post(`${path}/rollback`)).statusCode).toBe(409)
    expect([await audited('knowledge.applied'), await audited('knowledge.rolled_back')]).toEqual([1, 1])
  })

  it('stay in force when a later set contains other files, and rename models', async () => {
    const agent = await enrolAgent(t, { devices: [plainKeyboard({ portPath: '1-1' })] })
    await applied(signed(payload('2031.5', { attackTools: [tool()] })))
    const vendors = Array.from({ length: 200 }, (_, i) => `${(0x9000 + i).toString(16)}  Vendor ${i}`)
    const usbIds = ['# Version: 2031.05.01', ...vendors, '413c  Dell, renamed', '\t2113  Some keyboard', ''].join('\n')
    await applied(signed(payload('2031.6', { usbIds })))
    const [row] = await agent.peripherals()
    expect(row).toMatchObject({ guiVid: 'Dell, renamed', guiPid: 'Some keyboard', severity: 40 })
    const found = (await (await t.admin()).get('/prime/webui/peripherals?vendor=renamed')).json()
    expect(found.recordsFiltered).toBeGreaterThan(0)
    const versions = (await status()).files.map((f) => f.version)
    expect(versions.slice(0, 2)).toEqual(['2031.05.01', '2031.5'])
    const older = await upload(signed(payload('2031.6', { attackTools: [] })))
    expect([older.statusCode, older.json().code]).toEqual([409, 'conflict'])
    await (await t.admin()).post(`${path}/rollback`)
    await t.server.jobs.drain()
    expect((await agent.peripherals())[0]).toMatchObject({ guiVid: 'Dell Computer Corp.', severity: 40 })
  })

  it('reach armed hosts through their policy', async () => {
    const [armed, free] = [await enrolAgent(t), await enrolAgent(t)]
    await t.server.db.execute(
      sql`update agent_rows r set armed = r.agent_id = ${armed.agentId}::uuid where r.agent_id in (${armed.agentId}::uuid, ${free.agentId}::uuid)`,
    )
    await applied(signed(payload('2031.7', { attackTools: [tool({ name: 'Another name' })] })))
    const due = await t.server.db.query<{ agent_id: string }>(
      sql`select h.agent_id from agent_heartbeats h where h.policy_due`,
    )
    expect(due.map((row) => row.agent_id)).toEqual([armed.agentId])
    await t.server.db.execute(sql`update agent_rows r set armed = false`)
  })

  it('apply on every replica, and continue after a restart', async () => {
    const other = await startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock, listen: true })
    try {
      const seen = (await other.as(await other.signIn()).get(path)).json()
      expect(seen.version).toBe((await status()).version)
      const agent = await enrolAgent(t, { devices: [plainMouse({ portPath: '1-1' })] })
      const elsewhere = await enrolAgent(other, { devices: [plainMouse({ portPath: '1-1' })] })
      await applied(signed(payload('2031.8', { vulnerable: [weak('046D', 'C077')] })))
      await other.server.jobs.drain()
      expect([await severities(agent), await severities(elsewhere)]).toEqual([
        [['046D', 30, '', true]],
        [['046D', 30, '', true]],
      ])
      await expect
        .poll(async () => (await other.as(await other.signIn()).get(path)).json().version)
        .toBe((await status()).version)
      // A server stopped halfway through the job.
      await t.server.db.execute(
        sql`update designs d set knowledge_version = 'an older one', severity = 10, vulnerable = false`,
      )
      const third = await startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock })
      try {
        // Any replica may take the job.
        await expect
          .poll(async () => (await status()).judging, { timeout: 10_000 })
          .toMatchObject({ waiting: 0, hosts: 0 })
        expect(await severities(agent)).toEqual([['046D', 30, '', true]])
      } finally {
        await third.close()
      }
    } finally {
      await other.close()
    }
  })

  it('find a device by its serial number among others with its fingerprint', async () => {
    const stick = (portPath: string, serial: string) => storageStick({ portPath, serial })
    const agent = await enrolAgent(t, { devices: [stick('1-1', 'HARMLESS1'), stick('1-2', 'MADE-UP-1')] })
    const other = await enrolAgent(t, { devices: [stick('1-1', 'HARMLESS2')] })
    const row = tool({ id: 'made-up', group: 'strings', vid: undefined, pid: undefined, when: { serial: '^MADE-UP' } })
    await applied(signed(payload('2031.71', { attackTools: [row] })))
    const bySerial = (await agent.peripherals()).map((p) => [p.serialNumber, p.attackTool])
    expect(bySerial).toEqual([
      ['HARMLESS1', ''],
      ['MADE-UP-1', 'suspected'],
    ])
    expect((await agent.events()).filter((e) => e.eventCode === '0x110010')).toHaveLength(1)
    expect((await other.peripherals()).map((p) => p.attackTool)).toEqual([''])
    // The counters moved with it: the stored counts equal a fresh count.
    const counted = sql`select d.design_id, count(*)::int as n from peripherals p join designs d using (design_id) where p.present group by 1 order by 1`
    const kept = sql`select c.design_id, c.devices as n from design_counts c where c.devices > 0 order by 1`
    expect(await t.server.db.query(kept)).toEqual(await t.server.db.query(counted))
  })

  it('apply only with a seal of this server', async () => {
    const { version } = await status()
    await t.server.db.execute(
      sql`update knowledge_sets s set files = replace(s.files, 'CVE-2031-1', 'CVE-2031-2') where s.state = 'In force'`,
    )
    const forged = await startTestApp({ database: t.database, keyDir: t.keyDir, clock: t.clock })
    try {
      const seen = (await forged.as(await forged.signIn()).get(path)).json()
      expect(seen).toMatchObject({ source: 'release' })
      expect(seen.version).not.toBe(version)
      await t.server.db.execute(sql`update knowledge_keys k set fingerprint = repeat('0', 64)`)
      expect((await forged.as(await forged.signIn()).get(path)).json().trustedKeys).toEqual([])
    } finally {
      await forged.close()
    }
  })

  it('are refused if the part for agents exceeds the limit of agents', async () => {
    const own = await startTestApp()
    try {
      const admin = await own.admin()
      const send = async (version: string, files: Record<string, unknown>) => {
        const file = signed(payload(version, files))
        const first = await admin.post(path, file)
        if (first.json().code !== 'knowledge_key_unknown') return first
        return admin.post(path, { ...file, trust: /trust=([0-9a-f]{64})/.exec(first.json().detail)?.[1] })
      }
      // A request may have 8 MiB, and two sets together exceed the agents' limit. This character has 3 bytes.
      const source = '\u6e90'.repeat(1_000)
      const tools = Array.from({ length: 1_400 }, (_, i) => tool({ id: `own-${i}`, source }))
      const genuine = Array.from({ length: 1_500 }, (_, i) => ({
        vid: '0781',
        pid: i.toString(16).toUpperCase().padStart(4, '0'),
        name: 'A stick',
        classes: ['08'],
        samples: 1,
        source,
      }))
      const first = await send('2031.1', { attackTools: tools })
      expect(first.statusCode, first.body.slice(0, 300)).toBe(200)
      expect((await admin.post(`${path}/apply`, { id: first.json().candidate.id })).statusCode).toBe(200)
      const refused = await send('2031.2', { genuine })
      expect([refused.statusCode, refused.json().code]).toEqual([422, 'knowledge_invalid'])
      expect(refused.json().detail).toMatch(/\d{7} bytes\. Agents accept at most 8388608/)
      expect((await admin.get(path)).json().candidate).toBeNull()
      expect((await send('2031.2', { genuine: genuine.slice(0, 100) })).statusCode).toBe(200)
    } finally {
      await own.close()
    }
  })
})
