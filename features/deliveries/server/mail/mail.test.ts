import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from '@portcullis/platform/server/db/sql.ts'
import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { SMTPServer } from 'smtp-server'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { ConfigTested } from '#features/contract.ts'

const base = '/prime/webui/generalconfig'
const dir = mkdtempSync(join(tmpdir(), 'portcullis-mail-'))
let t: TestApp

interface Taken {
  from: string
  to: string[]
  text: string
  user: string | undefined
  secure: boolean
}

/** Creates a certificate authority and a certificate for `localhost`. */
const makeCertificates = () => {
  const run = (...args: string[]) => execFileSync('openssl', args, { cwd: dir, stdio: 'ignore' })
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes']
  run('req', '-x509', ...key, '-subj', '/CN=Test CA', '-days', '36500', '-keyout', 'ca.key', '-out', 'ca.crt')
  run('req', ...key, '-subj', '/CN=localhost', '-keyout', 'server.key', '-out', 'server.csr')
  writeFileSync(join(dir, 'ext'), 'subjectAltName=DNS:localhost\n')
  run(
    'x509',
    '-req',
    '-in',
    'server.csr',
    '-CA',
    'ca.crt',
    '-CAkey',
    'ca.key',
    '-CAcreateserial',
    '-days',
    '36500',
    '-extfile',
    'ext',
    '-out',
    'server.crt',
  )
  const read = (name: string) => readFileSync(join(dir, name), 'utf8')
  return { ca: read('ca.crt'), cert: read('server.crt'), key: read('server.key') }
}

/** A real SMTP server that accepts mail from one user. */
const startSmtp = async (
  secure: boolean,
  options: {
    hideStartTls?: boolean
    hideUtf8?: boolean
    refuse?: () => boolean
  } = {},
) => {
  const taken: Taken[] = []
  const server = new SMTPServer({
    secure,
    key: certificates.key,
    cert: certificates.cert,
    ...(options.hideStartTls === true ? { disabledCommands: ['STARTTLS'] } : {}),
    ...(options.hideUtf8 === true ? { hideSMTPUTF8: true } : {}),
    onAuth: (auth, _session, done) =>
      auth.username === 'portcullis' && auth.password === 'correct horse'
        ? done(null, { user: auth.username })
        : done(new Error('Invalid user or password')),
    onRcptTo: (address, _session, done) =>
      address.address.startsWith('nobody') ? done(new Error('No such mailbox')) : done(),
    onData: (stream, session, done) => {
      const parts: Buffer[] = []
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.on('end', () => {
        if (options.refuse?.() === true) return done(Object.assign(new Error('Try later'), { responseCode: 451 }))
        taken.push({
          from: session.envelope.mailFrom === false ? '' : session.envelope.mailFrom.address,
          to: session.envelope.rcptTo.map((one) => one.address),
          text: Buffer.concat(parts).toString('utf8'),
          user: session.user,
          secure: session.secure,
        })
        done()
      })
    },
    logger: false,
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return { taken, port: (server.server.address() as { port: number }).port, close: () => server.close(() => {}) }
}

const certificates = makeCertificates()
const peers: { close(): void }[] = []
beforeAll(async () => {
  t = await startTestApp()
})
afterAll(async () => {
  for (const peer of peers) peer.close()
  await t.close()
  rmSync(dir, { recursive: true, force: true })
})

const post = async (path: string, body: unknown) =>
  (await t.admin()).post(path.startsWith('/') ? path : `${base}/${path}`, body)
const ok = async <T>(path: string, body: unknown): Promise<T> => {
  const answer = await post(path, body)
  expect(answer.statusCode, answer.body).toBe(200)
  return answer.json() as T
}
const test = (body: Record<string, string>) => ok<ConfigTested>('TestSMTP', body)
const smtp = (port: number, more: Record<string, string> = {}) => ({
  SMTP_HOST: 'localhost',
  SMTP_PORT: String(port),
  SMTP_FROM: 'portcullis@example.org',
  SMTP_USER: 'portcullis',
  SMTP_PASSWORD: 'correct horse',
  SMTP_CA: certificates.ca,
  ...more,
})
const mute = async (): Promise<number> => {
  const server: Server = createServer(() => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  peers.push(server)
  return (server.address() as { port: number }).port
}

describe('a mail server', () => {
  it.each([
    [false, 'starttls'],
    [true, 'tls'],
  ])('is tested with a real mail (TLS from the first byte: %s)', async (secure, SMTP_SECURITY) => {
    const server = await startSmtp(secure)
    peers.push(server)
    const tried = await test(smtp(server.port, { SMTP_SECURITY, SMTP_TEST_RECIPIENT: 'ada@example.org' }))
    expect(tried).toEqual({
      ok: true,
      steps: [
        { step: 'Connect', ok: true, message: 'The server answered with a trusted certificate.' },
        { step: 'Sign in', ok: true, message: 'The server accepted the user name and password.' },
        { step: 'Send mail', ok: true, message: 'The server accepted a mail to ada@example.org.' },
      ],
    })
    expect(server.taken).toMatchObject([
      { from: 'portcullis@example.org', to: ['ada@example.org'], user: 'portcullis', secure: true },
    ])
    expect(server.taken[0]?.text).toContain('Test mail from Portcullis')
  })

  it('shows step, cause and cure when its test fails, and stores nothing', async () => {
    const [starttls, plain] = [await startSmtp(false), await startSmtp(false, { hideStartTls: true })]
    peers.push(starttls, plain)
    for (const [body, step, message, field] of [
      [
        smtp(starttls.port, { SMTP_PASSWORD: 'wrong' }),
        'Sign in',
        /^localhost:\d+ rejected the user name or password/,
        'SMTP_USER',
      ],
      [
        smtp(starttls.port, { SMTP_TEST_RECIPIENT: 'nobody@example.org' }),
        'Send mail',
        /rejected the mail \(.*No such mailbox/,
        'SMTP_TEST_RECIPIENT',
      ],
      [smtp(starttls.port, { SMTP_CA: '' }), 'Connect', /certificate of \S+:\d+ is not trusted/, 'SMTP_CA'],
      [smtp(starttls.port, { SMTP_HOST: '127.0.0.1' }), 'Connect', /certificate of \S+:\d+ is not trusted/, 'SMTP_CA'],
      [smtp(plain.port), 'Connect', /^localhost:\d+ does not offer STARTTLS/, 'SMTP_SECURITY'],
      [smtp(1), 'Connect', /^Connection refused by localhost:1\./, 'SMTP_PORT'],
      [smtp(25, { SMTP_HOST: 'no-such-host.invalid' }), 'Connect', /no-such-host\.invalid:25/, 'SMTP_HOST'],
    ] as const) {
      const { ok: isOk, steps } = await test(body)
      const last = steps.at(-1)
      expect([isOk, last?.step, last?.message, last?.field]).toEqual([
        false,
        step,
        expect.stringMatching(message),
        field,
      ])
    }
    expect((await post('TestSMTP', smtp(1, { SMTP_TEST_RECIPIENT: 'a@b.c, d@e.f' }))).statusCode).toBe(400)
    const stored = await (await t.admin()).get(`${base}/GetConfigItemsByName/SMTP_HOST`)
    expect(stored.json()).toEqual({ SMTP_HOST: '' })
  })

  it('gets mails that are marked as automatic', async () => {
    const server = await startSmtp(false)
    peers.push(server)
    await test(smtp(server.port, { SMTP_TEST_RECIPIENT: 'eva@example.org' }))
    expect(server.taken.at(-1)?.text).toMatch(/^Auto-Submitted: auto-generated\r$/m)
  })

  it('gets an address with other letters before the @ only if it announces SMTPUTF8', async () => {
    const [able, unable] = [await startSmtp(false), await startSmtp(false, { hideUtf8: true })]
    peers.push(able, unable)
    const to = 'søren@example.org'
    expect((await test(smtp(able.port, { SMTP_TEST_RECIPIENT: to }))).ok).toBe(true)
    expect(able.taken.at(-1)?.to).toEqual([to])
    expect((await test(smtp(unable.port, { SMTP_TEST_RECIPIENT: to }))).steps.at(-1)).toEqual({
      step: 'Send mail',
      ok: false,
      field: 'SMTP_TEST_RECIPIENT',
      message: expect.stringMatching(/does not accept the letters before the @ in søren@example.org/),
    })
    expect(unable.taken).toEqual([])
    // The library encodes a domain in ASCII.
    expect((await test(smtp(unable.port, { SMTP_TEST_RECIPIENT: 'eva@bücher.example' }))).ok).toBe(true)
  })

  it('causes a timeout if it accepts and stays silent', async () => {
    const { ok: isOk, steps } = await test(smtp(await mute()))
    expect([isOk, steps[0]?.message]).toEqual([false, expect.stringMatching(/No answer from localhost:\d+/)])
  }, 30_000)
})

describe('a link for a new account', () => {
  it('is mailed from the configured address, retried after an outage, and stored sealed meanwhile', async () => {
    let isRefusing = true
    const server = await startSmtp(false, { refuse: () => isRefusing })
    peers.push(server)
    const before = await ok<{ isMailed: boolean }>('/prime/webui/admin/adduser', {
      userName: 'before',
      userProfile: 30,
      email: 'b@example.org',
    })
    expect(before.isMailed).toBe(false)
    await ok('AddOrUpdateSMPTConfig', smtp(server.port))
    await ok('SetServerDomainName', { SERVER_DOMAIN_NAME: 'https://portcullis.example.org' })
    const made = await ok<{ isMailed: boolean; setPasswordUrl: string }>('/prime/webui/admin/adduser', {
      userName: '<b>ada</b>',
      userProfile: 30,
      email: 'ada@example.org',
    })
    expect([made.isMailed, made.setPasswordUrl]).toEqual([
      true,
      expect.stringMatching(/^https:\/\/portcullis\.example\.org\/set-password#token=pl_/),
    ])
    const token = made.setPasswordUrl.split('#token=')[1] as string
    await t.server.mail.deliver()
    expect(server.taken).toEqual([])
    const [row] = await t.db
      .withClient((client) => client.query('select m::text as text, m.error from mails m'))
      .then(({ rows }) => rows)
    expect([row.error, row.text.includes(token), row.text.includes(Buffer.from(token).toString('hex'))]).toEqual([
      expect.stringMatching(/Try later/),
      false,
      false,
    ])
    t.clock.advance(31_000)
    expect(await t.server.mail.health()).toMatchObject({
      status: 'Error',
      description: expect.stringMatching(/Try later.*1 mail is waiting/),
    })
    isRefusing = false
    await t.server.mail.deliver()
    expect(server.taken).toHaveLength(1)
    const { text } = server.taken[0] as Taken
    const plain = text.replace(/=\r\n/g, '').replaceAll('=3D', '=')
    expect(plain).toContain(token)
    expect(plain).toContain('&lt;b&gt;ada&lt;/b&gt;')
    expect(plain).toContain('https://portcullis.example.org/set-password')
    await t.server.mail.deliver()
    expect(server.taken).toHaveLength(1)
    t.clock.advance(31_000)
    expect(await t.server.mail.health()).toMatchObject({ status: 'OK', description: 'The last mail was sent.' })
  }, 30_000)

  it('is not sent to a mail server that was changed after it was queued', async () => {
    let isRefusing = true
    const [first, thief] = [await startSmtp(false, { refuse: () => isRefusing }), await startSmtp(false)]
    peers.push(first, thief)
    const make = (userName: string) =>
      ok<{ isMailed: boolean }>('/prime/webui/admin/adduser', {
        userName,
        userProfile: 10,
        email: `${userName}@example.org`,
      })
    await ok('AddOrUpdateSMPTConfig', smtp(first.port))
    expect((await make('bea')).isMailed).toBe(true)
    await t.server.mail.deliver()
    await t.server.changeRequests.lift(systemActor('command line'), 60)
    await ok('AddOrUpdateSMPTConfig', smtp(thief.port))
    isRefusing = false
    t.clock.advance(31_000)
    await t.server.mail.deliver()
    expect([first.taken, thief.taken]).toEqual([[], []])
    const audit = await t.db.query<{ details: string }>(
      sql`select r.record::jsonb ->> 'details' as details from audit_records r where r.action = 'mail.dropped'`,
    )
    expect(audit).toEqual([
      { details: expect.stringMatching(/bea@example\.org: The mail server changed after this mail was queued/) },
    ])
    expect(await t.db.query(sql`select 1 from mails`)).toEqual([])
    expect((await make('cleo')).isMailed).toBe(true)
    await t.server.mail.deliver()
    expect(thief.taken).toMatchObject([{ to: ['cleo@example.org'] }])
  }, 30_000)
})
