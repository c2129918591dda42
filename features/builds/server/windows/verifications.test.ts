import { randomUUID, sign } from 'node:crypto'
import { createVerificationFile } from '@portcullis/domain'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { approveRequest, trustAccounts } from '@portcullis/server/test/approvals.ts'
import { enrolAgent, pageOf, type TestAgent } from '@portcullis/server/test/builders.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  type AuditRecord,
  type ChangeRequest,
  type HostFacts,
  type WindowsVerification,
  windowsSteps,
} from '#features/contract.ts'

const base = '/prime/webui'
const byHand = ['service-recovery', 'hubs-and-docks'] as const
const facts: Partial<HostFacts> = {
  osName: 'Windows 11 Pro',
  osBuild: '10.0.22631.4317',
  enforcement: 'before-install',
}
let t: TestApp
let agents: TestAgent[]
let host: TestAgent

beforeEach(async () => {
  t = await startTestApp({ listen: true })
  await post('generalconfig/AddOrUpdateVendorA', { VENDORA_WINDOWS_ENFORCEMENT: 'true' })
  agents = await Promise.all(Array.from({ length: 7 }, () => enrolAgent(t, { facts })))
  host = agents[0] as TestAgent
})
afterEach(() => t.close())

const post = async (path: string, body: unknown) => (await t.admin()).post(`${base}/${path}`, body)
const report = (change: Partial<WindowsVerification> = {}): WindowsVerification => ({
  format: 'portcullis-windows-verification-1',
  agentId: host.agentId,
  osBuild: '10.0.22631.3000',
  edition: 'Windows 11 Pro',
  agentVersion: '1.0.0',
  createdAt: new Date(t.clock.now()).toISOString(),
  checks: windowsSteps.map(({ id }) => ({
    id,
    result: byHand.some((one) => one === id) ? 'not-performed' : 'passed',
    detail: byHand.some((one) => one === id) ? '' : 'as expected',
  })),
  ...change,
})
const signedBy =
  ({ privateKey }: TestAgent) =>
  (text: string): string =>
    sign(null, Buffer.from(text), privateKey).toString('base64')
const fileOf = (change: Partial<WindowsVerification> = {}, by = host) =>
  createVerificationFile(report(change), signedBy(by))
const upload = (file: unknown, confirmed: readonly string[] = byHand) =>
  post('windows/verifications', { file, confirmed })
const refusal = async (file: unknown, confirmed?: readonly string[]): Promise<string> => {
  const answer = await upload(file, confirmed)
  const { code, detail } = answer.json()
  return `${answer.statusCode} ${code}: ${detail}`
}
const overview = async () => (await (await t.admin()).get(`${base}/windows/enforcement`)).json()
const armAll = async () => {
  const uuids = agents.map(({ agentId }) => agentId)
  const { accepted } = (await post('agents/bulk', { action: 'arm', uuids })).json()
  await t.jobs.drain()
  return accepted
}
const without = (id: string, result: 'failed' | 'not-performed') =>
  report().checks.map((check) => (check.id === id ? { ...check, result } : check))

describe('the verification of a Windows build', () => {
  it('lifts the limit of its build, and removing it frees nobody', async () => {
    expect(await armAll()).toBe(5)
    const imported = await upload(fileOf())
    expect([imported.statusCode, imported.json()]).toEqual([
      200,
      {
        build: '22631',
        osBuild: '10.0.22631.3000',
        edition: 'Windows 11 Pro',
        agentVersion: '1.0.0',
        uuid: host.agentId,
        hostIdentifier: host.facts.hostname,
        createdAt: new Date(t.clock.now()).toISOString(),
        passed: 18,
        confirmed: [...byHand],
        importedAt: new Date(t.clock.now()).toISOString(),
        importedBy: 'admin',
      },
    ])
    expect(await armAll()).toBe(7)
    expect(await overview()).toMatchObject({
      builds: [{ build: '22631', armed: 7, isVerified: true }],
      verifications: [{ build: '22631' }],
    })
    const remove = async () => (await t.admin()).delete(`${base}/windows/verifications/22631`)
    expect((await remove()).json()).toEqual({ removed: true })
    expect((await remove()).statusCode).toBe(404)
    expect(await overview()).toMatchObject({ builds: [{ armed: 7, isVerified: false }], verifications: [] })
    const [late] = [await enrolAgent(t, { facts })]
    expect((await post('agents/bulk', { action: 'arm', uuids: [late.agentId] })).json()).toMatchObject({
      accepted: 0,
      refused: [{ code: 'windows_limit_reached' }],
    })
    const { data } = await pageOf<AuditRecord>(t, 'events/GetAuditsIntegration?PageSize=100')
    const own = data.filter(({ action }) => action.startsWith('windows.'))
    expect(own.map(({ action, entity, details }) => [action, entity, details])).toEqual([
      ['windows.verificationRemoved', 'Windows build 22631', expect.stringContaining('armed hosts stay armed')],
      [
        'windows.verificationImported',
        'Windows build 22631',
        expect.stringContaining('confirmed by hand: service-recovery, hubs-and-docks'),
      ],
    ])
  })

  it('does not lift the limit of another build', async () => {
    expect((await upload(fileOf())).statusCode).toBe(200)
    const others = await Promise.all(
      Array.from({ length: 6 }, () => enrolAgent(t, { facts: { ...facts, osBuild: '10.0.26100.1' } })),
    )
    const uuids = others.map(({ agentId }) => agentId)
    expect((await post('agents/bulk', { action: 'arm', uuids })).json()).toMatchObject({ accepted: 5, skipped: 1 })
  })

  it('is refused if it is not signed by a host that the server knows', async () => {
    const file = fileOf()
    const changed = { ...file, payload: file.payload.replace('4317', '4318').replace('Pro', 'Home') }
    expect(await refusal(changed)).toMatch(/^422 verification_invalid: .*was changed/)
    expect(await refusal(fileOf({}, agents[1]))).toMatch(/^422 verification_invalid: .*did not sign it/)
    expect(await refusal(fileOf({ agentId: randomUUID() }))).toMatch(/^422 verification_invalid: .*does not know/)
    const signature = signedBy(host)(file.payload)
    expect(await refusal({ ...file, signature })).toMatch(/^422 verification_invalid: .*did not sign it/)
    await post('agents/deleteAgents', [host.agentId])
    expect(await refusal(file)).toMatch(/^422 verification_invalid: .*does not know/)
    expect((await overview()).verifications).toEqual([])
  })

  it('is refused if it does not describe the host, or is too old or from the future', async () => {
    const at = (days: number): string => new Date(t.clock.now() + days * 86_400_000).toISOString()
    expect(await refusal(fileOf({ osBuild: '10.0.26100.1' }))).toMatch(/reports 10\.0\.22631\.4317/)
    expect(await refusal(fileOf({ createdAt: at(-31) }))).toMatch(/older than 30 days/)
    expect(await refusal(fileOf({ createdAt: at(1) }))).toMatch(/from the future/)
    const linux = await enrolAgent(t)
    expect(await refusal(fileOf({ agentId: linux.agentId }, linux))).toMatch(/has not reported a Windows build/)
    const twice = report().checks.map((check, i, all) => (i === 1 ? (all[0] as typeof check) : check))
    expect(await refusal(fileOf({ checks: twice }))).toMatch(/each step exactly once/)
    for (const payload of ['{}', 'not JSON', JSON.stringify({ ...report(), more: 1 })])
      expect(await refusal({ payload, signature: 'A'.repeat(86) }), payload).toMatch(/^422 verification_invalid/)
    expect((await upload({ payload: 'x'.repeat(40_000), signature: 'A'.repeat(86) })).statusCode).toBe(400)
    expect((await upload(fileOf(), ['unknown'])).statusCode).toBe(400)
  })

  it('requires that exactly the steps not performed by the program are confirmed, and that no step failed', async () => {
    expect(await refusal(fileOf({ checks: without('edition', 'failed') }))).toMatch(
      /^422 verification_incomplete: These steps failed: edition\./,
    )
    expect(await refusal(fileOf({ checks: without('edition', 'failed') }), [...byHand, 'edition'])).toMatch(/failed/)
    expect(await refusal(fileOf(), ['service-recovery'])).toMatch(/Confirm these steps: hubs-and-docks\./)
    expect(await refusal(fileOf(), [...byHand, 'edition'])).toMatch(/the program performed them: edition\./)
    expect((await overview()).verifications).toEqual([])
  })

  it('does not count if it was written into the database directly', async () => {
    expect((await upload(fileOf())).statusCode).toBe(200)
    await t.db.execute(sql`update windows_verifications set build = '26100'`)
    expect((await overview()).verifications).toEqual([])
    const others = await Promise.all(
      Array.from({ length: 6 }, () => enrolAgent(t, { facts: { ...facts, osBuild: '10.0.26100.1' } })),
    )
    const uuids = others.map(({ agentId }) => agentId)
    expect((await post('agents/bulk', { action: 'arm', uuids })).json()).toMatchObject({ accepted: 5 })
  })

  it('can be imported and removed by Administrators only', async () => {
    const manager = await person(t, { profile: 20 })
    const body = { file: fileOf(), confirmed: byHand }
    expect((await manager.api.post(`${base}/windows/verifications`, body)).statusCode).toBe(403)
    expect((await manager.api.delete(`${base}/windows/verifications/22631`)).statusCode).toBe(403)
    expect((await manager.api.get(`${base}/windows/enforcement`)).statusCode).toBe(200)
  })

  it('needs a second approver once two Administrators exist', async () => {
    const [alice, bob] = [await person(t, { profile: 10 }), await person(t, { profile: 10 })]
    await trustAccounts(t)
    const body = { file: fileOf(), confirmed: byHand }
    const filed = await alice.api.post(`${base}/windows/verifications`, body)
    expect([filed.statusCode, filed.json().code]).toEqual([403, 'second_person_required'])
    expect((await overview()).verifications).toEqual([])
    const [request]: ChangeRequest[] = (await bob.api.get(`${base}/policy/changerequests`)).json().data
    expect(request).toMatchObject({
      action: 'windows',
      title: expect.stringContaining('10.0.22631.3000'),
      details: expect.arrayContaining([
        'Confirmed by hand: Hubs and docks keep working',
        'Passed: Restrictions apply without a restart (as expected)',
      ]),
    })
    const decide = (who: typeof bob) => approveRequest(who.api, request?.id)
    expect((await decide(alice)).statusCode).toBe(403)
    expect((await decide(bob)).statusCode).toBe(200)
    expect((await overview()).verifications).toMatchObject([{ build: '22631', confirmed: [...byHand] }])
    expect(await armAll()).toBe(7)
  })
})
