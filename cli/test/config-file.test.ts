import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, it } from 'vitest'
import { readConfigFile, writeConfigFile } from '../src/config-file.ts'

const dir = mkdtempSync(join(tmpdir(), 'portcullis-config-'))
const file = join(dir, 'a.yaml')
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const read = (text: string) => {
  writeFileSync(file, text)
  return readConfigFile(file)
}

it('a document comes back from the file it was written into, its secret by reference', () => {
  const document = {
    settings: {
      SMTP_HOST: 'mail',
      SMTP_PORT: '25',
      SMTP_PASSWORD: '********',
      CUSTOM_LOGIN_BANNER: 'one\ntwo: #three',
    },
    tags: ['lab', 'yes', '007'],
    notificationGroups: [{ id: 1, channels: { webhook: { url: 'https://soar.example.org/', secret: '********' } } }],
    rules: [{ effect: 'allow' as const, vid: '0781', reason: 'audio desk' }],
  }
  const text = writeConfigFile(document)
  expect(text).toContain('fromEnv: SMTP_PASSWORD')
  expect(text).toContain('fromEnv: NOTIFICATION_GROUP_1_WEBHOOK_SECRET')
  process.env.SMTP_PASSWORD = 'the secret'
  process.env.NOTIFICATION_GROUP_1_WEBHOOK_SECRET = 'whsec_x'
  try {
    expect(read(text)).toEqual({
      ...document,
      settings: { ...document.settings, SMTP_PASSWORD: 'the secret' },
      notificationGroups: [{ id: 1, channels: { webhook: { url: 'https://soar.example.org/', secret: 'whsec_x' } } }],
    })
  } finally {
    delete process.env.SMTP_PASSWORD
    delete process.env.NOTIFICATION_GROUP_1_WEBHOOK_SECRET
  }
})

it('takes numbers and switches as people write them, and secrets from files', () => {
  writeFileSync(join(dir, 'secret'), 'from a file\n')
  expect(
    read(
      `settings: { SMTP_PORT: 25, LDAP_ENABLED: true, SMTP_PASSWORD: { fromFile: ${join(dir, 'secret')} }, SMTP_USER: null }`,
    ),
  ).toEqual({
    settings: { SMTP_PORT: '25', LDAP_ENABLED: 'true', SMTP_PASSWORD: 'from a file', SMTP_USER: null },
  })
})

it.each([
  ['settings: { SMTP_PASSWORD: plain }', /is a secret/],
  ['settings: { SMTP_PASSWORD: { fromEnv: NO_SUCH_VARIABLE } }', /NO_SUCH_VARIABLE is not set/],
  [
    'notificationGroups: [{ id: 1, channels: { webhook: { secret: whsec_plain } } }]',
    /webhook of group 1 does not belong into the file/,
  ],
  ['settings: { SMTP_HOST: [1] }', /neither a text nor a reference/],
  ['setings: {}', /has setings; known are settings, tags, notificationGroups, rules/],
  ['- a', /holds no document/],
  ['a: [', /cannot be read/],
])('%s is refused', (text, message) => {
  expect(() => read(text)).toThrow(message)
})
