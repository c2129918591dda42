import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AuditRecord, createEnrollmentToken, ResponseOf } from '#features/contract.ts'

type Made = ResponseOf<typeof createEnrollmentToken>
const path = '/prime/webui/agents/enrollmenttokens'
const LENGTH = 512

/** Bytes like those of an installer: two slots between other bytes. */
const template = (() => {
  const slot = (name: string) => Buffer.from(`PORTCULLIS-SLOT-${name}-`.padEnd(LENGTH, '.'))
  const noise = Buffer.from(Array.from({ length: 5000 }, (_, i) => i % 256))
  const before = noise.subarray(0, 70)
  const between = noise.subarray(100, 111)
  const content = Buffer.concat([before, slot('PresetServer'), between, slot('PresetToken'), noise])
  const at = (name: string) => ({ offset: content.indexOf(slot(name)), length: LENGTH })
  return { content, slots: { PresetServer: at('PresetServer'), PresetToken: at('PresetToken') } }
})()

describe('the Windows installer of the console', () => {
  let t: TestApp
  const keyDir = mkdtempSync(join(tmpdir(), 'portcullis-keys-'))
  const dir = join(keyDir, 'msi')
  const write = (content: Buffer) => writeFileSync(join(dir, 'agent.msi'), content)
  const manifest = { version: '1.2.3', name: 'agent.msi', size: template.content.length, slots: template.slots }
  beforeAll(async () => {
    mkdirSync(dir, { recursive: true })
    t = await startTestApp({ listen: true, keyDir })
  })
  afterAll(() => t.close())

  const plain = () => `${t.address}/agent/v1/download/windows-x64`
  const make = async (body: object = {}): Promise<Made> =>
    (await (await t.admin()).post(path, { name: 'windows', maxUses: 1, ...body })).json() as Made
  const build = async ({ id }: Pick<Made, 'id'>, token: string) =>
    (await t.admin()).post(`${path}/${id}/windowsinstaller`, { token })

  it('does not exist before it was built', async () => {
    const made = await make()
    expect(made.windowsInstaller).toBeNull()
    const refused = await build(made, made.token)
    expect(refused.statusCode).toBe(404)
    expect(refused.json().detail).toContain('npm run build:msi')
    expect((await fetch(plain())).status).toBe(404)
  })

  it('contains the address and the token, and otherwise equals the installer of the release', async () => {
    write(template.content)
    writeFileSync(join(dir, 'manifest.json'), JSON.stringify(manifest))
    const made = await make({ name: 'for group policy' })
    expect(made).toMatchObject({
      windowsInstaller: { name: 'agent.msi', version: '1.2.3' },
      serverUrl: 'http://portcullis.test',
    })
    const answer = await build(made, made.token)
    expect([answer.statusCode, answer.headers['content-type']]).toEqual([200, 'application/x-msi'])
    expect(answer.headers['content-disposition']).toContain('agent.msi')
    const expected = Buffer.from(template.content)
    expected.write('http://portcullis.test'.padEnd(LENGTH), template.slots.PresetServer.offset)
    expected.write(made.token.padEnd(LENGTH), template.slots.PresetToken.offset)
    expect(answer.rawPayload.equals(expected)).toBe(true)
    const { data } = await pageOf<AuditRecord>(t, 'events/GetAuditsIntegration?PageSize=1000')
    const record = data.find(({ action }) => action === 'enrolment_token.installer_created')
    expect(record).toMatchObject({ entity: 'for group policy' })
    expect(record?.details).toContain('agent 1.2.3 for Windows')
    expect(JSON.stringify(data)).not.toContain(made.token)
  })

  it('without a token is limited to 32 downloads at once per address', async () => {
    const bytes = Buffer.alloc(16 * 1024 * 1024)
    template.content.copy(bytes)
    write(bytes)
    writeFileSync(join(dir, 'manifest.json'), JSON.stringify({ ...manifest, size: bytes.length }))
    const { hostname, port } = new URL(t.address)
    const readers = Array.from({ length: 32 }, () => connect(Number(port), hostname).pause())
    try {
      await Promise.all(
        readers.map((reader) => {
          reader.write('GET /agent/v1/download/windows-x64 HTTP/1.1\r\nhost: a\r\n\r\n')
          return once(reader, 'readable')
        }),
      )
      const refused = await fetch(plain())
      expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([429, true])
      expect(await refused.json()).toMatchObject({ code: 'too_many_requests' })
      const metrics = (await (await t.admin()).get('/metrics')).body
      expect(metrics).toMatch(/portcullis_connections_refused_total\{limit="download"\} 1/)
    } finally {
      for (const reader of readers) reader.destroy()
    }
    await expect.poll(async () => (await fetch(plain(), { method: 'HEAD' })).status).toBe(200)
    write(template.content)
    writeFileSync(join(dir, 'manifest.json'), JSON.stringify(manifest))
  })

  it('is also available without a token, signed if the build signed it', async () => {
    const answer = await fetch(plain())
    expect(answer.headers.get('content-disposition')).toContain('agent.msi')
    expect(Buffer.from(await answer.arrayBuffer()).equals(template.content)).toBe(true)
    const signed = join(dir, 'agent-signed.msi')
    writeFileSync(signed, 'signed')
    expect(await (await fetch(plain())).text()).toBe('signed')
    rmSync(signed)
  })

  it('is refused for a token with another id, an unknown token, and a token that can enrol no host', async () => {
    const [made, other] = [await make(), await make()]
    for (const token of [other.token, `${made.token.slice(0, 45)}${'x'.repeat(43)}`, 'nonsense'])
      expect((await build(made, token)).json()).toMatchObject({ code: 'enrolment_refused' })
    await enrolAgent(t, { token: made.token, only: 'enrol' })
    expect((await build(made, made.token)).json()).toMatchObject({
      code: 'conflict',
      detail: 'The enrolment token is used up. Create a new token.',
    })
    for (const id of ['00000000-0000-4000-8000-000000000000', 'nonsense'])
      expect((await build({ ...other, id }, other.token)).statusCode).toBe(404)
    await (await t.admin()).delete(`${path}/${other.id}`)
    expect((await build(other, other.token)).json()).toMatchObject({ code: 'enrolment_refused' })
  })

  it('is not built from a file that does not match its manifest', async () => {
    const made = await make()
    write(template.content.subarray(1))
    expect((await build(made, made.token)).statusCode).toBe(404)
    write(Buffer.concat([template.content.subarray(1), Buffer.from('x')]))
    expect((await build(made, made.token)).statusCode).toBe(500)
  })
})
