import { maskedSecret, type NotificationGroup } from '@portcullis/contract'
import { describe, expect, it } from 'vitest'
import { CallFailure } from '../../lib/problem.ts'
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
  triedOf,
} from './draft.ts'

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
}
const draft = draftOf(group)

describe('a change of a group', () => {
  it('is nothing when nothing was changed', () => expect(changeOf(group, draft)).toEqual({}))

  it('has what was changed, and no other member', () => {
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

  it('keeps the secret, takes a new one, or asks for one', () => {
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

  it('tries one channel with all that is entered, and no stored secret', () => {
    expect(triedOf(draft, 'webhook')).toEqual({
      webhook: { isEnabled: true, url: 'https://soar.example.org/hooks/x', ca: '' },
    })
    expect(triedOf(draft, 'syslog')).toEqual({ syslog: group.channels.syslog })
  })
})

describe('a secret', () => {
  const withSecret = (secret: string) =>
    ({ ...group, channels: { ...group.channels, webhook: { ...group.channels.webhook, secret } } }) as NotificationGroup
  it('is shown only when it was made now', () => {
    expect([maskedSecret, '', 'whsec_abc'].map((secret) => freshSecretOf(withSecret(secret)))).toEqual([
      null,
      null,
      'whsec_abc',
    ])
  })
})

describe('recipients', () => {
  it('come one a line, or as a list', () => {
    expect(recipientsOf('a@b.c\n\n d@e.f , g@h.i;\r\nj@k.l')).toEqual(['a@b.c', 'd@e.f', 'g@h.i', 'j@k.l'])
  })
  it.each([
    ['', null],
    ['soc@example.org', null],
    ['soc@example.org\nBcc: evil', 'This is no mail address: Bcc: evil'],
    ['"A B" <a@b.c>\nx', 'These are no mail addresses: "A B" <a@b.c>, x'],
    ['a@b@c', 'This is no mail address: a@b@c'],
    [`${'a'.repeat(65)}@b.c`, `This is no mail address: ${'a'.repeat(65)}@b.c`],
  ])('%j', (text, fault) => expect(recipientsFault(text)).toBe(fault))
  it('are at most fifty', () => {
    const some = (count: number) => Array.from({ length: count }, (_, n) => `m${n}@example.org`).join('\n')
    expect(recipientsFault(some(50))).toBeNull()
    expect(recipientsFault(some(10_000))).toMatch(/There are 10,000, at most 50/)
  })
})

describe('what is wrong', () => {
  it('is known before the server is asked', () => {
    expect(faultsOfDraft(draft)).toEqual({})
    const bad = { ...draft, digestMinutes: '1.5', quiet: { ...draft.quiet, from: '06:00' } }
    expect(Object.keys(faultsOfDraft(bad))).toEqual(['digestMinutes', 'quietHours.to'])
    expect(faultsOfDraft({ ...bad, digestMinutes: '', isQuiet: false })).toHaveProperty('digestMinutes')
  })

  it('stands at its field, however the server names it', () => {
    const fields = [
      { field: 'body.channels.syslog.address', message: 'must be a host' },
      { field: 'body.channels.email.recipients[2]', message: 'is no address' },
      { field: 'body.hashtags.0', message: 'is no tag: it has a comma' },
      { field: 'query.x', message: 'is unknown' },
    ]
    expect(faultsOfFailure(new CallFailure('validation_failed', 'Bad.', { status: 400, fields }))).toEqual({
      'channels.syslog.address': 'It must be a host.',
      'channels.email.recipients': '3: It is no address.',
      hashtags: 'It is no tag: it has a comma.',
    })
    const refused = new CallFailure('unprocessable', 'body.channels.webhook.url: 10.0.0.1 is not connected to.')
    expect(faultsOfFailure(refused)).toEqual({ 'channels.webhook.url': '10.0.0.1 is not connected to.' })
    expect(faultsOfFailure(new CallFailure('network', 'No answer came back.'))).toEqual({})
    expect(faultsOfFailure(null)).toEqual({})
  })
})

describe('a group in a few words', () => {
  it('has its channels, and why one is of no effect', () => {
    expect(chipsOf(group, true).map(({ words, state }) => [words, state])).toEqual([
      ['Mail: 1 recipient', 'on'],
      ['Webhook: soar.example.org', 'on'],
      ['Syslog: siem.example.org, tls, ocsf', 'off'],
    ])
    expect(chipsOf(group, false)[0]).toMatchObject({ state: 'idle', why: 'No mail server is set up.' })
    // Who may not read the settings is told nothing of them.
    expect(chipsOf(group, null)[0]).toMatchObject({ state: 'on' })
    expect(
      chipsOf({ channels: { ...group.channels, email: { isEnabled: false, recipients: [] } } }, true),
    ).toHaveLength(2)
  })
  it('has its terms', () => {
    expect(termsOf(group)).toEqual([
      'Warning or worse',
      'tags #kiosk #lab',
      'gathered for 30 min',
      'quiet 22:00 to 06:00, Europe/Berlin',
    ])
    const notifications = [{ id: 'USB', name: 'USB', isEnabled: false }]
    expect(termsOf({ ...group, notifications, hashtags: [], digestMinutes: 0, quietHours: null })).toEqual([
      'Warning or worse',
      '0 of 1 kinds',
    ])
    expect([sendsEvents(group), sendsEvents({ notifications })]).toEqual([false, true])
  })
})
