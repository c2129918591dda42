// Invariant: Rejecting a large, malformed or compressed body costs little.

import { existsSync, readdirSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { api, type Environment, withEnvironment } from '../kit/environment.ts'
import { type Host, uploadLog } from '../kit/host.ts'
import { audienceOf, filled, type Offered, offeredBy, readDocument } from '../kit/operations.ts'
import { atLeast, atMost, type Check, type Finding, type Outcome, relative } from '../kit/verdict.ts'
import { forEachOf, jsonOf } from '../kit/wire.ts'
import { form, sendBody } from './send-body.ts'
import { watched } from './watched.ts'

const mebibyte = 1024 * 1024
/** Audiences other than people who are signed in. */
const open: ReadonlySet<string> = new Set(['public', 'agent', 'worker', 'proof'])
const spaces = Buffer.alloc(mebibyte / 4, 32)

/** Returns the files below a folder. A server without an embedded database creates its folder later. */
const filesIn = (folder: string): string[] =>
  existsSync(folder)
    ? readdirSync(folder, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name))
    : []

/** Returns open files of a process that are larger than 1 MiB, including deleted ones. */
const largeOpenFiles = (pid: number): string[] =>
  readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
    try {
      return statSync(`/proc/${pid}/fd/${fd}`).size > mebibyte ? [`open file ${fd}`] : []
    } catch {
      return []
    }
  })

const isRefusal = (status: number): boolean => (status >= 400 && status < 500) || status === 503

interface Part {
  findings: Finding[]
  notes: string[]
}

const costs = (
  what: string,
  mostGrown: number,
  { grown, p99, seconds, longest }: Awaited<ReturnType<typeof watched>>,
): Part => ({
  findings: [
    atMost(`grown by ${what}`, grown, mostGrown, 'MiB'),
    atMost(`others waited p99, ${what}`, p99, 300, 'ms'),
    atMost(`others waited at most, ${what}`, longest, 1_500, 'ms'),
  ],
  notes: [`${what}: ${seconds.toFixed(1)} s`],
})

/** Returns the token of a caller who may use an operation. */
const tokenFor = (id: string, admin: string, host: string, worker: string): string => {
  const audience = audienceOf(id)
  return audience === 'agent' ? host : audience === 'worker' ? worker : admin
}

/** Sends a huge body to each operation, once without a token and once as an authorized caller. */
const sendLarge = async (
  environment: Environment,
  taking: readonly Offered[],
  host: Host,
  size: number,
): Promise<Part> => {
  const { server, addWorker, signIn } = environment
  const admin = await signIn()
  const worker = await addWorker()
  // Sign-out gets its own session. Otherwise a successful sign-out would cause all later bodies to be refused with 401,
  // and a server without a size limit would pass.
  const callerOf = async (id: string): Promise<string> =>
    id === 'logout' ? (await signIn()).token : tokenFor(id, admin.token, host.token, worker)
  const notes: string[] = []
  let sentTo = 0
  const send = async ({ id, path, method, isUpload, described }: Offered, token: string | undefined, bytes: number) => {
    const type = Object.keys(described.requestBody?.content ?? {})[0] ?? 'application/json'
    const got = await sendBody(server.url, {
      path: filled(path),
      method,
      token,
      piece: spaces,
      size: bytes,
      ...(isUpload ? form('x.csv') : { type }),
    })
    // A closed connection also counts as a refusal.
    const isRefused = (got.status === 0 || isRefusal(got.status)) && got.sent < bytes
    return isRefused
      ? null
      : `${id} ${token === undefined ? 'anonymous' : 'signed in'}: ${got.status} after ${got.sent}`
  }
  // Warm up, so that one-time compilation and pooling do not count as growth.
  await forEachOf(taking.slice(0, 20), 2, async (one) => void (await send(one, await callerOf(one.id), size)))
  const cost = await watched(environment, async () => {
    for (const one of taking)
      for (const token of [undefined, await callerOf(one.id)]) {
        const wrong = await send(one, token, size)
        sentTo++
        if (wrong !== null) notes.push(wrong)
      }
  })
  const { findings, notes: times } = costs('large bodies', 50, cost)
  return {
    findings: [
      relative(atLeast('large bodies', sentTo, taking.length * 2)),
      atMost('large bodies taken to their end', notes.length, 0),
      ...findings,
    ],
    notes: [...times, ...notes],
  }
}

interface OddFile {
  what: string
  path: string
  name: string
  head: Buffer
  piece: Buffer
  size: number
}

const ill = (text: string): Buffer => Buffer.from(text.repeat(Math.ceil(mebibyte / 4 / text.length)))

/** Returns files that are not tables, and tables too large to read completely. */
const oddFiles = (path: string, header: string, row: string, isQuick: boolean): OddFile[] => {
  const below = (isQuick ? 9 : 31) * mebibyte
  const files: OddFile[] = []
  const add = (what: string, head: Buffer | string, piece: Buffer, size: number, name = 'x.csv'): void =>
    void files.push({ what, path, name, head: Buffer.from(head as string), piece, size })
  add('millions of rows, over the limit', header, ill(row), (isQuick ? 40 : 160) * mebibyte)
  add('millions of rows', header, ill(row), below)
  add('millions of line ends', header, ill('\n'), below)
  add('millions of cells', header, ill(','), below)
  add('millions of quotes', header, ill('"'), below)
  add('millions of broken quotes', header, ill('a"\n'), below)
  add('an open quote', `${header}"`, ill('a'), below)
  add('a cell of 100 MB', header, ill('a'), (isQuick ? 40 : 100) * mebibyte)
  add('NUL', header, ill('\u0000'), below)
  add('a header without an end', '', ill('Type,'), below)
  add('UTF-16', Buffer.from(`\ufeff${header}`, 'utf16le'), Buffer.from(row.repeat(100), 'utf16le'), mebibyte)
  add('a byte order mark twice', `\ufeff\ufeff${header}`, Buffer.from(row), 1)
  add('a gzip', gzipSync(Buffer.alloc(50 * mebibyte)), Buffer.alloc(1), 1)
  add('a zip', 'PK\u0003\u0004', Buffer.alloc(10_000), 10_000)
  add('a PDF', '%PDF-1.7\n', Buffer.alloc(10_000, 37), 10_000)
  for (const name of [
    '../../../../tmp/owned-by-gate.csv',
    '/tmp/owned-by-gate.csv',
    '..\\\\owned-by-gate.csv',
    'owned-by-gate\u0000.csv',
    'owned-by-gate%0d%0aX-Owned: 1.csv',
    'owned-by-gate\r\nX-Owned: 1.csv',
    '%2e%2e%2fowned-by-gate.csv',
    'owned-by-gate'.repeat(1_000),
  ])
    add(`named ${JSON.stringify(name.slice(0, 40))}`, header, Buffer.from(row), 1, name)
  return files
}

/** Returns the number of stored rows according to the response. */
const storedBy = (text: string): number => {
  const { imported = 0, added = 0, updated = 0 } = (jsonOf(text) ?? {}) as Record<string, number>
  return imported + added + updated
}

const sendOdd = async (environment: Environment, offered: readonly Offered[], isQuick: boolean): Promise<Part> => {
  const { server, admin } = environment
  const pathOf = (id: string): string => String(offered.find((one) => one.id === id)?.path)
  const files = [
    // Every row is invalid, so none may be stored.
    ...oddFiles(pathOf('importTags'), 'Type,Identifier,Tags\r\n', 'Nobody,a,b\r\n', isQuick),
    ...oddFiles(pathOf('uploadConnections'), 'ComputerName,Port\r\n', 'h.example.org,x\r\n', isQuick),
    ...oddFiles(pathOf('publishPackage'), '{}\n', '{}\n', isQuick),
  ]
  const wrong: string[] = []
  const slow: string[] = []
  const cost = await watched(environment, async () => {
    for (const { what, path, name, head, piece, size } of files) {
      const { head: before, tail, type } = form(name)
      const startedAt = performance.now()
      const { status, text } = await sendBody(server.url, {
        path,
        token: admin.token,
        type,
        head: Buffer.concat([before, head]),
        piece,
        size,
        tail,
      })
      const where = `${path.split('/').at(-1)}, ${what}`
      const ms = Math.round(performance.now() - startedAt)
      if (ms > 1_500) slow.push(`${where}: ${ms} ms`)
      // The response to a table lists its faults.
      const isRefused = status === 0 || isRefusal(status) || (status === 200 && storedBy(text) === 0)
      if (!isRefused) wrong.push(`${where}: ${status} ${text.slice(0, 200)}`)
    }
  })
  // A 32 MiB file stays in memory while it is read. The rest is chunks in flight and uncollected garbage.
  const { findings, notes } = costs('odd files', 32 + 82, cost)
  return {
    findings: [
      atLeast('odd files', files.length, 60),
      atMost('odd files of which something was stored', wrong.length, 0),
      ...findings,
    ],
    notes: [...notes, ...wrong, ...slow],
  }
}

/** Uploads gzip bombs as debug logs, which the server decompresses to check them. */
const sendBombs = async (environment: Environment, host: Host, isQuick: boolean): Promise<Part> => {
  const { wire, call, admin, rows } = environment
  const bombs: [string, Buffer][] = [
    ...(isQuick
      ? []
      : [['a gzip of 512 MiB', gzipSync(Buffer.alloc(512 * mebibyte), { level: 1 })] as [string, Buffer]]),
    ['forty gzips in a row', Buffer.concat(Array(40).fill(gzipSync(Buffer.alloc(16 * mebibyte))))],
    ['21 MiB', Buffer.concat([gzipSync('x'), Buffer.alloc(21 * mebibyte)])],
    ['a gzip and something else', Buffer.concat([gzipSync('x'), Buffer.from('PK\u0003\u0004')])],
    ['no gzip', Buffer.from('PK\u0003\u0004 no gzip')],
    ['a gzip that is cut off', gzipSync('x'.repeat(10_000)).subarray(0, 40)],
    ['nothing', Buffer.alloc(0)],
  ]
  await call('POST', `${api}/agents/fetchagentsdebuglogs`, [host.agentId], admin.token)
  const [id] = await host.commands()
  if (id === undefined) throw new Error('No command to collect logs')
  const wrong: string[] = []
  let slowest = 0
  const cost = await watched(environment, async () => {
    for (let round = 0; round < (isQuick ? 1 : 3); round++)
      for (const [what, body] of bombs) {
        const startedAt = performance.now()
        // Connections are reused: the rest of a refused body must not delay the next request.
        const got = await uploadLog(wire, id, host.token, body)
        slowest = Math.max(slowest, (performance.now() - startedAt) / 1000)
        if (got.status !== 0 && !isRefusal(got.status)) wrong.push(`${what}: ${got.status} ${got.text.slice(0, 120)}`)
      }
  })
  const [kept] = await rows<{ n: number }>(
    'SELECT (SELECT count(*) FROM debug_logs)::int + (SELECT count(*) FROM debug_log_chunks)::int AS n',
  )
  const { findings, notes } = costs('bombs', 50, cost)
  return {
    findings: [
      atLeast('bombs', bombs.length, 6),
      atMost('slowest answer to a bomb', Math.round(slowest * 10) / 10, 15, 's'),
      atMost('bombs taken', wrong.length, 0),
      { what: 'rows kept of bombs', value: kept?.n ?? -1, atLeast: 0, atMost: 0 },
      ...findings,
    ],
    notes: [...notes, ...wrong],
  }
}

/** Checks that large, malformed or compressed bodies are refused cheaply. */
export const uploads: Check = {
  name: 'uploads',
  what: 'Sends bodies of up to a gibibyte in chunks to every operation that accepts one, signed in or not. Also sends tables of millions of rows, cells and line ends, giant cells, other encodings and file types, gzip bombs, and file names with other paths. All are refused or answered with their faults. Measures the memory of the server and the delay of others, and checks that nothing is left behind.',
  run: ({ root, isQuick }): Promise<Outcome> =>
    withEnvironment({ root }, async (environment) => {
      const { server, wire } = environment
      const offered = offeredBy(await readDocument(environment))
      // The short form takes all uploads and open operations, and every third other one. These share one limit.
      const taking = offered
        .filter(({ method }) => method !== 'GET')
        .filter(({ id, isUpload }, i) => !isQuick || isUpload || i % 3 === 0 || open.has(audienceOf(id) ?? ''))
      const host = await environment.addHost('bomb-host')
      const before = new Set([...filesIn(server.dataDir), ...readdirSync(tmpdir())])
      const parts = [
        await sendLarge(environment, taking, host, isQuick ? 160 * mebibyte : 1024 * mebibyte),
        await sendOdd(environment, offered, isQuick),
        await sendBombs(environment, host, isQuick),
      ]
      // Give the server time to discard temporary data.
      await pause(500)
      const left = [
        ...filesIn(server.dataDir).filter((file) => !before.has(file) && !/\.log$|checkpoint/.test(file)),
        ...readdirSync(tmpdir()).filter((name) => !before.has(name) && /owned|multipart|upload/i.test(name)),
        ...largeOpenFiles(server.pid),
      ]
      const alive = await wire.send({ method: 'GET', path: '/healthz' })
      return {
        findings: [
          ...parts.flatMap(({ findings }) => findings),
          atMost('files left', left.length, 0),
          atLeast('serves on', alive.status === 200 ? 1 : 0, 1),
        ],
        notes: [...parts.flatMap(({ notes }) => notes), ...left.map((file) => `left: ${file}`)].slice(0, 40),
      }
    }),
}
