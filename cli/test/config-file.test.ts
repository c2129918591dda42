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

it('a document is unchanged after writing and reading its file, with its secret as a reference', () => {
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

it('accepts plain numbers and booleans, and secrets from files', () => {
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
  ['settings: { SMTP_PASSWORD: { fromEnv: NO_SUCH_VARIABLE } }', /NO_SUCH_VARIABLE, which is not set/],
  [
    'notificationGroups: [{ id: 1, channels: { webhook: { secret: whsec_plain } } }]',
    /webhook secret of group 1 must not be in the file/,
  ],
  ['settings: { SMTP_HOST: [1] }', /must be a text, a number, true, false, or a reference/],
  ['setings: {}', /unknown member setings. Known members are settings, tags, notificationGroups, rules/],
  ['- a', /contains no configuration document/],
  ['a: [', /Cannot read/],
])('%s is refused', (text, message) => {
  expect(() => read(text)).toThrow(message)
})
