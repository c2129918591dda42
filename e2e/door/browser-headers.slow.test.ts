// Invariant: Every answer has the headers of platform/server/http/safety-headers.ts, even without a matching route.

import { rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect as connectTls } from 'node:tls'
import { agentPaths } from '@portcullis/features/contract.ts'
import { makeCertificate } from '../../proof/kit/certificate.ts'
import { temporaryFolder } from '../../proof/kit/database.ts'
import { api, type Environment, withEnvironment } from '../../proof/kit/environment.ts'
import { filled, offeredBy, readDocument } from '../../proof/kit/operations.ts'
import { startServerProcess } from '../../proof/kit/server.ts'
import { atLeast, atMost, type Outcome } from '../../proof/kit/verdict.ts'
import { forEachOf, type HttpResponse } from '../../proof/kit/wire.ts'
import { freePort } from '../../server/test/free-port.ts'
import { doorTest } from './door-test.ts'
import { canRefuseTls } from './old-tls.ts'

/** Parses the head and the body of a response. */
const readAnswer = (text: string): HttpResponse => {
  const end = text.indexOf('\r\n\r\n')
  const [first = '', ...lines] = text.slice(0, end < 0 ? text.length : end).split('\r\n')
  const headers: Record<string, string> = {}
  for (const line of lines)
    headers[line.slice(0, line.indexOf(':')).toLowerCase()] = line.slice(line.indexOf(':') + 1).trim()
  return {
    status: Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1] ?? 0),
    headers,
    text: end < 0 ? '' : text.slice(end + 4),
  }
}

/** Sends raw bytes, for requests that no HTTP client would send, and returns the first response. Status 0 means no response within two seconds or a closed connection. */
const sendRaw = (url: string, bytes: string | Buffer, ca?: string): Promise<HttpResponse> =>
  new Promise((resolve) => {
    const { hostname: host, port, protocol } = new URL(url)
    const socket: Socket =
      protocol === 'https:'
        ? connectTls({ host, port: Number(port), ...(ca === undefined ? {} : { ca }) })
        : connect(Number(port), host)
    let text = ''
    const done = (): void => {
      socket.destroy()
      resolve(readAnswer(text))
    }
    const timer = setTimeout(done, 2_000)
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const { headers, text: body } = readAnswer(text)
      const length = headers['content-length']
      if (text.includes('\r\n\r\n') && (length === undefined || body.length >= Number(length))) socket.end()
    })
    socket.on('close', () => {
      clearTimeout(timer)
      done()
    })
    socket.on('error', () => {})
    socket.write(bytes)
  })

const foreign = 'evil.example'

/** Returns the faults in the headers of a response. */
const faultsOf = ({ status, headers }: HttpResponse, isTls = false): string[] => {
  const faults: string[] = []
  const expect = (name: string, wanted: string | RegExp): void => {
    const value = String(headers[name] ?? '')
    if (typeof wanted === 'string' ? value !== wanted : !wanted.test(value)) faults.push(`${name}: ${value || 'none'}`)
  }
  expect('x-content-type-options', 'nosniff')
  expect('referrer-policy', 'no-referrer')
  expect('cross-origin-opener-policy', 'same-origin')
  expect('cross-origin-resource-policy', 'same-origin')
  expect('x-frame-options', 'DENY')
  expect('permissions-policy', /usb=\(\)/)
  const isFile = /^(?:text\/(?:javascript|css)|font\/|image\/|application\/manifest)/.test(
    headers['content-type'] ?? '',
  )
  expect('cache-control', isFile ? /^(?:no-store|no-cache|public, max-age=31536000, immutable)$/ : 'no-store')
  if (isTls) expect('strict-transport-security', /^max-age=(?:31536000|[4-9]\d{7})/)
  const policy = String(headers['content-security-policy'] ?? '')
  for (const part of ["default-src 'none'", "frame-ancestors 'none'", "base-uri 'none'"])
    if (!policy.includes(part)) faults.push(`content-security-policy has no ${part}`)
  for (const directive of policy.split(';').map((part) => part.trim())) {
    if (/^(?:script|default|style)-src /.test(directive) && /unsafe-|\*|https?:|data:/.test(directive))
      faults.push(`content-security-policy: ${directive}`)
  }
  const isPage = /^text\/html/.test(headers['content-type'] ?? '')
  if (
    isPage &&
    status === 200 &&
    /script-src (?!'none')/.test(policy) &&
    !policy.includes("require-trusted-types-for 'script'")
  )
    faults.push('content-security-policy lets scripts run without trusted types')
  for (const name of ['server', 'x-powered-by', 'access-control-allow-origin', 'access-control-allow-credentials'])
    if (headers[name] !== undefined) faults.push(`${name}: ${headers[name]}`)
  for (const cookie of headers['set-cookie'] ?? [])
    if (!/; HttpOnly; SameSite=Strict/.test(cookie) || (isTls && !/; Secure/.test(cookie)))
      faults.push('a cookie for anybody')
  return faults
}

/** Checks the headers of every kind of answer. */
const tryHeaders = async ({ wire, rows, admin, server }: Environment, notes: string[]) => {
  let answers = 0
  let wrong = 0
  const statuses = new Set<number>()
  const evaluate = (what: string, got: HttpResponse): void => {
    answers++
    statuses.add(got.status)
    const faults = got.status === 0 ? ['no answer'] : faultsOf(got)
    if (faults.length === 0) return
    wrong++
    notes.push(`${what} (${got.status}): ${faults.join('; ')}`)
  }
  const offered = offeredBy(await readDocument({ wire }))
  await forEachOf(offered, 6, async ({ id, method, path }) => {
    const at = filled(path)
    evaluate(`${id} anonymous`, await wire.send({ method, path: at, isHeadEnough: true }))
    if (method === 'GET') evaluate(id, await wire.send({ method, path: at, token: admin.token, isHeadEnough: true }))
    else
      evaluate(
        `${id} wrong`,
        await wire.send({ method, path: at, token: admin.token, body: '[', headers: { 'content-type': 'text/html' } }),
      )
    evaluate(`${id} PATCH`, await wire.send({ method: 'PATCH', path: at, token: admin.token }))
  })
  const page = await wire.send({ method: 'GET', path: '/' })
  evaluate('the page of the console', page)
  const files = [...page.text.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => String(path))
  for (const path of [
    ...files,
    '/docs',
    '/docs/errors',
    '/agents/somewhere',
    '/nothing.js',
    '/prime/webui/nothing',
    '/%',
    '/..%2f',
  ])
    evaluate(path, await wire.send({ method: 'GET', path }))
  for (const method of ['HEAD', 'OPTIONS', 'TRACE'])
    evaluate(method, await wire.send({ method, path: `${api}/agents` }))
  const host = 'Host: a\r\n'
  const bearer = `Authorization: Bearer ${admin.token}\r\n`
  for (const bytes of [
    'GET / HTTP/1.1\r\n\r\n',
    `GET / HTTP/1.1\r\n${host}X: ${'x'.repeat(40_000)}\r\n\r\n`,
    'NONSENSE\r\n\r\n',
    `POST ${api}/generalconfig/addhashtags HTTP/1.1\r\n${host}${bearer}Content-Type: application/json\r\nContent-Length: 9000000\r\n\r\n`,
    `POST ${api}/agents HTTP/1.1\r\n${host}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    `POST ${api}/agents HTTP/1.1\r\n${host}Content-Length: 5\r\nContent-Length: 6\r\n\r\n12345`,
    `GET ${api}/agents HTTP/1.1\r\n${host}X-A: b\r\n c\r\n\r\n`,
    `POST ${agentPaths.checkIn} HTTP/1.1\r\n${host}Content-Length: 2\r\n\r\n{}`,
    `POST ${agentPaths.checkIn} HTTP/1.1\r\n${host}Content-Length: 999999999\r\n\r\n`,
    ...['/agent/v1/nothing', agentPaths.wake].map(
      (path) =>
        `GET ${path} HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
    ),
  ]) {
    const got = await sendRaw(server.url, bytes)
    evaluate(JSON.stringify(bytes.slice(0, 120)), got)
    if (got.status === 200) notes.push(`let in: ${JSON.stringify(bytes.slice(0, 120))}`)
  }
  // A missing table causes a 500, which must not reveal internals.
  await rows('ALTER TABLE tags RENAME TO tags_elsewhere')
  const broken = await wire.send({ method: 'GET', path: `${api}/generalconfig/gethashtags`, token: admin.token })
  await rows('ALTER TABLE tags_elsewhere RENAME TO tags')
  evaluate('an inner error', broken)
  const tells =
    broken.status !== 500 ||
    /relation|tags|42P01|\.ts|node_modules|select/i.test(broken.text.replace(/"instance":"[^"]*"/, ''))
  if (tells) notes.push(`an inner error tells: ${broken.text.slice(0, 300)}`)
  return { answers, wrong, kinds: statuses.size, tells: tells ? 1 : 0 }
}

/** Checks what another site can do through the browser of a signed-in user: the cookie is sent, but no token. */
const tryForeignSites = async ({ wire, admin, call, server }: Environment, notes: string[]) => {
  let letIn = 0
  let tried = 0
  const refuse = (what: string, { status }: HttpResponse, ...wanted: number[]): void => {
    tried++
    if (wanted.includes(status)) return
    letIn++
    notes.push(`${what}: ${status}`)
  }
  const signIn = (): Promise<HttpResponse> =>
    wire.send({
      method: 'POST',
      path: `${api}/Auth/LocalLogin`,
      body: { userName: admin.userName, password: admin.password },
      headers: { 'x-portcullis-console': '1' },
    })
  const cookie = String((await signIn()).headers['set-cookie']?.[0] ?? '').split(';')[0] as string
  if (cookie === '') notes.push('no cookie was set: nothing of it is tried')
  const origins = [`https://${foreign}`, 'null', `http://${new URL(server.url).host}.${foreign}`, 'http://127.0.0.1:1']
  const refresh = `${api}/Auth/RefreshToken`
  for (const origin of origins) {
    refuse(
      `cookie from ${origin}`,
      await wire.send({ method: 'POST', path: refresh, headers: { cookie, origin } }),
      403,
    )
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x'])
      refuse(
        `form of ${type} from ${origin}`,
        await wire.send({
          method: 'POST',
          path: refresh,
          body: '{}=',
          headers: { cookie, origin, 'content-type': type },
        }),
        403,
        415,
      )
  }
  // Forms can send these three types without a preflight. None may reach an operation, even with a token.
  const posts = offeredBy(await readDocument({ wire })).filter(
    ({ method, id, isUpload }) => method === 'POST' && !isUpload && id !== 'agentDebugLogs',
  )
  await forEachOf(posts, 6, async ({ path, id }) => {
    refuse(
      `${id} as a form`,
      await wire.send({
        method: 'POST',
        path: filled(path),
        body: '{"a":"="}',
        headers: { cookie, 'content-type': 'text/plain' },
      }),
      ...[400, 401, 403, 404, 415, 429],
    )
    refuse(
      `${id} from another site`,
      await wire.send({
        method: 'POST',
        path: filled(path),
        token: admin.token,
        body: '{',
        headers: { origin: `https://${foreign}` },
      }),
      ...(path.startsWith('/agent') || path.startsWith('/worker') ? [400, 401, 403] : [403]),
    )
  })
  refuse(
    'the live stream by the cookie',
    await wire.send({ method: 'GET', path: `${api}/live`, headers: { cookie }, isHeadEnough: true }),
    401,
  )
  const { ticket } = await call('POST', `${api}/Auth/Ticket`, undefined, admin.token)
  refuse(
    'the live stream by a ticket',
    await wire.send({ method: 'GET', path: `${api}/live?_ticket=${ticket}`, isHeadEnough: true }),
    401,
    400,
  )
  return { tried, letIn, hasCookie: cookie === '' ? 0 : 1 }
}

const tryWakeSocket = async (environment: Environment, notes: string[]) => {
  const { token } = await environment.addHost('headers-host')
  const upgrade = (headers: string): Promise<HttpResponse> =>
    sendRaw(
      environment.server.url,
      `GET ${agentPaths.wake} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n${headers}\r\n`,
    )
  const bearer = `Authorization: Bearer ${token}\r\n`
  let wrong = 0
  for (const [headers, wanted] of [
    [bearer, 101],
    ['', 401],
    [`Authorization: Bearer ${environment.admin.token}\r\n`, 401],
    [`${bearer}Origin: https://${foreign}\r\n`, 403],
    [`${bearer}Origin: null\r\n`, 403],
    [`${bearer}Origin: ${environment.server.url}\r\n`, 403],
  ] as const) {
    const { status } = await upgrade(headers)
    if (status === wanted) continue
    wrong++
    notes.push(`wake socket with ${headers.replace(token, '…').trim() || 'nothing'}: ${status}, not ${wanted}`)
  }
  return wrong
}

/** Checks the links and addresses that answers derive from the Host header. */
const trySpoofedHost = async ({ wire, call, admin }: Environment, notes: string[]) => {
  const headers = {
    host: foreign,
    'x-forwarded-host': foreign,
    'x-forwarded-proto': 'https',
    'x-forwarded-for': '203.0.113.66',
    'x-real-ip': '203.0.113.66',
    forwarded: `for=203.0.113.66;host=${foreign};proto=https`,
    'x-original-url': `https://${foreign}/`,
  }
  let believed = 0
  const evaluate = (what: string, { text, headers: given }: HttpResponse): void => {
    const all = text + JSON.stringify(given)
    if (!all.includes(foreign) && !all.includes('203.0.113.66')) return
    believed++
    notes.push(
      `${what} speaks of ${foreign}: …${all.slice(Math.max(0, all.search(/evil\.example|203\.0\.113\.66/) - 100)).slice(0, 200)}`,
    )
  }
  const send = (method: string, path: string, body?: unknown): Promise<HttpResponse> =>
    wire.send({ method, path, body, token: admin.token, headers, isHeadEnough: true })
  const links: string[] = []
  for (const domain of ['', 'https://portcullis.example']) {
    if (domain !== '')
      await call('POST', `${api}/generalconfig/SetServerDomainName`, { SERVER_DOMAIN_NAME: domain }, admin.token)
    const added = await send('POST', `${api}/admin/adduser`, { userName: `linked${links.length}`, userProfile: 30 })
    evaluate('adduser', added)
    links.push(...[...added.text.matchAll(/https?:\/\/[^"\\\s]+/g)].map(([link]) => link))
    evaluate(
      'an enrolment token',
      await send('POST', `${api}/agents/enrollmenttokens`, { name: 'spoofed', maxUses: 1 }),
    )
    evaluate('a worker token', await send('POST', `${api}/agents/agentless/workerpollerdetails/token`))
  }
  evaluate(
    'sign-in',
    await wire.send({
      method: 'POST',
      path: `${api}/Auth/LocalLogin`,
      body: { userName: 'admin', password: admin.password },
      headers,
    }),
  )
  await forEachOf(
    offeredBy(await readDocument({ wire })).filter(({ method }) => method === 'GET'),
    6,
    async ({ id, path }) => evaluate(id, await send('GET', filled(path))),
  )
  const isNamed = links.some((link) => link.startsWith('https://portcullis.example/'))
  if (!isNamed) notes.push(`no link leads to the domain that is set: ${links.join(' ')}`)
  return { believed, named: isNamed ? 1 : 0 }
}

const tryTls = async ({ database, keyFile }: Environment, root: string, notes: string[]) => {
  const folder = temporaryFolder('headers')
  const { env, ca } = await makeCertificate(join(folder, 'certificate'))
  const server = await startServerProcess({
    databaseUrl: database.url,
    dataDir: join(folder, 'server'),
    port: await freePort(),
    root,
    ca,
    env: { PORTCULLIS_KEY_FILE: keyFile, ...env },
  })
  try {
    let wrong = 0
    const body = JSON.stringify({ userName: 'nobody', password: 'nothing at all' })
    for (const bytes of [
      'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
      `GET ${api}/agents HTTP/1.1\r\nHost: a\r\n\r\n`,
      'GET /prime/nothing HTTP/1.1\r\nHost: a\r\n\r\n',
      'NONSENSE\r\n\r\n',
      `POST ${agentPaths.checkIn} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}`,
      `GET ${agentPaths.wake} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n`,
      `POST ${api}/Auth/LocalLogin HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    ]) {
      const got = await sendRaw(server.url, bytes, ca)
      const faults = got.status === 0 ? ['no answer'] : faultsOf(got, true)
      if (faults.length === 0) continue
      wrong++
      notes.push(`over TLS ${JSON.stringify(bytes.slice(0, 60))} (${got.status}): ${faults.join('; ')}`)
    }
    const plain = await sendRaw(server.url.replace('https:', 'http:'), 'GET / HTTP/1.1\r\nHost: a\r\n\r\n')
    const speaks = (version: 'TLSv1' | 'TLSv1.1' | 'TLSv1.2' | 'TLSv1.3'): Promise<boolean> =>
      new Promise((resolve) => {
        const { hostname: host, port } = new URL(server.url)
        const socket = connectTls({
          host,
          port: Number(port),
          ca,
          minVersion: version,
          maxVersion: version,
          ciphers: 'ALL@SECLEVEL=0',
        })
        socket.on('secureConnect', () => {
          socket.destroy()
          resolve(true)
        })
        socket.on('error', () => resolve(false))
      })
    const canBeTold = await canRefuseTls()
    return {
      wrong,
      old: Number(await speaks('TLSv1')) + Number(await speaks('TLSv1.1')) + Number(plain.status === 200),
      modern: Number(await speaks('TLSv1.2')) + Number(await speaks('TLSv1.3')),
      notRun: canBeTold
        ? []
        : ['TLS 1.0 and 1.1: this Node does not speak them either, so that a refusal proves nothing'],
    }
  } finally {
    await server.end('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

doorTest(
  'sends security headers with each kind of answer, and refuses other sites',
  ({ root }): Promise<Outcome> =>
    withEnvironment({ root }, async (environment) => {
      const notes: string[] = []
      const headers = await tryHeaders(environment, notes)
      const sites = await tryForeignSites(environment, notes)
      const sockets = await tryWakeSocket(environment, notes)
      const hosts = await trySpoofedHost(environment, notes)
      const tls = await tryTls(environment, root, notes)
      return {
        findings: [
          atLeast('answers', headers.answers, 400),
          atLeast('kinds of status', headers.kinds, 9),
          atMost('answers with wrong headers', headers.wrong, 0),
          atMost('inner errors that tell', headers.tells, 0),
          atLeast('requests of other sites', sites.tried, 150),
          atLeast('cookies that were tried', sites.hasCookie, 1),
          atMost('other sites let in', sites.letIn, 0),
          atMost('wake sockets answered wrongly', sockets, 0),
          atMost('spoofed hosts believed', hosts.believed, 0),
          atLeast('links to the domain that is set', hosts.named, 1),
          atMost('answers over TLS with wrong headers', tls.wrong, 0),
          atMost('TLS below 1.2, or none, let in', tls.old, 0),
          atLeast('TLS 1.2 and 1.3 spoken', tls.modern, 2),
        ],
        notRun: tls.notRun,
        notes: notes.slice(0, 40),
      }
    }),
)
