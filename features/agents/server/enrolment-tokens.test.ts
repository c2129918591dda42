import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, enrolmentToken, pageOf, type Refused } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { AuditRecord, EnrollmentToken } from '#features/contract.ts'

const path = '/prime/webui/agents/enrollmenttokens'
let t: TestApp
beforeAll(async () => {
  t = await startTestApp({ listen: true })
})
afterAll(() => t.close())

const named = async (name: string): Promise<EnrollmentToken> => {
  const { data } = (await (await t.admin()).get(path)).json() as { data: EnrollmentToken[] }
  const found = data.find((token) => token.name === name)
  if (found === undefined) throw new Error(`no token ${name}`)
  return found
}
const refusalOf = (token: string): Promise<string> =>
  enrolAgent(t, { token, only: 'enrol' }).then(
    () => 'enrolled',
    (error: Refused) => error.problem.detail ?? '',
  )

describe('an enrolment token', () => {
  it('is listed with its status, which refused hosts also receive', async () => {
    const admin = await t.admin()
    const revoked = await enrolmentToken(t, { name: 'revoked' })
    await admin.delete(`${path}/${(await named('revoked')).id}`)
    const once = await enrolmentToken(t, { name: 'once', maxUses: 1 })
    await enrolAgent(t, { token: once, only: 'enrol' })
    const brief = await enrolmentToken(t, { name: 'brief', expiresInHours: 1 })
    await enrolmentToken(t, { name: 'active', expiresInHours: 2 })
    t.clock.advance(3_600_000)
    const states = await Promise.all(
      ['revoked', 'once', 'brief', 'active'].map(async (name) => (await named(name)).status),
    )
    expect(states).toEqual(['Revoked', 'Used up', 'Expired', 'Active'])
    expect(await refusalOf(revoked)).toContain('revoked')
    expect(await refusalOf(once)).toContain('used up')
    expect(await refusalOf(brief)).toContain('expired')
  })

  it('with a list enrols each listed name once, and nothing else', async () => {
    const token = await enrolmentToken(t, {
      name: 'listed',
      maxUses: undefined,
      hostIdentifiers: ['Web-01', 'db.example.org', 'web-01'],
    })
    expect(await named('listed')).toMatchObject({
      maxUses: 2,
      list: { total: 2, missing: 2, missingNames: ['db.example.org', 'web-01'] },
    })
    const enrol = (hostname: string) =>
      enrolAgent(t, { token, only: 'enrol', facts: { hostname } }).then(
        () => 'enrolled',
        (error: Refused) => error.problem.detail ?? '',
      )
    const refusal = await enrol('elsewhere')
    expect(refusal).toContain('does not contain this host name')
    const both = await Promise.all([enrol('WEB-01'), enrol('web-01')])
    expect(both.sort()).toEqual([refusal, 'enrolled'])
    expect(await named('listed')).toMatchObject({
      uses: 1,
      list: { total: 2, missing: 1, missingNames: ['db.example.org'] },
    })
    expect(await enrol('db.example.org')).toBe('enrolled')
    expect((await named('listed')).status).toBe('Used up')
  })

  it('with a list never takes over a host that the list does not contain', async () => {
    const machine = { machineIdHash: 'b'.repeat(64), smbiosHash: 'fb'.repeat(32) }
    const other = await enrolAgent(t, { only: 'enrol', ...machine, facts: { hostname: 'dc-01' } })
    const token = await enrolmentToken(t, { name: 'kiosks', hostIdentifiers: ['kiosk-1', 'dc-01'] })
    const thief = await enrolAgent(t, { token, only: 'enrol', ...machine, facts: { hostname: 'kiosk-1' } })
    expect(thief.agentId).not.toBe(other.agentId)
    const again = await enrolAgent(t, { token, only: 'enrol', ...machine, facts: { hostname: 'DC-01' } })
    expect(again.agentId).toBe(other.agentId)
  })

  it('with a list admits no name that only looks like a listed one', async () => {
    const token = await enrolmentToken(t, { name: 'kelvin', hostIdentifiers: ['kiosk-2'] })
    await expect(enrolAgent(t, { token, only: 'enrol', facts: { hostname: '\u212AIOSK-2' } })).rejects.toThrow()
    await enrolAgent(t, { token, only: 'enrol', facts: { hostname: 'KIOSK-2' } })
  })

  it('has no list unless one was given, and never an empty one', async () => {
    await enrolmentToken(t, { name: 'unlisted' })
    expect((await named('unlisted')).list).toBeUndefined()
    const refused = await (await t.admin()).post(path, { name: 'empty', hostIdentifiers: [] })
    expect(refused.statusCode).toBe(400)
    expect((await (await t.admin()).post(path, { name: 'odd', hostIdentifiers: ['a b'] })).statusCode).toBe(400)
  })

  it('can forbid hosts to take over a disconnected host', async () => {
    const machine = { machineIdHash: 'c'.repeat(64), smbiosHash: 'fc'.repeat(32), facts: { hostname: 'forbidden' } }
    const token = await enrolmentToken(t, { allowTakeOver: false })
    const old = await enrolAgent(t, machine)
    t.clock.advance(181_000)
    await t.server.ingest.sweep()
    const fresh = await enrolAgent(t, { ...machine, token })
    expect([fresh.tookOver, fresh.agentId === old.agentId]).toEqual([false, false])
    expect((await fresh.detail()).possibleDuplicates).toMatchObject([
      { uuid: old.agentId, hostIdentifier: old.facts.hostname },
    ])
  })

  it('ends the sessions of a taken-over host at once, before the first session of the new one', async () => {
    const machine = { machineIdHash: 'e'.repeat(64), smbiosHash: 'fe'.repeat(32), facts: { hostname: 'ends' } }
    const old = await enrolAgent(t, machine)
    t.clock.advance(181_000)
    await t.server.ingest.sweep()
    expect((await enrolAgent(t, { ...machine, only: 'enrol' })).tookOver).toBe(true)
    const answer = await old.post(old.body())
    expect([answer.status, JSON.parse(answer.text).code]).toEqual([409, 'agent_session_superseded'])
  })

  it('is named in the audit record of each enrolment and take-over', async () => {
    const machine = { machineIdHash: 'd'.repeat(64), smbiosHash: 'fd'.repeat(32), facts: { hostname: 'audit' } }
    const token = await enrolmentToken(t, { name: 'audited' })
    const old = await enrolAgent(t, { ...machine, token })
    t.clock.advance(181_000)
    await t.server.ingest.sweep()
    expect((await enrolAgent(t, { ...machine, token })).tookOver).toBe(true)
    const { data } = await pageOf<AuditRecord>(t, 'events/GetAuditsIntegration?PageSize=1000')
    expect(
      data.filter(({ details }) => details.includes(old.agentId)).map(({ action, details }) => [action, details]),
    ).toEqual([
      ['agent.taken_over', `agent ${old.agentId}, token audited`],
      ['agent.enrolled', `agent ${old.agentId}, token audited`],
    ])
  })
})
