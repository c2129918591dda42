import { sql } from '@portcullis/platform/server/db/sql.ts'
import { startTestApp, type TestApp } from '@portcullis/server/test/app.ts'
import { liftGate } from '@portcullis/server/test/approvals.ts'
import { insertFleet } from '@portcullis/server/test/fleet.ts'
import { person } from '@portcullis/server/test/people.ts'
import { reportsBase, reportsOf, scheduleInput } from '@portcullis/server/test/reports.ts'
import { SMTPServer } from 'smtp-server'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import type { ReportRun } from '#features/contract.ts'

let t: TestApp
let reports: ReturnType<typeof reportsOf>
let peer: Awaited<ReturnType<typeof startPeer>>

/** A real SMTP server without TLS, like a relay on the same machine. */
const startPeer = async () => {
  const state = { refuses: '', refusesWith: 451, taken: [] as { to: string[]; text: string }[] }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    size: 30 * 1024 * 1024,
    onData: (stream, session, done) => {
      const parts: Buffer[] = []
      stream.on('data', (part: Buffer) => parts.push(part))
      stream.on('end', () => {
        const to = session.envelope.rcptTo.map(({ address }) => address)
        if (to.includes(state.refuses))
          return done(Object.assign(new Error('Mailbox is busy'), { responseCode: state.refusesWith }))
        state.taken.push({ to, text: Buffer.concat(parts).toString('latin1') })
        done()
      })
    },
    logger: false,
  })
  server.on('error', () => {})
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    ...state,
    state,
    port: (server.server.address() as { port: number }).port,
    close: () => server.close(() => {}),
  }
}

beforeAll(async () => {
  t = await startTestApp()
  await liftGate(t)
  reports = reportsOf(t)
  peer = await startPeer()
  await insertFleet(t, 200)
})
afterEach(() => {
  Object.assign(peer.state, { refuses: '', refusesWith: 451 })
  peer.state.taken.length = 0
})
afterAll(async () => {
  peer.close()
  await t.close()
})

const configure = async (): Promise<void> => {
  const admin = await t.admin()
  const mail = {
    SMTP_HOST: 'localhost',
    SMTP_PORT: String(peer.port),
    SMTP_SECURITY: 'none',
    SMTP_FROM: 'portcullis@example.org',
    SMTP_USER: '',
  }
  for (const [path, body] of [
    ['AddOrUpdateSMPTConfig', mail],
    ['SetServerDomainName', { SERVER_DOMAIN_NAME: 'https://portcullis.example.org' }],
  ] as const) {
    const answer = await admin.post(`/prime/webui/generalconfig/${path}`, body)
    expect(answer.statusCode, answer.body).toBe(200)
  }
}

interface Part {
  headers: string
  body: Buffer
}

/** Returns the decoded leaves of a MIME message. */
const partsOf = (message: string): Part[] => {
  const at = message.indexOf('\r\n\r\n')
  const headers = message.slice(0, at).replace(/\r\n[ \t]+/g, ' ')
  const body = message.slice(at + 4)
  const boundary = /^content-type: multipart\/.*boundary="?([^";]+)/im.exec(headers)?.[1]
  if (boundary !== undefined)
    return body
      .split(`--${boundary}`)
      .slice(1, -1)
      .flatMap((part) => partsOf(part.replace(/^\r\n/, '')))
  const encoding = /^content-transfer-encoding: (\S+)/im.exec(headers)?.[1]
  const plain =
    encoding === 'base64'
      ? Buffer.from(body, 'base64')
      : Buffer.from(
          encoding === 'quoted-printable'
            ? body
                .replace(/=\r\n/g, '')
                .replace(/=([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
            : body,
          'latin1',
        )
  return [{ headers, body: plain }]
}
/** Decodes the encoded words of a header (RFC 2047) in Q encoding. */
const decodedWords = (text: string): string =>
  text
    .replace(/\?= =\?/g, '?==?')
    .replace(/=\?UTF-8\?Q\?([^?]*)\?=/g, (_, word: string) =>
      word
        .replaceAll('_', ' ')
        .replace(/=([0-9A-F]{2})/g, (_all, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    )
const attachmentsOf = (message: string): Part[] =>
  partsOf(message).filter(({ headers }) => /^content-disposition: attachment/im.test(headers))
/** Delivers twice: work after a COMMIT may be in progress, and the second run takes what became due. */
const deliver = async (): Promise<void> => {
  await t.server.mail.deliver()
  await t.server.mail.deliver()
}
const run = async (id: string): Promise<ReportRun> => (await reports.runs(id))[0] as ReportRun

describe('a report by mail', () => {
  it('without a mail server shows this in its history, and is still written to its folder', async () => {
    const made = await reports.add({ recipients: ['ada@example.org'], folder: 'nomail' })
    expect(await reports.runNow(made.id)).toMatchObject({
      state: 'completed',
      deliveries: [
        { kind: 'folder', state: 'done' },
        { kind: 'mail', target: 'ada@example.org', state: 'failed', error: expect.stringMatching(/No mail server/) },
      ],
    })
    await configure()
  })

  it('is one message per recipient with the file of the run', async () => {
    const made = await reports.add({
      name: 'Weekly <b>hosts</b> & "more"',
      recipients: ['ada@example.org', 'bob@example.org'],
    })
    const ordered = await reports.runNow(made.id)
    expect(ordered.deliveries.map(({ target, state }) => [target, state])).toEqual([
      ['ada@example.org', 'waiting'],
      ['bob@example.org', 'waiting'],
    ])
    // The sealed rows that wait do not contain the file.
    const [row] = await t.db.query<{ n: number }>(sql`select max(octet_length(m.sealed)) as n from mails m`)
    expect(row?.n).toBeLessThan(8_000)
    expect(ordered.bytes).toBeGreaterThan(50_000)
    await deliver()
    expect(peer.state.taken.map(({ to }) => to).toSorted()).toEqual([['ada@example.org'], ['bob@example.org']])
    const file = (await reports.file(ordered)).rawPayload
    for (const { text } of peer.state.taken) {
      const [attachment, ...others] = attachmentsOf(text)
      expect(others).toEqual([])
      expect(attachment?.body.equals(file)).toBe(true)
      const date = new Date(ordered.dueAt).toLocaleDateString('sv-SE', { timeZone: 'Europe/Berlin' })
      expect(attachment?.headers).toContain(`weekly-b-hosts-b-more-${date}.csv`)
      expect(attachment?.headers).toMatch(/content-type: text\/csv/i)
      const subject = /^subject: (.*)$/im.exec(text.slice(0, text.indexOf('\r\n\r\n')).replace(/\r\n[ \t]+/g, ' '))
      expect(decodedWords(subject?.[1] ?? '')).toBe('Report: Weekly <b>hosts</b> & "more"')
      const [plain, html] = partsOf(text).map(({ body }) => body.toString('utf8'))
      expect(plain).toContain('This report contains 200 rows of the list “Hosts”. All rows.')
      expect(plain).toMatch(/The file \S+\.csv \(\d+ kB\) is attached\. You can open it with a spreadsheet program\./)
      expect(plain).toContain('To stop it, ask admin.')
      expect(plain).toContain(`https://portcullis.example.org/reports/history?run=${ordered.id}`)
      expect(html).toContain('&lt;b&gt;hosts&lt;/b&gt; &amp; &quot;more&quot;')
      expect(html).not.toContain('<b>')
    }
    await deliver()
    expect(peer.state.taken).toHaveLength(2)
    expect((await run(made.id)).deliveries.map(({ state, error }) => [state, error])).toEqual([
      ['done', ''],
      ['done', ''],
    ])
  })

  it('says in words which rows and which time it covers', async () => {
    const made = await reports.add({
      name: 'Armed hosts',
      format: 'pdf',
      filter: { status: 'armed', hostIdentifier: 'no such host' },
      range: 'day',
      recipients: ['ada@example.org'],
    })
    await reports.runNow(made.id)
    await deliver()
    const [plain = ''] = partsOf(peer.state.taken[0]?.text ?? '').map(({ body }) => body.toString('utf8'))
    expect(plain.replace(/\s+/g, ' ')).toMatch(
      /The list “Hosts” had no rows for this report\. Rows where Status is Armed, and Host name contains “no such host”\. It covers the time from \d{4}-\d\d-\d\d [\d:]{8} UTC until \d{4}-\d\d-\d\d [\d:]{8} UTC\. The file armed-hosts-\d{4}-\d\d-\d\d\.pdf \(\d+ kB\) is attached\. It is a PDF of A4 pages\. All times are in UTC\./,
    )
  })

  it('reaches the other mailboxes if one refuses it, and the history shows the reason until it is delivered', async () => {
    const made = await reports.add({ recipients: ['busy@example.org', 'eve@example.org'] })
    peer.state.refuses = 'busy@example.org'
    await reports.runNow(made.id)
    await deliver()
    expect((await run(made.id)).deliveries).toMatchObject([
      { target: 'busy@example.org', state: 'waiting', error: expect.stringMatching(/Mailbox is busy/) },
      { target: 'eve@example.org', state: 'done', error: '' },
    ])
    expect((await reports.schedule(made.id)).lastRun?.error).toMatch(/^busy@example.org: .*Mailbox is busy/)
    peer.state.refuses = ''
    t.clock.advance(31_000)
    await deliver()
    expect((await run(made.id)).deliveries.map(({ state }) => state)).toEqual(['done', 'done'])
    expect(peer.state.taken.map(({ to }) => to[0])).toEqual(['eve@example.org', 'busy@example.org'])
  })

  it('is not retried after a permanent rejection, which is not a fault of the mail server', async () => {
    const made = await reports.add({ recipients: ['gone@example.org'] })
    Object.assign(peer.state, { refuses: 'gone@example.org', refusesWith: 550 })
    await reports.runNow(made.id)
    await deliver()
    expect((await run(made.id)).deliveries).toMatchObject([
      { target: 'gone@example.org', state: 'failed', error: expect.stringMatching(/Mailbox is busy/) },
    ])
    expect(await t.server.mail.health()).toMatchObject({ status: 'OK' })
    peer.state.refuses = ''
    t.clock.advance(3_600_000)
    await deliver()
    expect(peer.state.taken).toEqual([])
  })

  it('is not sent if its owner loses the permission while it waits', async () => {
    const owner = await person(t, { profile: 10 })
    const given = scheduleInput({ name: 'of an owner who leaves', recipients: ['busy@example.org'] })
    const made = (await owner.api.post(`${reportsBase}/schedules`, given)).json()
    peer.state.refuses = 'busy@example.org'
    await reports.runNow(made.id)
    await deliver()
    await (await t.admin()).post('/prime/webui/admin/deleteUsers', [owner.userName])
    peer.state.refuses = ''
    t.clock.advance(31_000)
    await deliver()
    expect(peer.state.taken).toEqual([])
    expect((await run(made.id)).deliveries).toMatchObject([
      { state: 'failed', error: expect.stringContaining('was deleted') },
    ])
  })

  it('is given up after two days; its file is kept until then', async () => {
    const made = await reports.add({ recipients: ['busy@example.org'], keepFiles: 1 })
    peer.state.refuses = 'busy@example.org'
    const first = await reports.runNow(made.id)
    await deliver()
    t.clock.advance(1_000)
    await reports.runNow(made.id)
    const hasFile = async (id: string) => (await reports.runs(made.id)).find((one) => one.id === id)?.hasFile
    expect(await hasFile(first.id)).toBe(true)
    t.clock.advance(49 * 3_600_000)
    await deliver()
    expect((await reports.runs(made.id)).find(({ id }) => id === first.id)?.deliveries).toMatchObject([
      { state: 'failed', error: expect.stringMatching(/^Given up after two days: .*busy/) },
    ])
    await t.server.reports.maintain()
    expect(await hasFile(first.id)).toBe(false)
  })

  it('contains a link if the file is too large to attach', async () => {
    await insertFleet(t, 30_000)
    const made = await reports.add({ recipients: ['ada@example.org'] })
    const ordered = await reports.runNow(made.id)
    expect(ordered.bytes).toBeGreaterThan(7_700_000)
    await deliver()
    const [message] = peer.state.taken
    expect(attachmentsOf(message?.text ?? '')).toEqual([])
    expect(message?.text.length).toBeLessThan(5_000)
    const [plain] = partsOf(message?.text ?? '').map(({ body }) => body.toString('utf8'))
    expect(plain).toContain('too large to attach (over 10.0 MB')
    expect(plain).toContain(`/reports/history?run=${ordered.id}`)
    expect((await run(made.id)).deliveries).toMatchObject([{ state: 'done' }])
  }, 60_000)

  it('of some megabytes arrives completely', async () => {
    const made = await reports.add({
      recipients: ['ada@example.org'],
      columns: ['hostIdentifier', 'uuid', 'localIpAddress', 'osVersion', 'lastUpdated'],
    })
    const ordered = await reports.runNow(made.id)
    expect(ordered.bytes).toBeGreaterThan(1_500_000)
    await deliver()
    const message = peer.state.taken.find(({ text }) => attachmentsOf(text).length > 0)
    const [attachment] = attachmentsOf(message?.text ?? '')
    expect(attachment?.body.equals((await reports.file(ordered)).rawPayload)).toBe(true)
  }, 60_000)

  it('is reported by the part "mail" while it waits, and by its own part once mail works', async () => {
    await configure()
    for (const { id } of (await (await t.admin()).get(`${reportsBase}/schedules`)).json().data)
      await (await t.admin()).delete(`${reportsBase}/schedules/${id}`)
    const made = await reports.add({ recipients: ['busy@example.org'] })
    peer.state.refuses = 'busy@example.org'
    await reports.runNow(made.id)
    await deliver()
    expect((await t.server.mail.health()).status).toBe('Error')
    expect((await t.server.reports.health()).description).not.toContain('busy')
    expect((await t.server.reports.health()).description).toMatch(
      /1 report waits for the mail server\. See the part "mail"\.$/,
    )
    const other = await reports.add({ recipients: ['ada@example.org'] })
    await reports.runNow(other.id)
    await deliver()
    expect((await t.server.mail.health()).status).toBe('OK')
    t.clock.advance(16 * 60_000)
    expect(await t.server.reports.health()).toMatchObject({
      status: 'Warning',
      description: expect.stringContaining('busy@example.org'),
    })
    peer.state.refuses = ''
    await deliver()
    expect((await t.server.reports.health()).status).toBe('OK')
  })
})
