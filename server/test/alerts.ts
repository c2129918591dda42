import type { EventKind } from '@portcullis/features/contract.ts'
import { deviceDetails, type NewEvent } from '@portcullis/features/events/server/index.ts'
import { SMTPServer } from 'smtp-server'
import type { TestApp } from './app.ts'

/** Returns an event of a USB device, as ingest appends it. */
export const deviceEvent = (
  kind: EventKind,
  more: Partial<NewEvent> & { vid?: string; pid?: string; name?: string } = {},
): NewEvent => {
  const { vid = '1209', pid = '6667', name = 'O.MG Cable', ...rest } = more
  return {
    kind,
    agentId: null,
    entity: 'HOST-1 (10.0.0.1)',
    hashtags: '',
    details: deviceDetails({ vulnerable: kind === 'vulnerable', vid, pid, serial: '', vendor: '', product: name }),
    ...rest,
  } as NewEvent
}

export const append = (t: TestApp, ...events: NewEvent[]): Promise<number[]> =>
  t.db.transaction((tx) => t.events.append(tx, events))

export interface TakenMail {
  to: string[]
  text: string
}

/**
 * Starts an SMTP server on loopback without TLS and configures the product to use it. `refuse` sets its error answer.
 */
export const startMail = async (t: TestApp) => {
  const taken: TakenMail[] = []
  /** `of`: refuse only this recipient. */
  const state: { refuse: { code: number; message: string; of?: string } | null } = { refuse: null }
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    onRcptTo: ({ address }, _session, done) =>
      state.refuse === null || (state.refuse.of ?? address) !== address
        ? done()
        : done(Object.assign(new Error(state.refuse.message), { responseCode: state.refuse.code })),
    onData: (stream, session, done) => {
      let text = ''
      stream.on('data', (part: Buffer) => {
        text += part.toString('utf8')
      })
      stream.on('end', () => {
        taken.push({ to: session.envelope.rcptTo.map(({ address }) => address), text })
        done()
      })
    },
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.server.address() as { port: number }
  const admin = await t.admin()
  const saved = await admin.post('/prime/webui/generalconfig/AddOrUpdateSMPTConfig', {
    SMTP_HOST: '127.0.0.1',
    SMTP_PORT: String(port),
    SMTP_SECURITY: 'none',
    SMTP_FROM: 'portcullis@example.org',
  })
  if (saved.statusCode !== 200) throw new Error(saved.body)
  return { taken, state, port, close: () => new Promise<void>((resolve) => server.close(() => resolve())) }
}
