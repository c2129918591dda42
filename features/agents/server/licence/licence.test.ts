import { generateKeyPairSync } from 'node:crypto'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { issueLicence, type Licence } from '@portcullis/domain'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { enrolAgent, pageOf } from '@portcullis/server/test/builders.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Agent, agentsClassificationSummary, LicenceDetails, ResponseOf } from '#features/contract.ts'

const base = '/prime/webui/generalconfig'
const issuer = generateKeyPairSync('ed25519')
const stranger = generateKeyPairSync('ed25519')
const day = 86_400_000
let t: TestApp
const keysFile = (): string => join(t.keyDir, 'licence-keys.pem')

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  for (let i = 0; i < 4; i++) {
    await enrolAgent(t, { facts: { hostname: `host-${i}` } })
    t.clock.advance(1_000)
  }
})
afterAll(() => t.close())

const inDays = (days: number): string => new Date(t.clock.now() + days * day).toISOString().slice(0, 10)
const make = (change: Partial<Licence> = {}, key = issuer): string =>
  issueLicence(
    {
      product: 'portcullis',
      accountId: 'acc-7',
      accountName: 'Example Works',
      agents: null,
      expires: null,
      graceDays: 14,
      features: ['nac'],
      issued: '2031-01-01',
      ...change,
    },
    key.privateKey,
  )
const enter = async (text: string | null) =>
  (await t.admin()).post(`${base}/AddOrUpdateLICENSEConfig`, { LICENSE_KEY: text })
const details = async (): Promise<LicenceDetails> => (await (await t.admin()).get(`${base}/license`)).json()
const agents = async () =>
  (await pageOf<Agent>(t, 'agents?SortBy=hostIdentifier_asc')).data.map((a) => [
    a.licenseStatus,
    a.licenseAccountName,
    a.expirationDate,
  ])
const later = async (ms: number) => {
  t.clock.advance(ms)
  await t.server.licence.apply()
}

describe('a licence', () => {
  it('is Community if none is stored, without limits', async () => {
    expect(await details()).toMatchObject({ status: 'Community', agents: null, used: 4, pending: 0, trustedKeys: 0 })
    expect(await agents()).toEqual(Array(4).fill(['Activated', 'Community', '']))
  })

  it('is refused unless a trusted issuer signed it for this product, and the previous one stays', async () => {
    const refused = async (text: string) => {
      const answer = await enter(text)
      return [answer.statusCode, answer.json().code, answer.json().detail]
    }
    expect(await refused(make())).toEqual([
      422,
      'licence_invalid',
      expect.stringContaining('the key file does not exist'),
    ])
    writeFileSync(keysFile(), issuer.publicKey.export({ type: 'spki', format: 'pem' }))
    expect(await refused(make({}, stranger))).toEqual([
      422,
      'licence_invalid',
      expect.stringContaining('not signed by a key'),
    ])
    expect(await refused('hello')).toEqual([422, 'licence_invalid', 'The text is not a licence.'])
    const [head, , signature] = make().split('.')
    expect((await refused(`${head}.${Buffer.from('{}').toString('base64url')}.${signature}`))[0]).toBe(422)
    expect(() => make({ product: 'other' })).toThrow(/another product/)
    expect((await details()).status).toBe('Community')
  })

  it('covers the hosts that enrolled first; the others are Pending until a host leaves or the limit grows', async () => {
    const answer = await enter(make({ agents: 3, expires: inDays(100) }))
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      expect.objectContaining({
        status: 'Activated',
        accountName: 'Example Works',
        agents: 3,
        used: 4,
        pending: 1,
        daysLeft: 100,
      }),
    ])
    const mdy = inDays(100).replace(/(\d+)-(\d+)-(\d+)/, '$2/$3/$1')
    expect(await agents()).toEqual([
      ...Array(3).fill(['Activated', 'Example Works', mdy]),
      ['Pending', 'Example Works', mdy],
    ])
    expect((await pageOf<Agent>(t, 'agents?License=Pending')).data).toMatchObject([
      { hostIdentifier: 'host-3', displayStatusCombined: 'Pending' },
    ])
    const summary = async () =>
      (
        (await (await t.admin()).get('/prime/webui/agents/AgentsClassificationSummary')).json() as ResponseOf<
          typeof agentsClassificationSummary
        >
      ).license
    expect(await summary()).toMatchObject({ activated: 3, pending: 1 })
    expect(await t.server.licence.health()).toMatchObject({
      status: 'Warning',
      description: expect.stringContaining('1 is Pending'),
    })
    const first = (await pageOf<Agent>(t, 'agents?HostIdentifier=host-0')).data[0]?.uuid
    await (await t.admin()).post('/prime/webui/agents/deleteAgents', [first])
    await later(6_000)
    expect((await agents()).map(([status]) => status)).toEqual(['Activated', 'Activated', 'Activated'])
    await enrolAgent(t, { facts: { hostname: 'host-4' } })
    await later(6_000)
    expect((await agents()).map(([status]) => status)).toEqual(['Activated', 'Activated', 'Activated', 'Pending'])
    expect((await enter(make({ agents: 10, expires: inDays(100) }))).json()).toMatchObject({ pending: 0 })
  })

  it('warns 30, 7 and 1 days ahead, has a grace period, and then marks hosts Expired; nothing stops working', async () => {
    await enter(make({ expires: inDays(40), graceDays: 10 }))
    const health = () => t.server.licence.health()
    expect(await health()).toMatchObject({ status: 'OK' })
    // The licence page shows what the health page shows.
    expect((await details()).health).toEqual(await health())
    await later(10 * day)
    expect((await details()).health).toEqual(await health())
    expect(await health()).toMatchObject({ status: 'Warning', description: expect.stringContaining('in 30 days') })
    await later(29 * day)
    expect(await health()).toMatchObject({ description: expect.stringContaining('in 1 day.') })
    await later(2 * day)
    expect([await details(), await health()]).toMatchObject([{ status: 'Grace' }, { status: 'Warning' }])
    expect((await agents()).every(([status]) => status === 'Activated')).toBe(true)
    await later(11 * day)
    expect([await details(), await health()]).toMatchObject([{ status: 'Expired' }, { status: 'Error' }])
    expect((await agents()).every(([status]) => status === 'Expired')).toBe(true)
    const signIn = await t.request({
      method: 'POST',
      url: '/prime/webui/Auth/LocalLogin',
      payload: { username: 'admin', password: 'correct horse battery' },
    })
    expect(signIn.json().license).toEqual({ primeAccountName: 'Example Works', licenseStatus: 'Expired' })
  })

  it('becomes Invalid when its issuer is no longer trusted, and can be removed', async () => {
    writeFileSync(keysFile(), '-----BEGIN PUBLIC KEY-----\nnonsense\n-----END PUBLIC KEY-----\n')
    await later(6_000)
    expect(await details()).toMatchObject({ status: 'Invalid', trustedKeys: 0 })
    expect((await t.admin()).get).toBeDefined()
    rmSync(keysFile())
    await later(6_000)
    expect(await details()).toMatchObject({ status: 'Invalid', trustedKeys: 0 })
    expect((await agents()).every(([status]) => status === 'Invalid')).toBe(true)
    expect((await enter(null)).json()).toMatchObject({ status: 'Community' })
    expect((await agents()).every(([status, account]) => status === 'Activated' && account === 'Community')).toBe(true)
    const history = (await (await t.admin()).get(`${base}/history?prefix=LICENSE`)).json()
    expect(history.data[0].changes).toMatchObject([{ name: 'LICENSE_KEY', to: '' }])
  })
})
