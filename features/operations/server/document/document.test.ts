import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { pageOf } from '@portcullis/server/test/builders.ts'
import { person } from '@portcullis/server/test/people.ts'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ConfigDocument, PolicyRuleInput } from '#features/contract.ts'

const path = '/prime/webui/generalconfig/document'
let t: TestApp
beforeAll(async () => {
  t = await startTestApp()
})
afterAll(() => t.close())

const read = async (): Promise<ConfigDocument> => (await (await t.admin()).get(path)).json()
const apply = async (body: unknown, dryRun = false) => (await t.admin()).post(`${path}?dryRun=${dryRun}`, body)
const rule = (vid: string, change: Partial<PolicyRuleInput> = {}): PolicyRuleInput => ({
  effect: 'allow',
  vid,
  reason: `rule ${vid}`,
  ...change,
})

describe('the configuration as a document', () => {
  const wanted = {
    notificationGroups: [
      { id: 1, minimumSeverity: 'Error', channels: { email: { isEnabled: true, recipients: ['soc@example.org'] } } },
    ],
    settings: {
      SMTP_HOST: 'mail.example.org',
      SMTP_FROM: 'p@example.org',
      SMTP_PASSWORD: 'the secret',
      CUSTOM_LOGIN_TITLE: 'Plant 7',
    },
    tags: ['kiosk', 'lab'],
    rules: [rule('0781', { tag: 'kiosk' }), rule('046d', { effect: 'deny', kinds: ['Keyboard'] })],
  }

  it('shows the changes in a dry run, applies them together, and changes nothing the second time', async () => {
    const plan = await apply(wanted, true)
    expect([plan.statusCode, plan.json()]).toEqual([
      200,
      {
        settings: expect.arrayContaining([{ name: 'SMTP_PASSWORD', from: '', to: 'secret' }]),
        tags: { added: ['kiosk', 'lab'] },
        notificationGroups: [
          {
            groupName: 'Attacks',
            changes: 'minimum severity: Warning → Error; mail: false → true; recipients: none → soc@example.org',
          },
        ],
        rules: { added: [expect.stringMatching(/0781/), expect.stringMatching(/046D/i)], removed: [] },
      },
    ])
    expect(await read()).toMatchObject({ settings: {}, tags: [], rules: [] })
    expect((await read()).notificationGroups?.[0]?.minimumSeverity).toBe('Warning')
    expect((await apply(wanted)).json()).toEqual(plan.json())
    const now = await read()
    expect(now).toMatchObject({
      settings: { ...wanted.settings, SMTP_PASSWORD: '********' },
      tags: ['kiosk', 'lab'],
      rules: [
        { vid: '0781', tag: 'kiosk' },
        { effect: 'deny', kinds: ['Keyboard'] },
      ],
    })
    const versions = async () => (await pageOf(t, 'generalconfig/history')).recordsTotal
    const before = await versions()
    expect(now.notificationGroups?.[0]?.minimumSeverity).toBe('Error')
    expect((await apply(now)).json()).toEqual({
      settings: [],
      tags: { added: [] },
      notificationGroups: [],
      rules: { added: [], removed: [] },
    })
    expect(await versions()).toBe(before)
  })

  it('replaces the rules, and keeps approvals and everything it does not mention', async () => {
    const answer = await apply({ rules: [rule('0781', { tag: 'kiosk' }), rule('1050')] })
    expect(answer.json().rules).toEqual({
      added: [expect.stringMatching(/1050/)],
      removed: [expect.stringMatching(/046D/i)],
    })
    expect((await read()).settings).toMatchObject({ CUSTOM_LOGIN_TITLE: 'Plant 7' })
    const rules = await pageOf<{ vid: string }>(t, 'policy/rules')
    expect(rules.data.map(({ vid }) => vid).sort()).toEqual(['0781', '1050'])
  })

  it('waits for a simultaneous change of one of its parts', async () => {
    const admin = await t.admin()
    const work = Array.from({ length: 12 }, (_, i) => [
      apply({
        rules: [rule(`1${String(i).padStart(3, '0')}`)],
        notificationGroups: [{ id: 1, minimumSeverity: i % 2 === 0 ? 'Error' : 'Warning' }],
        settings: { CUSTOM_LOGIN_TITLE: `Plant ${i}` },
      }),
      admin.post('/prime/webui/generalconfig/SetServerDomainName', { SERVER_DOMAIN_NAME: `p${i}.example.org` }),
      admin.post('/prime/webui/systemNotification/notifications/update', {
        id: 1,
        minimumSeverity: i % 2 === 0 ? 'Warning' : 'Error',
      }),
    ]).flat()
    expect((await Promise.all(work)).map(({ statusCode }) => statusCode)).toEqual(work.map(() => 200))
  })

  it('changes nothing if any part of it is invalid', async () => {
    const before = await read()
    for (const [body, status, message] of [
      [{ settings: { SMTP_PORT: '99999' }, tags: ['new'], rules: [] }, 400, /SMTP_PORT/],
      [{ settings: { NO_SUCH: 'x' }, tags: ['new'], rules: [] }, 400, /NO_SUCH/],
      [{ settings: { CUSTOM_LOGIN_TITLE: 'other' }, tags: ['a,b'], rules: [] }, 400, /comma/],
      [
        { settings: { CUSTOM_LOGIN_TITLE: 'other' }, tags: ['new'], rules: [rule('0781', { tag: 'no such tag' })] },
        400,
        /no such tag/,
      ],
      [{ settings: { CUSTOM_LOGIN_TITLE: 'other' }, rules: [rule('zzzz')] }, 400, /vid/],
      [{ settings: { SMTP_HOST: 'evil.example.org' }, rules: [] }, 400, /SMTP_PASSWORD.*must be entered again/],
      [{ settings: { LICENSE_KEY: 'hello' }, rules: [] }, 422, /not a licence/],
      [
        { tags: ['new'], notificationGroups: [{ id: 1, channels: { email: { recipients: [] } } }] },
        400,
        /channels\.email\.recipients/,
      ],
      [
        {
          tags: ['new'],
          notificationGroups: [{ id: 2, channels: { webhook: { isEnabled: true, url: 'https://soar.example.org/' } } }],
        },
        400,
        /notificationGroups\[0\]\.channels\.webhook\.secret: is required/,
      ],
      [{ setings: {} }, 400, /setings/],
    ] as const) {
      const answer = await apply(body)
      expect([answer.statusCode, answer.json().detail]).toEqual([status, expect.stringMatching(message)])
      expect(await read()).toEqual(before)
    }
  })

  it('needs the same second approver as its parts, and is for Administrators', async () => {
    await person(t, { profile: 10 })
    expect((await apply({ settings: { VENDORA_TWO_PERSON_LIMIT: '0' } })).json().code).toBe('second_person_required')
    const manager = await person(t, { profile: 20 })
    expect((await manager.api.get(path)).statusCode).toBe(403)
    expect((await manager.api.post(path, {})).statusCode).toBe(403)
  })
})
