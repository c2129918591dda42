// Invariant: No output returns a secret that was entered.

import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { configGroups, permissionsOf } from '@portcullis/features/contract.ts'
import { Secret, TOTP } from 'otpauth'
import { api, type Environment, withEnvironment } from '../kit/environment.ts'
import { filled, offeredBy, readDocument } from '../kit/operations.ts'
import { adminPassword } from '../kit/server.ts'
import { startSmtpReceiver } from '../kit/smtp-receiver.ts'
import { atLeast, atMost, type Check, type Outcome } from '../kit/verdict.ts'
import { forEachOf } from '../kit/wire.ts'
import { integrations, smtpAt } from './configuration.ts'

/** A planted secret that must not appear in any output. `of` says which kind of secret it is. */
interface Canary {
  of: string
  text: string
}

/** Returns all encodings of a text, including Base64 at each of the three byte offsets. */
const formsOf = (text: string): string[] => {
  const bytes = Buffer.from(text)
  const base64 = [0, 1, 2].map((offset) => {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/={1,2}$/, '')
    // The outer characters share bits with neighbouring bytes.
    return encoded.slice(offset === 0 ? 0 : offset + 1, -1)
  })
  const url = base64.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))
  return [
    ...new Set([
      text,
      encodeURIComponent(text),
      bytes.toString('hex'),
      bytes.toString('hex').toUpperCase(),
      ...base64,
      ...url,
    ]),
  ]
}

/** Plants secrets wherever the server accepts or creates one. Responses that show a secret once are not searched. */
const plant = async (environment: Environment, smtpPort: number): Promise<{ canaries: Canary[]; errors: string[] }> => {
  const { call, admin, addPerson, addHost, enrolmentToken, workerToken, wire, keyFile } = environment
  const canaries: Canary[] = []
  const errors: string[] = []
  const take = (of: string, text: unknown): string => {
    canaries.push({ of, text: String(text) })
    return String(text)
  }
  const make = (of: string): string => take(of, `canary-${randomBytes(12).toString('hex')}`)
  const post = (path: string, body?: unknown, token = admin.token): Promise<Record<string, unknown>> =>
    call('POST', `${api}/${path}`, body, token)

  const config = 'generalconfig'
  const smtp = smtpAt(smtpPort, 'starttls')
  // Set it twice, because the history keeps the first value.
  for (const which of ['former SMTP password', 'SMTP password'])
    await post(`${config}/AddOrUpdateSMPTConfig`, { ...smtp, SMTP_USER: 'gate', SMTP_PASSWORD: make(which) })
  for (const [name, settings] of Object.entries(integrations(make)))
    await post(`${config}/AddOrUpdate${name}`, settings)
  await post(`${config}/AddOrUpdateBackup`, { BACKUP_PASSPHRASE: make('passphrase of backups') })
  for (const id of [1, 2]) {
    const secret = `whsec_${randomBytes(32).toString('base64')}`
    take(`webhook secret of group ${id}`, secret.slice(6))
    await post('systemNotification/notifications/update', {
      id,
      channels: { webhook: { isEnabled: true, url: 'https://127.0.0.1:9/hook', secret, ca: '' } },
    })
  }
  const base = 'agents/agentless'
  for (let i = 0; i < 5; i++)
    await post(`${base}/connectiondetails`, {
      computerName: `canary-${i}.example.org`,
      userName: 'gate',
      password: make(`password of connection ${i}`),
    })
  await call(
    'PUT',
    `${api}/${base}/workerpollerdetails`,
    { defaults: { userName: 'gate', password: make('default password of connections') } },
    admin.token,
  )
  for (let i = 0; i < 5; i++) {
    const userName = `canary-${i}`
    const password = make(`password of account ${i}`)
    await post('admin/adduser', { userName, userProfile: 30, password })
    const answer = await call('POST', `${api}/Auth/LocalLogin`, { userName, password })
    take(`access token ${i}`, answer.token)
    take(`refresh token ${i}`, answer.refreshToken)
    if (i > 0) continue
    const { secret } = await post('Auth/Mfa/totp/start', { password }, String(answer.token))
    take('TOTP secret', secret)
    const { recoveryCodes } = await post(
      'Auth/Mfa/totp/confirm',
      { code: new TOTP({ secret: Secret.fromBase32(String(secret)) }).generate() },
      String(answer.token),
    )
    for (const code of (recoveryCodes as string[]).slice(0, 3)) take('recovery code', code)
    const second = await call('POST', `${api}/Auth/LocalLogin`, { userName, password })
    take('token between the factors', second.mfaToken)
  }
  take('password of the first administrator', adminPassword)
  const own = await addPerson('canary-changing', 20)
  take('former password', own.password)
  await post('admin/updateuserdetails', { oldPassword: own.password, newPassword: make('new password') }, own.token)
  for (const userProfile of [10, 20, 30] as const) {
    const body = { name: `canary ${userProfile}`, userProfile, scopes: permissionsOf(userProfile) }
    take(`API token of profile ${userProfile}`, (await post('admin/apiTokens', body)).token)
  }
  for (let i = 0; i < 3; i++) take('enrolment token', await enrolmentToken())
  take('worker token', await workerToken())
  take('worker key', await environment.addWorker())
  take('download ticket', (await post('Auth/Ticket')).ticket)
  take('session of a host', (await addHost('canary-host')).token)
  const link = JSON.stringify(await post('admin/adduser', { userName: 'canary-invited', userProfile: 30 }))
  take('link to set a password', /token=([\w-]{20,})/.exec(link)?.[1] ?? 'no link was created')
  // Every key in the key file.
  for (const word of readFileSync(keyFile, 'utf8').match(/[A-Za-z0-9+/_-]{32,}={0,2}/g) ?? []) take('key file', word)

  // Errors for requests whose body or URL contains a secret.
  const refused: [string, unknown][] = [
    [`${config}/AddOrUpdateSMPTConfig`, { ...smtp, SMTP_PASSWORD: make('password that is refused'), SMTP_NOTHING: 1 }],
    [`${config}/AddOrUpdateSMPTConfig`, { ...smtp, SMTP_PASSWORD: make('password that is too long').repeat(50) }],
    [`${config}/TestLDAP`, { LDAP_URL: 'ldap://127.0.0.1:9', LDAP_TEST_PASSWORD: make('password for a test') }],
    [`${config}/TestSMTP`, { ...smtp, SMTP_PASSWORD: make('password of a test mail') }],
    [`${config}/TestISE`, { ISE_URL: 'https://127.0.0.1:9', ISE_PASSWORD: make('password of a tested ISE') }],
    [
      'systemNotification/notifications/update',
      { id: 1, channels: { webhook: { secret: make('invalid webhook secret') } } },
    ],
    ['admin/adduser', { userName: 'x', userProfile: 30, password: make('short').slice(0, 30), nothing: 1 }],
    ['Auth/LocalLogin', { userName: 'admin', password: make('wrong password') }],
    ['Auth/LocalLogin', { userName: make('password as a name'), password: 'x' }],
    ['Auth/SetPassword', { token: make('invalid link'), newPassword: make('password for an invalid link') }],
    [
      `${base}/connectiondetails`,
      { computerName: 'x', privateKey: make('invalid private key'), passphrase: make('passphrase'), nothing: 1 },
    ],
    ['admin/backup', { passphrase: make('passphrase of a backup'), nothing: true }],
  ]
  for (const [path, body] of refused)
    errors.push((await wire.send({ method: 'POST', path: `${api}/${path}`, body, token: admin.token })).text)
  const ticket = `${api}/agents?_ticket=${make('invalid ticket')}`
  errors.push((await wire.send({ method: 'GET', path: ticket, token: admin.token })).text)
  errors.push((await wire.send({ method: 'GET', path: `${api}/agents`, token: make('invalid bearer token') })).text)
  return { canaries, errors }
}

/** Returns every table as text, as a database reader sees it. */
const dumpOf = async ({ rows }: Environment): Promise<Map<string, string>> => {
  const tables = await rows<{ name: string }>(
    "SELECT oid::regclass::text AS name FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'",
  )
  const dump = new Map<string, string>()
  for (const { name } of tables) {
    const [all] = await rows<{ text: string | null }>(`SELECT string_agg(t::text, E'\\n') AS text FROM ${name} t`)
    dump.set(name, all?.text ?? '')
  }
  return dump
}

/** Decompresses a backup without passphrase: a plain line, then gzip. */
const unpacked = (backup: Buffer): Buffer => {
  const at = backup.indexOf(Buffer.from([0x1f, 0x8b]))
  return at < 0 ? backup : Buffer.concat([backup.subarray(0, at), gunzipSync(backup.subarray(at))])
}

/** Writes a support bundle as an operator does, with names, and returns its files as text. */
const supportBundle = async ({ server, database, keyFile }: Environment, root: string): Promise<Buffer> => {
  const path = join(server.dataDir, 'support.tar.gz')
  const args = [join(root, 'cli/src/main.ts'), 'doctor', '--bundle', path, '--include-personal-data']
  await promisify(execFile)(process.execPath, args, {
    env: {
      PATH: process.env.PATH ?? '',
      HOME: server.dataDir,
      PORTCULLIS_DATA_DIR: server.dataDir,
      PORTCULLIS_KEY_FILE: keyFile,
      PORTCULLIS_PORT: new URL(server.url).port,
      PORTCULLIS_ADMIN_PASSWORD: adminPassword,
      DATABASE_URL: database.url,
    },
  })
  return gunzipSync(readFileSync(path))
}

/** Checks that no stored secret appears in any output of the server. */
export const canaries: Check = {
  name: 'canaries',
  what: 'Plants secrets of every kind (configuration, connections, webhooks, accounts, second factors, tokens, keys, refused requests) and searches for them in plain, hexadecimal, Base64 and URL form. Searches all GET responses to an Administrator, errors, exports, the configuration document, the audit trail, mails, the log at its most verbose level, every table, a backup without a passphrase, and a support bundle with personal data.',
  run: ({ root }): Promise<Outcome> =>
    withEnvironment({ root, env: { PORTCULLIS_LOG_LEVEL: 'trace' } }, async (environment) => {
      const { wire, admin, server } = environment
      using receiver = await startSmtpReceiver()
      const { canaries: planted, errors } = await plant(environment, receiver.port)
      const sinks = new Map<string, Buffer>()
      const keep = (where: string, text: string | Buffer): void => void sinks.set(where, Buffer.from(text as string))
      for (const [i, text] of errors.entries()) keep(`refusal ${i}`, text)

      const offered = offeredBy(await readDocument(environment))
      let answered = 0
      const read = async (where: string, path: string): Promise<void> => {
        const got = await wire.send({ method: 'GET', path, token: admin.token, isHeadEnough: true })
        if (got.status === 200) answered++
        keep(where, got.text + JSON.stringify({ ...got.headers, 'set-cookie': undefined }))
      }
      const names = Object.values(configGroups).flatMap(({ items }) => Object.keys(items))
      await forEachOf(
        offered.filter(({ method }) => method === 'GET'),
        4,
        ({ id, path }) =>
          read(
            `GET ${id}`,
            `${filled(path, { names: names.join(','), prefixes: 'SMTP_' })}${/\{data\}|agents$|audit/i.test(path) ? '?PageSize=1000' : ''}`,
          ),
      )
      const prefixes = ['%25', '_', 'S', 'SM', 'smtp', ...new Set(names.map((name) => name.split('_')[0] as string))]
      for (const prefix of prefixes)
        await read(`items by ${prefix}`, `${api}/generalconfig/GetConfigItemsByPrefix/${prefix}`)
      for (const name of names) await read(`item ${name}`, `${api}/generalconfig/GetConfigItemsByName/${name}`)
      await read('audit trail', `${api}/events/GetAuditsIntegration?PageSize=10000`)
      await read('history', `${api}/generalconfig/history?PageSize=1000`)

      await forEachOf(
        offered.filter(({ id, method }) => method === 'POST' && /^export|Export/.test(id) && id !== 'exportReport'),
        2,
        async ({ id, path }) => {
          const got = await wire.send({ method: 'POST', path, token: admin.token, body: 'null' })
          if (got.status === 200) answered++
          keep(`POST ${id}`, got.text)
        },
      )
      const backup = await fetch(`${server.url}${api}/admin/backup`, {
        method: 'POST',
        headers: { authorization: `Bearer ${admin.token}` },
      })
      keep('backup', unpacked(Buffer.from(await backup.arrayBuffer())))
      // The caller's passphrase would hide the keys from a text search, so check the status instead.
      const withKeys = await fetch(`${server.url}${api}/admin/backup`, {
        method: 'POST',
        headers: { authorization: `Bearer ${admin.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ withKeys: true, passphrase: 'chosen by the caller' }),
      })
      keep('backup with keys', Buffer.from(await withKeys.arrayBuffer()))
      // Trigger mails: a test mail and an invitation.
      const post = (path: string, body: unknown) =>
        wire.send({ method: 'POST', path: `${api}/${path}`, token: admin.token, body })
      await post('generalconfig/AddOrUpdateSMPTConfig', { SMTP_SECURITY: 'none', SMTP_USER: '', SMTP_PASSWORD: '' })
      await post('generalconfig/TestSMTP', { SMTP_TEST_TO: 'somebody@example.org' })
      const mailed = { userName: 'canary-mailed', userProfile: 30, email: 'mailed@example.org' }
      const invited = await post('admin/adduser', mailed)
      for (let i = 0; i < 200 && receiver.mails.length === 0; i++) await pause(50)
      keep('answer of an invitation', invited.text)
      for (const [i, mail] of receiver.mails.entries()) keep(`mail ${i}`, mail)
      for (const [table, text] of await dumpOf(environment)) keep(`table ${table}`, text)
      keep('log', server.output())
      const bundle = await supportBundle(environment, root)
      keep('support bundle', bundle)

      const bytes = [...sinks.values()].reduce((sum, text) => sum + text.length, 0)
      const hits = new Set<string>()
      for (const { of, text } of planted)
        for (const form of formsOf(text))
          for (const [where, sink] of sinks) if (sink.includes(form)) hits.add(`${of} in ${where}`)
      return {
        findings: [
          atLeast('secrets planted', planted.length, 40),
          atLeast('answers looked through', answered, 150),
          atLeast('sinks', sinks.size, 250),
          atLeast('read', Math.round(bytes / 1000), 500, 'kB'),
          atLeast('lines of the log', server.output().split('\n').length, 5),
          atLeast('files of the support bundle', bundle.toString('latin1').split('ustar').length - 1, 8),
          atLeast('mails', receiver.mails.length, 1),
          atMost('found again', hits.size, 0),
          atMost('exports of the key file over HTTP', withKeys.status === 403 ? 0 : 1, 0),
        ],
        notes: [...hits].slice(0, 40),
      }
    }),
}
