import { generateKeyPairSync } from 'node:crypto'
import { raw, sql } from '@portcullis/platform/server/db/sql.ts'
import { agentlessOf, agentlessBase as base, failure, ok } from '@portcullis/server/test/agentless.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { pageOf } from '@portcullis/server/test/builders.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Connection, ConnectionTest, Poll, ResponseOf, uploadConnections } from '#features/contract.ts'

const minute = 60_000
let t: TestApp
let agentless: ReturnType<typeof agentlessOf>

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  agentless = agentlessOf(t)
  const computers = ['Build-7.example.org', 'down-1']
  const connections = computers.map((computerName) => ({ computerName, userName: 'u', password: 'p' }))
  ok(await agentless.post('connectiondetails', { connections }))
})
afterAll(() => t.close())

describe('connections', () => {
  it('are refused with a message that names the invalid one, and nothing is stored', async () => {
    const total = async () => (await pageOf<Connection>(t, 'agents/agentless/connectiondetails')).recordsTotal
    const before = await total()
    const pkcs8 = { type: 'pkcs8', format: 'pem' } as const
    const encrypted = generateKeyPairSync('ed25519')
      .privateKey.export({ ...pkcs8, cipher: 'aes-256-cbc', passphrase: 'p' })
      .toString()
    const dsa = generateKeyPairSync('dsa', { modulusLength: 1024, divisorLength: 160 })
      .privateKey.export(pkcs8)
      .toString()
    for (const [body, message] of [
      [{ computerName: 'a b' }, 'body.computerName is neither'],
      [{ computerName: '999.1.1.1' }, 'body.computerName is neither'],
      [{ computerName: '169.254.169.254' }, 'body.computerName is a reserved cloud'],
      [{ computerName: '::ffff:169.254.169.254' }, 'body.computerName is a reserved cloud'],
      [{ computerName: 'x', privateKey: 'ssh-rsa AAAA' }, 'body.privateKey is not a private key'],
      [{ computerName: 'x', privateKey: encrypted, passphrase: 'p' }, 'Run ssh-keygen -p -f KEYFILE'],
      [{ computerName: 'x', privateKey: dsa }, 'body.privateKey has the type dsa'],
      [{ computerName: 'x', privateKey: dsa.slice(0, 200) }, 'body.privateKey is damaged'],
      [{ connections: [{ computerName: 'ok-1' }, { computerName: '' }] }, 'body.connections[1].computerName is empty'],
      [{ connections: [{ computerName: 'ok-1' }, { computerName: 'OK-1.' }] }, 'is a duplicate of'],
      [{ computerName: 'x', connections: [] }, 'either one connection or only connections'],
    ] as const) {
      const answer = await agentless.post('connectiondetails', body)
      expect([answer.statusCode, answer.json().detail.replace(': ', ' ')]).toEqual([
        400,
        expect.stringContaining(message),
      ])
    }
    expect((await agentless.post('connectiondetails', { computerName: 'BUILD-7.example.org' })).statusCode).toBe(409)
    expect(await total()).toBe(before)
  })

  it('never show a secret, not even in the database, and require it again before it is sent elsewhere', async () => {
    const secret = 'correct horse battery'
    ok(await agentless.post('connectiondetails', { computerName: 'vault-1', userName: 'u', password: secret }))
    const list = await (await t.admin()).get(`${base}/connectiondetails?ComputerName=vault`)
    expect(list.body).not.toContain(secret)
    expect(list.json().data).toMatchObject([{ computerName: 'vault-1', hasPassword: true, isOverrideDefaults: true }])
    const [row] = await t.db.query<{ text: string }>(
      sql`select encode(c.password, 'escape') as text from connections c where c.name_key = 'vault-1'`,
    )
    expect(row?.text).not.toContain(secret)
    expect((await agentless.put('connectiondetails', { computerName: 'vault-1', port: 2222 })).json().detail).toMatch(
      /password.*required again/,
    )
    expect(
      ok(await agentless.put('connectiondetails', { computerName: 'vault-1', port: 2222, password: secret })),
    ).toMatchObject({ port: 2222 })
    expect(
      ok(
        await agentless.put('connectiondetails', {
          computerName: 'vault-1',
          port: 0,
          intervalMinutes: 5,
          password: secret,
        }),
      ),
    ).toMatchObject({ port: null, intervalMinutes: 5 })
    expect(ok(await agentless.put('connectiondetails', { computerName: 'vault-1', intervalMinutes: 0 }))).toMatchObject(
      {
        port: null,
        intervalMinutes: null,
      },
    )
    // A sealed value that was moved to another row cannot be opened.
    await t.db.execute(sql`
      update connections set password = (select password from connections where name_key = 'vault-1') where name_key = 'down-1'`)
    const w = await agentless.registerWorker()
    await agentless.activate()
    t.clock.advance(24 * 60 * minute)
    expect((await w.lease(50)).polls.some((one) => one.host === 'down-1')).toBe(false)
    const admin = await t.admin()
    expect(ok(await admin.delete(`${base}/connectiondetails`, []))).toEqual({ accepted: [], notFound: [] })
    expect((await admin.delete(`${base}/connectiondetails`)).statusCode).toBe(400)
    expect((await admin.delete(`${base}/connectiondetails?computerName=vault-1`, ['vault-1'])).statusCode).toBe(400)
    expect(ok(await admin.delete(`${base}/connectiondetails?computerName=vault-1,nobody`))).toEqual({
      accepted: ['vault-1'],
      notFound: ['nobody'],
    })
  })

  it('leave no trace of a secret in any answer, file, record or table', async () => {
    const canary = (n: number): string => `canary-${n}-7f3b9c`
    const key = (n: number): string =>
      `-----BEGIN OPENSSH PRIVATE KEY-----\n${canary(n)}\n-----END OPENSSH PRIVATE KEY-----`
    const recorded: string[] = []
    const record = <T extends { body: string; rawPayload: Buffer }>(answer: T): T => {
      recorded.push(answer.body, answer.rawPayload.toString('latin1'))
      return answer
    }
    const name = 'canary-host'
    const secrets = { password: canary(1), privateKey: key(2), passphrase: canary(3) }
    record(await agentless.post('connectiondetails', { computerName: name, userName: 'u', ...secrets }))
    record(await agentless.post('connectiondetails', { computerName: name, userName: 'u', ...secrets }))
    record(
      await agentless.post('connectiondetails', {
        computerName: 'a b',
        password: canary(4),
        privateKey: `no key ${canary(5)}`,
      }),
    )
    record(await agentless.post('connectiondetails', { computerName: 'x', password: [canary(6)] }))
    record(await agentless.put('connectiondetails', { computerName: name, password: canary(7) }))
    record(
      await agentless.put('workerpollerdetails', {
        defaults: { userName: 'd', password: canary(8), passphrase: canary(9) },
      }),
    )
    record(
      await agentless.post('connectiondetails/test', {
        computerName: 'canary-try',
        userName: 'u',
        password: canary(10),
      }),
    )
    const w = await agentless.registerWorker()
    const { polls } = await w.lease(50)
    // Simulates hosts whose answers contain the given secrets.
    for (const poll of polls)
      if (poll.host.startsWith('canary')) await w.results([failure(poll, 'sign-in-refused', 'the server recorded no')])
    const admin = await t.admin()
    for (const path of [
      'connectiondetails',
      'connectiondetailsstatus',
      'connectiondetailsstatus/causes',
      'workerpollerdetails',
    ])
      ok(record(await admin.get(`${base}/${path}`)))
    for (const path of ['exportagentlesscsv', 'exportagentlesspdf', 'exportcsvconnections'])
      record(await agentless.post(path, null))
    ok(record(await admin.get('/prime/webui/events/GetAuditsIntegration?PageSize=1000')))
    ok(record(await admin.get('/prime/webui/events/getevents?PageSize=1000')))
    expect(recorded.filter((text) => /canary-\d/.test(text))).toEqual([])
    const tables = await t.db.query<{ name: string }>(
      sql`select c.table_name as name from information_schema.tables c where c.table_schema = 'public' and c.table_type = 'BASE TABLE'`,
    )
    expect(tables.length).toBeGreaterThan(30)
    for (const { name: table } of tables) {
      const rows = await t.db.query<{ n: number }>(
        sql`select count(*)::int as n from ${raw(`"${table}"`)} t where t::text ~ 'canary-[0-9]' or t::text ~ encode('canary-', 'hex')`,
      )
      expect([table, rows[0]?.n]).toEqual([table, 0])
    }
    record(await admin.delete(`${base}/connectiondetails?computerName=${name}`))
  })

  it('are tested step by step, and nothing is stored', async () => {
    const test = ok<ConnectionTest>(
      await agentless.post('connectiondetails/test', {
        computerName: 'try-1',
        userName: 'u',
        password: 'p',
        hostKeyFingerprint: `SHA256:${'a'.repeat(43)}`,
      }),
    )
    expect(test).toMatchObject({ state: 'waiting', ok: null })
    const w = await agentless.registerWorker()
    const [poll] = (await w.lease(1)).polls as [Poll]
    expect(poll).toMatchObject({ id: test.id, isTest: true, host: 'try-1', password: 'p' })
    const done1 = { step: 'resolve', ok: true, ms: 3, message: 'The name has an address.' } as const
    await w.lease(0, [{ id: poll.id, fence: poll.fence, step: 'connect', done: [done1] }])
    expect(ok(await (await t.admin()).get(`${base}/connectiondetails/test/${test.id}`))).toMatchObject({
      state: 'running',
      step: 'connect',
      steps: [done1],
    })
    await w.results([failure(poll, 'sign-in-refused')])
    const done = ok<ConnectionTest>(await (await t.admin()).get(`${base}/connectiondetails/test/${test.id}`))
    expect(done).toMatchObject({ state: 'done', ok: false, cause: 'sign-in-refused' })
    expect(done.cure).toMatch(/Check the credentials/)
    expect((await pageOf<Connection>(t, 'agents/agentless/connectiondetails?ComputerName=try-1')).recordsFiltered).toBe(
      0,
    )
  })

  it('can be exported as files without secrets', async () => {
    const secret = 'never in a file 4711'
    ok(
      await agentless.post('connectiondetails', {
        computerName: 'file-1',
        userName: '=cmd()',
        password: secret,
        hashtags: ['lab'],
      }),
    )
    const csv = await agentless.post('exportagentlesscsv', {
      computerName: 'file-1',
      columns: ['computerName', 'userName', 'hasPassword', 'hashtags'],
    })
    expect([csv.statusCode, csv.body.replace('\ufeff', '').trim().split('\r\n')]).toEqual([
      200,
      ['computerName,userName,hasPassword,hashtags', "file-1,'=cmd(),true,lab"],
    ])
    const all = await agentless.post('exportagentlesscsv', null)
    expect(all.body).toContain('file-1')
    expect(all.body).not.toContain(secret)
    const runs = await agentless.post('exportcsvconnections', {
      statusString: 'Failed',
      columns: ['computerName', 'cause'],
    })
    expect(runs.body).toContain('down-1,no-credentials')
    expect(runs.headers['content-disposition']).toMatch(
      /filename="(connection-runs-[\dTZ-]+\.csv)"; filename\*=UTF-8''\1$/,
    )
    const pdf = await agentless.post('exportagentlesspdf', { columns: ['computerName', 'platform'] })
    expect([pdf.statusCode, pdf.headers['content-type']]).toEqual([200, 'application/pdf'])
    expect((await agentless.post('exportagentlesscsv', { columns: ['password'] })).statusCode).toBe(400)
  })

  it('of a file: a preview shows the effect of the upload, line by line', async () => {
    const file = [
      'ComputerName,Port,UserName,Password,Tags',
      'csv-1,22,ann,secret one,lab;west',
      'csv 2,22,ann,x,',
      'csv-3,99999,ann,x,',
      '"csv-4",,,,',
      'CSV-1,22,ann,x,',
      'file-1,,bob,,',
      'csv-5,22,ann,hunter,2secret,lab',
      'csv-6,22,ann,x,a;#b',
      'ComputerName,Port,UserName,Password,Tags',
      'csv-7,0x16,ann,x,',
    ].join('\r\n')
    const upload = async (dryRun: boolean) => {
      const form = new FormData()
      form.append('file', new Blob([file]), 'hosts.csv')
      const answer = await fetch(`${t.address}${base}/uploadconnectiondetailsfile?dryRun=${dryRun}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${await t.signIn()}` },
        body: form,
      })
      expect(answer.status).toBe(200)
      return (await answer.json()) as ResponseOf<typeof uploadConnections>
    }
    const total = async () => (await pageOf<Connection>(t, 'agents/agentless/connectiondetails')).recordsTotal
    const before = await total()
    const preview = await upload(true)
    expect(preview).toMatchObject({ added: 2, updated: 1, failed: 7 })
    expect(preview.errors.map(({ line }) => line)).toEqual([3, 4, 6, 8, 9, 10, 11])
    expect(preview.errors.slice(3).map(({ message }) => message)).toEqual([
      'The line has 6 cells, but the header has 5. Put cells that contain a comma in quotes.',
      'A tag must not contain a comma, semicolon, # or control character.',
      'The line is a second header.',
      'port is not a whole number from 1 to 65,535.',
    ])
    expect(preview.errors.slice(0, 2).map(({ message }) => message)).toEqual([
      expect.stringMatching(/^computerName is neither a host name/),
      'port is not a whole number from 1 to 65,535.',
    ])
    expect(preview.lines[1]).toMatchObject({ computerName: 'csv 2', outcome: 'failed' })
    expect(await total()).toBe(before)
    // Only a preview measures what the tags newly allow.
    const { newlyAllowed, worksAgain, ...same } = preview
    expect([newlyAllowed, worksAgain?.agents]).toEqual([0, 0])
    expect(await upload(false)).toEqual(same)
    t.clock.advance(1_001)
    expect(await total()).toBe(before + 2)
    expect(await upload(true)).toMatchObject({ added: 0, failed: 7 })
  })

  it('are managed by Managers, and the worker by Administrators', async () => {
    const [user, manager] = [await person(t, { profile: 30 }), await person(t, { profile: 20 })]
    expect((await user.api.get(`${base}/connectiondetails`)).statusCode).toBe(200)
    expect((await user.api.post(`${base}/connectiondetails`, { computerName: 'u-1' })).statusCode).toBe(403)
    expect((await manager.api.post(`${base}/connectiondetails`, { computerName: 'm-1' })).statusCode).toBe(200)
    expect((await manager.api.delete(`${base}/workerpollerdetails`)).statusCode).toBe(403)
    expect((await manager.api.post(`${base}/workerpollerdetails/token`)).statusCode).toBe(403)
  })
})
