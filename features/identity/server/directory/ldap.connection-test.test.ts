import { createServer, type Server, type Socket } from 'node:net'
import { unless } from '@portcullis/domain/testing'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { liftGate } from '@portcullis/server/test/approvals.ts'
import { createAuthority, type IssuedCertificate } from '@portcullis/server/test/certificates.ts'
import { person } from '@portcullis/server/test/people.ts'
import {
  peopleDn,
  readerDn,
  readerPassword,
  type Slapd,
  startSlapd,
  suffix,
  whyNoSlapd,
} from '@portcullis/server/test/slapd.ts'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ConfigTested } from '#features/contract.ts'

const reason = whyNoSlapd()

const password = 'a directory password'
const path = '/prime/webui/generalconfig/TestLDAP'
const save = '/prime/webui/generalconfig/AddOrUpdateLDAPServer'

const authority = await createAuthority()

describe('the test of a directory', unless(reason), () => {
  let slapd: Slapd
  let t: TestApp
  let group: string
  const peers: Server[] = []

  const items = (): Record<string, string> => ({
    LDAP_URL: slapd.tlsUrl,
    LDAP_SECURITY: 'tls',
    LDAP_CA: authority.pem,
    LDAP_BIND_DN: readerDn,
    LDAP_BIND_PASSWORD: readerPassword,
    LDAP_BASE_DN: suffix,
    LDAP_MANAGER_GROUP: group,
  })
  const post = async (url: string, body: unknown) => (await t.admin()).post(url, body)
  const test = async (more: Record<string, string> = {}): Promise<ConfigTested> => {
    const answer = await post(path, { ...items(), ...more })
    expect(answer.statusCode, answer.body).toBe(200)
    return answer.json()
  }
  const outline = ({ steps }: ConfigTested) => steps.map(({ step, ok }) => `${step}${ok ? '' : ' fails'}`)
  const failure = ({ steps }: ConfigTested) => steps.find(({ ok }) => !ok)?.message

  /** Starts a TCP server that handles each connection with `serve`. Returns its port. */
  const peer = async (serve: (socket: Socket) => void): Promise<number> => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      serve(socket)
    })
    peers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as { port: number }).port
  }
  const tlsPeer = async ({ cert, key }: IssuedCertificate): Promise<number> => {
    const { createServer: createTlsServer } = await import('node:tls')
    const server = createTlsServer({ cert, key }, (socket) => socket.on('error', () => {}))
    server.on('tlsClientError', () => {})
    peers.push(server)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return (server.address() as { port: number }).port
  }

  beforeAll(async () => {
    slapd = await startSlapd({ tls: { ...(await authority.issue(['127.0.0.1', 'localhost'])), ca: authority.pem } })
    const ada = await slapd.person('ada', password)
    const inner = await slapd.group('inner', [ada])
    group = await slapd.group('managers', [inner])
    await slapd.person('loner', password)
    await slapd.person('locked', password, { userAccountControl: '514' })
    t = await startTestApp()
    await liftGate(t)
  })
  afterEach(() => {
    for (const server of peers.splice(0)) server.close()
  })
  afterAll(async () => {
    await t?.close()
    await slapd?.stop()
  })

  it('reports each step, up to the profile from the groups', async () => {
    const tested = await test({ LDAP_TEST_USER: 'ada', LDAP_TEST_PASSWORD: password })
    expect([tested.ok, outline(tested)]).toEqual([
      true,
      ['Connect', 'TLS', 'Bind', 'Base DN', 'Find the person', 'Sign in', 'Groups'],
    ])
    expect(tested.steps.map(({ message }) => message)).toEqual([
      `${slapd.tlsUrl}: connected to 127.0.0.1 port ${slapd.tlsPort}.`,
      expect.stringMatching(
        /^The certificate "127\.0\.0\.1" \(issued by "Test authority", until 20\d\d-\d\d-\d\d\) is valid\.$/,
      ),
      `Bound as "${readerDn}".`,
      `"${suffix}" exists.`,
      `Found "uid=ada,${peopleDn}", account "ada".`,
      'The directory accepted the password.',
      `"${group}" gives the person the profile Manager.`,
    ])
  })

  it('checks the groups if no person is given, and stores nothing', async () => {
    const tested = await test({ LDAP_SECURITY: 'starttls', LDAP_URL: slapd.plainUrl })
    expect([tested.ok, outline(tested)]).toEqual([true, ['Connect', 'TLS', 'Bind', 'Base DN', 'Groups']])
    const stored = await (await t.admin()).get('/prime/webui/generalconfig/GetConfigItemsByPrefix/LDAP_')
    expect(stored.json()).toMatchObject({ LDAP_URL: '', LDAP_BIND_PASSWORD: '' })
  })

  it.each([
    [
      { LDAP_BIND_PASSWORD: 'wrong' },
      'Bind',
      'The directory refused the bind account. Check its DN and password.',
      'LDAP_BIND_DN',
    ],
    [{ LDAP_BIND_DN: 'reader' }, 'Bind', /bare name is rarely accepted/, 'LDAP_BIND_DN'],
    [{ LDAP_BIND_DN: 'reader@example.org' }, 'Bind', /refused the bind account/, 'LDAP_BIND_DN'],
    [{ LDAP_BIND_DN: 'EXAMPLE\\reader' }, 'Bind', /refused the bind account/, 'LDAP_BIND_DN'],
    [{ LDAP_BIND_DN: '' }, 'Base DN', /Check the base DN|requires a bind|cannot read/, /^LDAP_B(IND|ASE)_DN$/],
    [{ LDAP_BASE_DN: 'dc=example,dc=com' }, 'Base DN', /Check the base DN/, 'LDAP_BASE_DN'],
    [{ LDAP_BASE_DN: `ou=nowhere,${suffix}` }, 'Base DN', /Check the base DN/, 'LDAP_BASE_DN'],
    [
      { LDAP_TEST_USER: 'nobody' },
      'Find the person',
      /Check the base DN, the user filter and the name attribute/,
      'LDAP_TEST_USER',
    ],
    [
      { LDAP_TEST_USER: 'ada', LDAP_USERNAME_ATTRIBUTE: 'sAMAccountName' },
      'Find the person',
      /Check the base DN/,
      'LDAP_TEST_USER',
    ],
    [
      { LDAP_TEST_USER: 'ada', LDAP_USER_FILTER: '(|(uid={username})(uid=loner))' },
      'Find the person',
      /Narrow/,
      'LDAP_USER_FILTER',
    ],
    [{ LDAP_TEST_USER: 'locked' }, 'Find the person', /its entry is disabled/, 'LDAP_TEST_USER'],
    [{ LDAP_TEST_USER: 'ada', LDAP_TEST_PASSWORD: 'wrong' }, 'Sign in', /rejected this password/, 'LDAP_TEST_PASSWORD'],
    [{ LDAP_TEST_USER: 'loner' }, 'Groups', /not in any configured group/, 'LDAP_GROUP_ATTRIBUTE'],
    [{ LDAP_MANAGER_GROUP: `cn=nothing,${suffix}` }, 'Groups', /does not return "cn=nothing/, 'LDAP_MANAGER_GROUP'],
  ])('explains how to fix %j, and names the setting', async (more, step, message, field) => {
    const tested = await test(more)
    expect([tested.ok, outline(tested).at(-1)]).toEqual([false, `${step} fails`])
    expect(failure(tested)).toMatch(message)
    expect(tested.steps.at(-1)?.field).toMatch(field)
  })

  it('tests every address, and continues with the first that answers', async () => {
    const tested = await test({ LDAP_URL: `ldaps://127.0.0.1:1 ldaps://nowhere.invalid ${slapd.tlsUrl}` })
    expect([tested.ok, outline(tested)]).toEqual([
      false,
      ['Connect fails', 'Connect fails', 'Connect', 'TLS', 'Bind', 'Base DN', 'Groups'],
    ])
    expect(tested.steps.slice(0, 2).map(({ message }) => message)).toEqual([
      'ldaps://127.0.0.1:1: Nothing listens at this address. Check the port, and whether the directory runs.',
      'ldaps://nowhere.invalid: nowhere.invalid cannot be resolved. Check the name, and the DNS of this server.',
    ])
  })

  it.each([
    ['expired', () => authority.issue(['127.0.0.1'], 'expired'), /"127\.0\.0\.1" .* has expired. Renew it/],
    ['for another host', () => authority.issue(['other.example.org']), /"other\.example\.org" .* names another host/],
    [
      'of another authority',
      async () => (await createAuthority('Foreign')).issue(['127.0.0.1']),
      /issued by "Foreign".* untrusted/,
    ],
  ])('names a certificate that is %s', async (_what, issue, message) => {
    const tested = await test({ LDAP_URL: `ldaps://127.0.0.1:${await tlsPeer(await issue())}` })
    expect(outline(tested)).toEqual(['Connect', 'TLS fails'])
    expect(failure(tested)).toMatch(message)
  })

  describe('of a peer that is not a directory', () => {
    const startTls = async (serve: (socket: Socket) => void) =>
      test({ LDAP_SECURITY: 'starttls', LDAP_URL: `ldap://127.0.0.1:${await peer(serve)}` })
    /** ExtendedResponse with a result code. */
    const answer = (code: number): Buffer =>
      Buffer.from(`300c02010178070a01${code.toString(16).padStart(2, '0')}04000400`, 'hex')

    it('detects a web server', async () => {
      const tested = await startTls((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n<html>secret banner'))
      expect(outline(tested)).toEqual(['Connect', 'TLS fails'])
      expect(JSON.stringify(tested)).not.toContain('banner')
      expect(failure(tested)).toMatch(/not be a directory/)
    })

    it('detects a directory without STARTTLS, and a port without TLS', async () => {
      const refused = await startTls((socket) => socket.once('data', () => socket.write(answer(2))))
      expect(failure(refused)).toMatch(/does not offer STARTTLS/)
      const plain = await test({ LDAP_URL: `ldaps://127.0.0.1:${slapd.port}` })
      expect(failure(plain)).toMatch(/does not use TLS|answer in time/)
    })

    it('ignores everything sent before TLS began', async () => {
      // An attacker in between appends a successful bind response before the bind was sent.
      const injected = Buffer.from('300c02010261070a010004000400', 'hex')
      const tested = await startTls((socket) =>
        socket.once('data', () => socket.write(Buffer.concat([answer(0), injected]))),
      )
      expect(outline(tested)).toEqual(['Connect', 'TLS fails'])
      expect(failure(tested)).toMatch(/before TLS began/)
    })

    it('stops reading an endless answer', async () => {
      const tested = await startTls((socket) =>
        socket.once('data', () => socket.write(Buffer.from('30847fffffff', 'hex'))),
      )
      expect(failure(tested)).toMatch(/not be a directory/)
    })

    it('handles a peer that closes at once, and one that hangs', async () => {
      const closed = await startTls((socket) => socket.destroy())
      expect(failure(closed)).toMatch(/not be a directory/)
      const hung = await startTls(() => {})
      expect(failure(hung)).toMatch(/not be a directory|answer in time/)
    })
  })

  describe('of a hostile directory', () => {
    const harm = (hex: string, times = 1): Buffer => Buffer.from(hex.repeat(times), 'hex')
    const plain = async (serve: (socket: Socket) => void) =>
      test({ LDAP_SECURITY: 'none', LDAP_URL: `ldap://127.0.0.1:${await peer(serve)}` })

    it.each([
      // The library recurses for each message of a chunk: this many ended the process.
      ['40,000 unrequested messages', harm('30050201056500', 40_000)],
      ['empty messages', harm('3000', 100_000)],
      ['a message of 4 GB', harm('3084ffffffff02010261')],
      ['a message without a length', harm('30800201020000')],
      ['a message whose parts are longer than itself', harm('300702010261ff0a01')],
      ['a length of nine bytes', harm('3089ffffffffffffffffff')],
      ['something else', harm('41', 100_000)],
    ])('closes a connection that sends %s', async (_what, bytes) => {
      const tested = await plain((socket) => socket.once('data', () => socket.write(bytes)))
      expect(outline(tested)).toEqual(['Connect', 'TLS', 'Bind fails'])
    })

    it('stops a search that returns endless entries', async () => {
      const bound = harm('300c02010261070a010004000400')
      const entries = harm('3009020103640404003000', 200_000)
      const tested = await plain((socket) => {
        socket.once('data', () => {
          socket.write(bound)
          socket.once('data', () => socket.write(entries))
        })
      })
      expect(outline(tested)).toEqual(['Connect', 'TLS', 'Bind', 'Base DN fails'])
    })
  })

  it('follows no referrals, neither in a cycle nor elsewhere', async () => {
    let asked = 0
    const elsewhere = await peer((socket) => {
      asked++
      socket.destroy()
    })
    for (const [name, ref] of [
      ['circle', `ldap://127.0.0.1:${slapd.port}/ou=circle,${suffix}??sub`],
      ['away', `ldap://127.0.0.1:${elsewhere}/${suffix}`],
    ] as const)
      await slapd.add(`ou=${name},${suffix}`, { objectClass: ['referral', 'extensibleObject'], ou: name, ref })
    const passed = await test({ LDAP_TEST_USER: 'ada', LDAP_TEST_PASSWORD: password })
    expect(passed.ok).toBe(true)
    const at = await test({ LDAP_BASE_DN: `ou=circle,${suffix}` })
    expect(failure(at)).toMatch(/referrals are not followed/)
    expect(asked).toBe(0)
  })

  it('is for Administrators, and refuses settings it cannot test', async () => {
    const manager = await person(t, { profile: 20 })
    expect((await t.as(manager.token).post(path, items())).statusCode).toBe(403)
    expect((await t.as(undefined).post(path, items())).statusCode).toBe(401)
    const refused = async (body: unknown) =>
      (await post(path, body)).json().errors.map(({ field }: { field: string }) => field)
    expect(await refused({})).toEqual(['body.LDAP_URL'])
    expect(await refused({ LDAP_URL: slapd.tlsUrl, LDAP_SECURITY: 'tls' })).toEqual(['body.LDAP_BASE_DN'])
    expect(await refused({ ...items(), LDAP_SECURITY: 'starttls' })).toEqual(['body.LDAP_SECURITY'])
    expect(await refused({ ...items(), LDAP_UNKNOWN: 'x' })).toEqual(['body.LDAP_UNKNOWN'])
  })

  it('never sends a stored password to another server', async () => {
    expect((await post(save, items())).statusCode).toBe(200)
    const { LDAP_BIND_PASSWORD: _, ...rest } = items()
    expect((await post(path, { LDAP_BIND_PASSWORD: '********' })).json().ok).toBe(true)
    let asked = 0
    const thief = await peer(() => asked++)
    const moved = await post(path, { ...rest, LDAP_URL: `ldaps://127.0.0.1:${thief}` })
    expect([moved.statusCode, moved.json().errors[0].field, asked]).toEqual([400, 'body.LDAP_BIND_PASSWORD', 0])
  })

  it.each(['169.254.169.254', '[fe80::1]', '0.0.0.0', '224.0.0.1', '[::ffff:169.254.169.254]'])(
    'does not connect to %s, and such an address is not stored',
    async (host) => {
      const url = `ldaps://${host}:636`
      const tested = await test({ LDAP_URL: url })
      expect(outline(tested)).toEqual(['Connect fails'])
      expect(failure(tested)).toMatch(/never connects to/)
      const saved = await post(save, { ...items(), LDAP_URL: url })
      expect([saved.statusCode, saved.json().code]).toEqual([422, 'destination_refused'])
    },
  )

  it('refuses an invalid filter before it is stored', async () => {
    const saved = await post(save, { ...items(), LDAP_USER_FILTER: '(&(uid={username})(=))' })
    expect([saved.statusCode, saved.json().errors[0].field]).toEqual([400, 'body.LDAP_USER_FILTER'])
  })

  it('is shown on the health page', async () => {
    expect((await post(save, { ...items(), LDAP_ENABLED: 'true' })).statusCode).toBe(200)
    const all = (await (await t.admin()).get('/prime/webui/admin/SubsystemHealth')).json()
    expect(all.find(({ name }: { name: string }) => name === 'LDAP')).toMatchObject({
      status: 'OK',
      description: 'The directory answers and accepts the bind account.',
    })
    const uses = (await (await t.admin()).get('/prime/webui/generalconfig/integrations')).json().data
    expect(uses).toMatchObject([{ name: 'ldap', failedAt: null, failure: '' }])
  })
})
