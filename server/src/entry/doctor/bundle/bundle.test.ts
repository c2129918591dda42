// Invariant: A support bundle contains no secret, and no name unless it was requested.

import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { storageStick } from '@portcullis/domain/testing'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { startTestApp, type TestApp } from '#test/app.ts'
import { enrolAgent } from '#test/builders.ts'
import { codeCache } from '#test/code-cache.ts'
import { redact } from './redact.ts'
import { createScrub } from './scrub.ts'
import { readVocabulary } from './vocabulary.ts'

const run = promisify(execFile)
const cli = fileURLToPath(new URL('../../../../../cli/src/main.ts', import.meta.url))
const root = fileURLToPath(new URL('../../../../../', import.meta.url))
const dir = mkdtempSync(join(tmpdir(), 'portcullis-bundle-'))
const dataDir = join(dir, 'data')

const canary = (): string => `canary${randomBytes(6).toString('hex')}`
const secrets = {
  'SMTP password': canary(),
  'former SMTP password': canary(),
  'bind password': canary(),
  'account password': `${canary()} pw`,
  'password of the database': canary(),
  'password of NATS': canary(),
  'password of the proxy': canary(),
  'first password': canary(),
}
/** Secrets of other systems in log lines: short, so that only the words before them say what they are. */
const mentioned = {
  assignment: 'zQxw7',
  'quoted assignment': 'Vk9z',
  'rest of a passphrase': 'kqzv wxyz',
  'basic credentials': 'enE6eno',
  'bearer token': 'gkw9',
  'API key': 'qz77',
  'word after a password': 'Hzk2',
  'quoted passphrase': 'server starts zkq',
  'escaped JSON': 'wvj8',
  'URL form': 'hvq3',
  'second word for a secret': 'pqz6',
  'member of a line': 'jx1q',
  number: '7310942',
  'nested header': 'QWqz',
  'word after a failed sign-in': 'gqzj',
}
const personal = {
  'user name': `ada-${randomBytes(4).toString('hex')}`,
  'last name': 'Lovelace-Wörthing',
  email: `ada.${canary()}@example.net`,
  host: `desk-${randomBytes(4).toString('hex')}`,
  // A word of the product that is also a name here.
  'host with a common name': 'gateway',
  address: '10.77.88.99',
  'IPv6 address': '2001:db8::77:88',
  'MAC address': '02:4f:3a:99:12:77',
  'serial number': 'SN4711-0815',
  'mail server': `${canary()}.example.net`,
  'base DN': `dc=${canary()}`,
}
let t: TestApp

beforeAll(async () => {
  t = await startTestApp({ listen: true })
  const admin = await t.admin()
  const post = async (path: string, body: unknown): Promise<void> => {
    const answer = await admin.post(`/prime/webui/${path}`, body)
    expect(answer.statusCode, answer.body).toBe(200)
  }
  for (const which of ['former SMTP password', 'SMTP password'] as const)
    await post('generalconfig/AddOrUpdateSMPTConfig', {
      SMTP_HOST: personal['mail server'],
      SMTP_PORT: '2525',
      SMTP_FROM: personal.email,
      SMTP_PASSWORD: secrets[which],
    })
  await post('generalconfig/AddOrUpdateLDAPServer', {
    LDAP_URL: 'ldaps://directory.example.org',
    LDAP_SECURITY: 'tls',
    LDAP_BASE_DN: personal['base DN'],
    LDAP_BIND_DN: 'cn=reader',
    LDAP_BIND_PASSWORD: secrets['bind password'],
  })
  await post('admin/adduser', {
    userName: personal['user name'],
    userProfile: 20,
    password: secrets['account password'],
    lastName: personal['last name'],
    email: personal.email,
  })
  for (const hostname of [personal.host, personal['host with a common name']])
    await enrolAgent(t, { facts: { hostname }, devices: [storageStick({ serial: personal['serial number'] })] })

  mkdirSync(join(dataDir, 'logs'), { recursive: true, mode: 0o700 })
  const line = (fields: Record<string, unknown>): string =>
    `${JSON.stringify({ level: 40, time: '2031-05-04T10:11:12.345Z', ...fields })}\n`
  writeFileSync(
    join(dataDir, 'logs', 'server.log'),
    [
      line({
        msg: 'request failed',
        route: '/prime/webui/agents',
        err: { type: 'Error', message: `${personal.host} at ${personal.address}:8080` },
      }),
      line({ msg: 'request failed', host: personal.host, user: personal['user name'], [personal['serial number']]: 1 }),
      line({
        msg: `closed ${personal['IPv6 address']} and ${personal['MAC address']} of ${personal['host with a common name']}`,
      }),
      line({ msg: 'cannot send a mail', to: personal.email, by: personal['last name'], over: personal['mail server'] }),
      line({ msg: `bind failed: password=${mentioned.assignment}` }),
      line({ msg: `config {"dbPassword": "${mentioned['quoted assignment']}"}` }),
      line({ msg: `smtp passphrase: ${mentioned['rest of a passphrase']}` }),
      line({ msg: `sent Authorization Basic ${mentioned['basic credentials']}, bearer ${mentioned['bearer token']}` }),
      line({ msg: `the peer wants ApiKey ${mentioned['API key']}` }),
      line({ msg: `the password is incorrect; the password ${mentioned['word after a password']} was refused` }),
      line({ msg: `secret '${mentioned['quoted passphrase']}' is unknown` }),
      line({ msg: JSON.stringify(JSON.stringify({ client_secret: mentioned['escaped JSON'] })) }),
      line({ msg: `GET /a?access_token%3D${mentioned['URL form']}` }),
      line({ msg: `unknown token, API key ${mentioned['second word for a secret']}` }),
      line({ msg: 'request failed', bindPassword: mentioned['member of a line'], pwd: Number(mentioned.number) }),
      line({ msg: 'request failed', headers: { authorization: [`x ${mentioned['nested header']}`] } }),
      line({ msg: `auth failed for ${personal['user name']}: ${mentioned['word after a failed sign-in']}` }),
      `passwd ${mentioned['word after a password']}\n`,
      line({
        msg: 'slow statement',
        pool: 'serve',
        ms: 1_234,
        statement: 'select a.agent_id from agents a where a.host = $1',
      }),
      `Error: connect postgres://portcullis:${secrets['password of the database']}@db/portcullis, ${secrets['first password']}\n`,
      `    at ${personal['serial number']} (${personal['base DN']})\n`,
    ].join(''),
  )
  writeFileSync(
    join(dataDir, 'postgres.log'),
    [
      '2031-05-04 10:11:12.345 UTC [4711] LOG:  checkpoint complete: wrote 12 buffers\n',
      `2031-05-04 10:11:12.345 UTC [4711] ERROR:  invalid input syntax for type uuid: "${personal.host}"\n`,
      `2031-05-04 10:11:12.345 UTC [4711] DETAIL:  Key (host)=(${personal.host}) already exists.\n`,
      `2031-05-04 10:11:12.345 UTC [4711] STATEMENT:  select '${secrets['SMTP password']}'\n`,
    ].join(''),
  )
})
afterAll(async () => {
  await t.close()
  rmSync(dir, { recursive: true })
})

/** Writes a bundle as an operator does, and unpacks it with the tar of the system. */
const bundle = async (name: string, args: readonly string[] = []): Promise<Map<string, string>> => {
  const { host, port, user } = inject('postgres')
  const path = join(dir, `${name}.tar.gz`)
  const { stdout } = await run(process.execPath, [cli, 'doctor', '--bundle', path, ...args], {
    env: {
      ...codeCache,
      PATH: process.env.PATH ?? '',
      HOME: dir,
      PORTCULLIS_DATA_DIR: dataDir,
      PORTCULLIS_PORT: '0',
      PORTCULLIS_KEY_FILE: join(t.keyDir, 'key'),
      PORTCULLIS_ADMIN_PASSWORD: secrets['first password'],
      PORTCULLIS_OUTBOUND_PROXY: `http://user:${secrets['password of the proxy']}@127.0.0.1:1`,
      NATS_URL: `nats://user:${secrets['password of NATS']}@127.0.0.1:1`,
      DATABASE_URL: `postgres://${user}:${secrets['password of the database']}@/${t.database}?host=${encodeURIComponent(host)}&port=${port}`,
    },
  })
  expect(stdout).toContain(`Support bundle: ${path}`)
  expect(statSync(path).mode & 0o777).toBe(0o600)
  const { stdout: list } = await run('tar', ['-tzf', path])
  const names = list.trim().split('\n')
  const files = await Promise.all(
    names.map(async (one) => [one, (await run('tar', ['-xzOf', path, one])).stdout] as const),
  )
  return new Map(files)
}

/** Returns the planted values that the files contain, in plain, Base64, hexadecimal or URL form. */
const foundIn = (files: ReadonlyMap<string, string>, planted: Readonly<Record<string, string>>): string[] =>
  Object.entries(planted).flatMap(([what, text]) => {
    const forms = [
      text,
      encodeURIComponent(text),
      Buffer.from(text).toString('hex'),
      Buffer.from(text).toString('base64').slice(0, -4),
    ]
    return [...files].flatMap(([name, content]) =>
      forms.some((form) => content.toLowerCase().includes(form.toLowerCase())) ? [`${what} in ${name}`] : [],
    )
  })

const mentionedIn = (files: ReadonlyMap<string, string>): string[] =>
  Object.entries(mentioned).flatMap(([what, text]) =>
    [...files].flatMap(([name, content]) => (content.includes(text) ? [`${what} in ${name}`] : [])),
  )

const keySecrets = (): Record<string, string> =>
  Object.fromEntries(
    (readFileSync(join(t.keyDir, 'key'), 'utf8').match(/[A-Za-z0-9+/_-]{32,}={0,2}/g) ?? []).map((word, i) => [
      `key ${i}`,
      word,
    ]),
  )

describe('portcullis doctor --bundle', () => {
  it('contains neither secrets nor names, and stays useful', async () => {
    const files = await bundle('plain')
    expect(foundIn(files, { ...secrets, ...keySecrets() })).toEqual([])
    // "gateway" alone is also a word in the name of a part of the server.
    expect(foundIn(files, personal)).toEqual([])
    expect(mentionedIn(files)).toEqual([])

    expect(files.get('README.txt')).toContain('contains no password')
    for (const name of [...files.keys()].slice(1)) expect(files.get('README.txt')).toContain(name)
    expect(files.get('findings.txt')).toMatch(/^ok database: it responds$/m)
    expect(JSON.parse(files.get('settings.json') as string)).toMatchObject({
      SMTP_PORT: '2525',
      SMTP_HOST: 'set',
      SMTP_PASSWORD: 'set',
      LDAP_SECURITY: 'tls',
    })
    expect(JSON.parse(files.get('environment.json') as string)).toMatchObject({
      PORTCULLIS_PORT: '0',
      DATABASE_URL: 'set',
      PORTCULLIS_ADMIN_PASSWORD: 'set',
    })
    expect(JSON.parse(files.get('statements.json') as string).fromLog).toEqual([
      { statement: 'select a.agent_id from agents a where a.host = $1', times: 1, maxMs: 1_234 },
    ])
    expect(files.get('postgres.log')).toBeUndefined()
    const log = (files.get('server.log') as string).split('\n')
    const [first, second] = log.slice(0, 2).map((line) => JSON.parse(line))
    expect(first).toMatchObject({ level: 40, msg: 'request failed', route: '/prime/webui/agents' })
    // The same host has the same pseudonym wherever it appears.
    expect(second.host).toMatch(/^~[0-9a-f]{8}$/)
    expect(first.err.message).toMatch(new RegExp(`^${second.host} at ~[0-9a-f]{8}:8080$`))
  })

  it('keeps names on request, and never secrets', async () => {
    const files = await bundle('personal', ['--include-personal-data'])
    expect(foundIn(files, { ...secrets, ...keySecrets() })).toEqual([])
    expect(mentionedIn(files)).toEqual([])
    expect(files.get('server.log')).toContain('the password is incorrect; the password [secret] was refused')
    const found = foundIn(files, personal)
    for (const what of Object.keys(personal)) expect(found.join('\n')).toContain(what)
    expect(files.get('README.txt')).toContain('CONTAINS names')
  })

  it('never overwrites a file, and says why it cannot write', async () => {
    const env = { ...codeCache, PATH: process.env.PATH ?? '', HOME: dir, PORTCULLIS_DATA_DIR: dataDir }
    const path = join(dir, 'existing')
    writeFileSync(path, 'kept')
    const bad = (args: readonly string[]) => run(process.execPath, [cli, 'doctor', ...args], { env })
    await expect(bad(['--bundle', path])).rejects.toMatchObject({
      code: 1,
      stderr: `${path} already exists. Choose another file.\n`,
    })
    expect(readFileSync(path, 'utf8')).toBe('kept')
    await expect(bad(['--bundle', join(dir, 'no', 'b')])).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^The folder of .* does not exist\. Create it first\.\n$/),
    })
    await expect(bad(['--include-personal-data'])).rejects.toMatchObject({
      stderr: expect.stringContaining('requires --bundle'),
    })
  })
})

describe('a word for a secret', () => {
  const known = new Set(['is', 'incorrect', 'the', 'of', 'token', 'for', 'and', 'in', 'update', 'set'])
  const isKnown = (word: string): boolean => known.has(word.toLowerCase())
  it.each([
    ['the password is incorrect', 'the password is incorrect'],
    ['the token of Hunter2', 'the token of Hunter2'],
    ['the password is Hunter2', 'the password is [secret]'],
    ['password 1234', 'password [secret]'],
    ['password !!!', 'password [secret]'],
    ['auth failed for admin: Hunter2', 'auth failed for admin: [secret]'],
    ['Invalid login: 535 5.7.8 Error: Hunter2 incorrect', 'Invalid login: 535 5.7.8 [secret] [secret] incorrect'],
    ['bind refused: "a, b"', 'bind refused: [secret] [secret]'],
    ['LDAP bind failed: connect 10.1.2.3:389, 49', 'LDAP bind failed: [secret] 10.1.2.3:389, 49'],
    ['login failed at 10:11:12', 'login failed at 10:11:12'],
    ['checkpoint complete: wrote 12', 'checkpoint complete: wrote 12'],
    ['password: a b, c=d\nnext', 'password: [secret]\nnext'],
    ['DB_PASSWD=x', 'DB_PASSWD=[secret]'],
    ['X-Api-Key: x', 'X-Api-Key: [secret]'],
    ["token 'a b' and", 'token [secret] and'],
    ['update t set token = $1, secret=$2', 'update t set token = $1, secret=$2'],
    ["update t set token = $1, secret='x'", 'update t set token = $1, secret=[secret]'],
  ])('hides only its secret: %s', (text, expected) => expect(redact(text, isKnown)).toBe(expected))
  it('takes no long time for any text', () => {
    const started = process.cpuUsage()
    for (const unit of ['token', 'password ', 'token:', "secret '", 'basic ', 'api key ', 'token%3d', 'bind error:'])
      redact(unit.repeat(300_000 / unit.length), isKnown)
    expect(process.cpuUsage(started).user).toBeLessThan(3_000_000)
  })
})

describe('texts in a bundle', () => {
  const scrub = createScrub({ vocabulary: readVocabulary(root), names: [], secrets: [], keepPersonal: false })
  it.each([
    ['the server listens on 0.0.0.0:8080', 'the server listens on 0.0.0.0:8080'],
    ['PostgreSQL 18.4, version 156, 12.5 GB free', 'PostgreSQL 18.4, version 156, 12.5 GB free'],
    ['2031-05-04 10:11:12.345 UTC [4711] LOG:  checkpoint complete: wrote 12 buffers', null],
  ])('keep words of the product: %s', (text, expected) => expect(scrub(text)).toBe(expected ?? text))

  it.each([
    ['10.1.2.3'],
    ['fe80::1ff:fe23:4567:890a'],
    ['00:1b:44:11:3a:b7'],
    ['ada@works.example'],
    ['WORKS\\ada-k'],
    ['/home/ada-k/data'],
    ['0123456789012'],
    ['Дмитрий'],
    ['00-1B-44-11-3A-B7'],
  ])('replace %s', (text) => {
    const result = scrub(text)
    for (const part of text.split(/[/@\\]/).filter((one) => !['', 'home', 'data'].includes(one)))
      expect(result).not.toContain(part)
    expect(scrub(text)).toBe(result)
  })
})
