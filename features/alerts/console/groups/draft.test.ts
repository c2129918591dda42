import { merged } from '@portcullis/platform/console/lib/merge.ts'
import { CallFailure } from '@portcullis/platform/console/lib/problem.ts'
import { describe, expect, it } from 'vitest'
import { maskedSecret, type NotificationGroup } from '#features/contract.ts'
import { chipsOf, termsOf } from './chips.ts'
import {
  changeOf,
  draftOf,
  faultsOfDraft,
  faultsOfFailure,
  freshSecretOf,
  recipientsFault,
  recipientsOf,
  sendsEvents,
  testBodyOf,
} from './draft.ts'
import { groupConflict, groupParts } from './group-conflict.ts'

const group: NotificationGroup = {
  id: 1,
  groupName: 'Attacks',
  description: '',
  kind: 'Risk',
  minimumSeverity: 'Warning',
  hashtags: ['kiosk', 'lab'],
  isEnabled: true,
  notifications: [
    { id: 'attackTool', name: 'Attack tool', isEnabled: true },
    { id: 'keyClone', name: 'Copied agent key', isEnabled: true },
  ],
  channels: {
    email: { isEnabled: true, recipients: ['soc@example.org'] },
    webhook: { isEnabled: true, url: 'https://soar.example.org/hooks/x', secret: maskedSecret, ca: '' },
    syslog: { isEnabled: false, address: 'siem.example.org', protocol: 'tls', format: 'ocsf', ca: '' },
  },
  digestMinutes: 30,
  quietHours: { from: '22:00', to: '06:00', timeZone: 'Europe/Berlin', passSeverity: null },
  updatedAt: '',
  updatedBy: '',
}
const draft = draftOf(group)

describe('groupConflict', () => {
  it('names what the other person changed, and a merge keeps my changes', () => {
    const theirs = { ...group, digestMinutes: 5, hashtags: ['lab'], updatedAt: '2031-05-04T10:00:00.000Z' }
    const mine = { ...draft, hashtags: 'kiosk', isEnabled: false }
    expect(groupConflict(group, theirs, mine)).toEqual([
      { name: 'Only hosts with one of these tags', before: 'kiosk, lab', theirs: 'lab', mine: 'kiosk' },
      { name: 'Batch (minutes)', before: '30', theirs: '5', mine: '30' },
    ])
    const both = merged(draftOf(group), draftOf(theirs), mine, groupParts)
    expect(changeOf(theirs, both)).toEqual({ hashtags: ['kiosk'], isEnabled: false })
  })
})

describe('changeOf', () => {
  it('is empty without changes', () => expect(changeOf(group, draft)).toEqual({}))

  it('contains the changed members only', () => {
    expect(changeOf(group, { ...draft, on: ['attackTool'], digestMinutes: '0', isQuiet: false })).toEqual({
      notifications: [{ id: 'keyClone', isEnabled: false }],
      digestMinutes: 0,
      quietHours: null,
    })
    const quiet = { ...draft.quiet, passSeverity: 'Critical' }
    expect(changeOf(group, { ...draft, quiet, hashtags: 'lab' })).toEqual({
      hashtags: ['lab'],
      quietHours: { ...group.quietHours, passSeverity: 'Critical' },
    })
    expect(changeOf(group, { ...draft, email: { ...draft.email, recipients: ' a@b.c ; d@e.f\n' } })).toEqual({
      channels: { email: { recipients: ['a@b.c', 'd@e.f'] } },
    })
  })

  it('keeps the secret, sets a new one or asks the server for one', () => {
    const webhook = { ...draft.webhook, url: ' https://soar.example.org/y ' }
    expect(changeOf(group, { ...draft, webhook })).toEqual({
      channels: { webhook: { url: 'https://soar.example.org/y' } },
    })
    expect(changeOf(group, { ...draft, webhook: { ...draft.webhook, secret: 'whsec_x' } })).toEqual({
      channels: { webhook: { secret: 'whsec_x' } },
    })
    expect(changeOf(group, { ...draft, webhook: { ...draft.webhook, isSecretNew: true } })).toEqual({
      channels: { webhook: { secret: '' } },
    })
  })

  it('tests one channel with all entered values except a stored secret', () => {
    expect(testBodyOf(draft, 'webhook')).toEqual({
      webhook: { isEnabled: true, url: 'https://soar.example.org/hooks/x', ca: '' },
    })
    expect(testBodyOf(draft, 'syslog')).toEqual({ syslog: group.channels.syslog })
  })
})

describe('freshSecretOf', () => {
  const withSecret = (secret: string) =>
    ({ ...group, channels: { ...group.channels, webhook: { ...group.channels.webhook, secret } } }) as NotificationGroup
  it('returns only a secret that the server has just generated', () => {
    expect([maskedSecret, '', 'whsec_abc'].map((secret) => freshSecretOf(withSecret(secret)))).toEqual([
      null,
      null,
      'whsec_abc',
    ])
  })
})

describe('recipients', () => {
  it('are separated by lines, commas or semicolons', () => {
    expect(recipientsOf('a@b.c\n\n d@e.f , g@h.i;\r\nj@k.l')).toEqual(['a@b.c', 'd@e.f', 'g@h.i', 'j@k.l'])
  })
  it.each([
    ['', null],
    ['soc@example.org', null],
    ['soc@example.org\nBcc: evil', 'Not an email address: Bcc: evil'],
    ['"A B" <a@b.c>\nx', 'Not email addresses: "A B" <a@b.c>, x'],
    ['a@b@c', 'Not an email address: a@b@c'],
    [`${'a'.repeat(65)}@b.c`, `Not an email address: ${'a'.repeat(65)}@b.c`],
  ])('%j', (text, fault) => expect(recipientsFault(text)).toBe(fault))
  it('are limited to fifty', () => {
    const some = (count: number) => Array.from({ length: count }, (_, n) => `m${n}@example.org`).join('\n')
    expect(recipientsFault(some(50))).toBeNull()
    expect(recipientsFault(some(10_000))).toMatch(/10,000 recipients exceed the limit of 50/)
  })
})

describe('errors of a draft', () => {
  it('are found before the server is asked', () => {
    expect(faultsOfDraft(draft)).toEqual({})
    const bad = { ...draft, digestMinutes: '1.5', quiet: { ...draft.quiet, from: '06:00' } }
    expect(Object.keys(faultsOfDraft(bad))).toEqual(['digestMinutes', 'quietHours.to'])
    expect(faultsOfDraft({ ...bad, digestMinutes: '', isQuiet: false })).toHaveProperty('digestMinutes')
  })

  it('are assigned to their fields in every notation of the server', () => {
    const fields = [
      { field: 'body.channels.syslog.address', message: 'must be a host' },
      { field: 'body.channels.email.recipients[2]', message: 'is not an address' },
      { field: 'body.hashtags.0', message: 'is not a tag: it contains a comma' },
      { field: 'query.x', message: 'is unknown' },
    ]
    expect(faultsOfFailure(new CallFailure('validation_failed', 'Bad.', { status: 400, fields }))).toEqual({
      'channels.syslog.address': 'It must be a host.',
      'channels.email.recipients': '3: It is not an address.',
      hashtags: 'It is not a tag: it contains a comma.',
    })
    const refused = new CallFailure('unprocessable', 'body.channels.webhook.url: 10.0.0.1 is not connected to.')
    expect(faultsOfFailure(refused)).toEqual({ 'channels.webhook.url': '10.0.0.1 is not connected to.' })
    expect(faultsOfFailure(new CallFailure('network', 'No answer came back.'))).toEqual({})
    expect(faultsOfFailure(null)).toEqual({})
  })
})

describe('a group in a few words', () => {
  it('shows its channels and why one has no effect', () => {
    expect(chipsOf(group, true).map(({ label, state }) => [label, state])).toEqual([
      ['Email: 1 recipient', 'on'],
      ['Webhook: soar.example.org', 'on'],
      ['Syslog: siem.example.org, tls, ocsf', 'off'],
    ])
    expect(chipsOf(group, false)[0]).toMatchObject({ state: 'idle', why: 'No mail server is set up.' })
    // A user without permission for the settings does not see them.
    expect(chipsOf(group, null)[0]).toMatchObject({ state: 'on' })
    expect(
      chipsOf({ channels: { ...group.channels, email: { isEnabled: false, recipients: [] } } }, true),
    ).toHaveLength(2)
  })
  it('shows its triggers and timing', () => {
    expect(termsOf(group)).toEqual([
      'Warning or worse',
      'tags #kiosk #lab',
      'batched for 30 min',
      'quiet hours 22:00 to 06:00, Europe/Berlin',
    ])
    const notifications = [{ id: 'USB', name: 'USB', isEnabled: false }]
    expect(termsOf({ ...group, notifications, hashtags: [], digestMinutes: 0, quietHours: null })).toEqual([
      'Warning or worse',
      '0 of 1 triggers',
    ])
    expect([sendsEvents(group), sendsEvents({ notifications })]).toEqual([false, true])
  })
})
