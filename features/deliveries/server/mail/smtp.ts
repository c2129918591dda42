import { connect, type Socket } from 'node:net'
import { cleanText } from '@portcullis/domain'
import type { ResolveDestination } from '@portcullis/platform/server/destinations.ts'
import { createTransport, type Transporter } from 'nodemailer'
import type { ConfigName } from '#features/contract.ts'
import { certificatesOf, type GroupValues } from '#features/settings/server/index.ts'

/** A setting of the mail server, or the recipient of a test. */
export type MailField = ConfigName<'smtp'> | 'SMTP_TEST_RECIPIENT'

/** A failure of the mail server, with a message that helps to fix it. */
export class MailError extends Error {
  readonly step: 'connect' | 'sign-in' | 'send'
  /** The server rejected this mail permanently (5xx): a retry would fail too. */
  readonly isFinal: boolean
  /** The setting to correct; undefined: none of them. */
  readonly field: MailField | undefined
  constructor(step: MailError['step'], message: string, field?: MailField, isFinal = false) {
    super(message)
    this.step = step
    this.field = field
    this.isFinal = isFinal
  }
}

/** Time limit for a whole exchange in milliseconds: the timeouts below restart with each byte, so a slow drip never ends. */
const wholeMs = 60_000
/** Timeouts for a server that accepts connections and stays silent. */
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000, dnsTimeout: 5_000 }

type Failure = Error & { code?: string; command?: string; responseCode?: number; response?: string }

const answerText = (failure: Failure): string => cleanText(failure.response ?? failure.message, 200)

/** Converts a failure of the library into its step and a cure. `where` is the configured host and port. */
const mailError = (failure: Failure, where: string): MailError => {
  const { code, command } = failure
  if (code === 'EAUTH')
    return new MailError(
      'sign-in',
      `${where} rejected the user name or password (${answerText(failure)}). Check both.`,
      'SMTP_USER',
    )
  if (
    code === 'EENVELOPE' ||
    code === 'EMESSAGE' ||
    command === 'RCPT TO' ||
    command === 'MAIL FROM' ||
    command === 'DATA'
  )
    return new MailError(
      'send',
      `${where} rejected the mail (${answerText(failure)}). Check sender and recipient.`,
      command === 'MAIL FROM' ? 'SMTP_FROM' : 'SMTP_TEST_RECIPIENT',
      // A rejected sender affects every mail, so it is a fault of the configuration.
      (failure.responseCode ?? 0) >= 500 && command !== 'MAIL FROM',
    )
  if (code === 'EDNS' || code === 'ENOTFOUND')
    return new MailError('connect', `${where}: the name does not resolve. Check its spelling.`, 'SMTP_HOST')
  if (code === 'ECONNREFUSED' || (code === 'ESOCKET' && /ECONNREFUSED/.test(failure.message)))
    return new MailError('connect', `Connection refused by ${where}. Check host and port.`, 'SMTP_PORT')
  if (/certificate|self.signed|altname|unable to (?:verify|get)/i.test(failure.message))
    return new MailError(
      'connect',
      `The certificate of ${where} is not trusted (${answerText(failure)}). Enter the CA that issued it and the host name in it.`,
      'SMTP_CA',
    )
  if (code === 'ETLS')
    return new MailError(
      'connect',
      `${where} does not offer STARTTLS. Choose another security setting, or enable STARTTLS there.`,
      'SMTP_SECURITY',
    )
  if (code === 'ETIMEDOUT' || code === 'ECONNECTION')
    return new MailError(
      'connect',
      `No answer from ${where}. Check host, port and security: a server that expects TLS from the first byte stays silent.`,
      'SMTP_HOST',
    )
  return new MailError(
    'connect',
    `The connection to ${where} failed, or another kind of server answered. Check port and security.`,
    'SMTP_PORT',
  )
}

export interface MailAttachment {
  fileName: string
  mediaType: string
  content: Buffer
}

export interface SmtpMail {
  to: string
  subject: string
  text: string
  html: string
  messageId: string
  attachment?: MailAttachment
}

/** Opens the configured mail server. */
export const createSmtp = async (values: GroupValues<'smtp'>, resolve: ResolveDestination) => {
  const host = values.text('SMTP_HOST')
  const port = values.number('SMTP_PORT')
  const where = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const security = values.text('SMTP_SECURITY')
  const user = values.text('SMTP_USER')
  const ca = certificatesOf(values.text('SMTP_CA'))
  let address: string
  try {
    address = (await resolve(host)).address
  } catch (error) {
    throw new MailError('connect', `${where}: ${(error as Error).message}`, 'SMTP_HOST')
  }
  let takesUtf8 = false
  function ignore(): void {}
  const logger = {
    ...{ level: ignore, trace: ignore, info: ignore, warn: ignore, error: ignore, fatal: ignore },
    // The library does not return what the server announced.
    debug: (entry: { tnx?: unknown }, text: unknown): void => {
      if (entry.tnx === 'server' && /^250[ -]SMTPUTF8\b/im.test(String(text))) takesUtf8 = true
    },
  }
  const sockets = new Set<Socket>()
  const transport: Transporter = createTransport({
    host: address,
    port,
    // Our own socket, because the library cannot end an exchange that keeps receiving bytes.
    getSocket: (_options: unknown, done: (error: Error | null, made?: { connection: Socket }) => void) => {
      const socket = connect({ host: address, port })
      sockets.add(socket)
      const late = setTimeout(
        () => socket.destroy(Object.assign(new Error('no answer'), { code: 'ETIMEDOUT' })),
        timeouts.connectionTimeout,
      )
      function fail(error: Error): void {
        clearTimeout(late)
        done(error)
      }
      socket.once('error', fail)
      socket.once('connect', () => {
        clearTimeout(late)
        socket.off('error', fail)
        done(null, { connection: socket })
      })
    },
    secure: security === 'tls',
    requireTLS: security === 'starttls',
    ignoreTLS: security === 'none',
    ...(user === '' ? {} : { auth: { user, pass: values.secret('SMTP_PASSWORD')?.reveal() ?? '' } }),
    tls: { servername: host, minVersion: 'TLSv1.2', ...(ca.length === 0 ? {} : { ca }) },
    ...{ logger, transactionLog: true },
    disableFileAccess: true,
    disableUrlAccess: true,
    ...timeouts,
  })
  function closeSockets(): void {
    for (const socket of sockets) socket.destroy()
    sockets.clear()
  }
  async function run<T>(work: () => Promise<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new MailError('connect', `${where} did not finish in time. Try again later, or ask its operator.`))
        closeSockets()
      }, wholeMs)
    })
    const done = work()
    // The caller got this error through the race above.
    done.catch(() => {})
    try {
      return await Promise.race([done, late])
    } catch (error) {
      throw error instanceof MailError ? error : mailError(error as Failure, where)
    } finally {
      clearTimeout(timer)
    }
  }
  /** Refuses an address that the server cannot deliver to. A domain name alone can be encoded in ASCII. */
  async function assertDeliverable(to: string): Promise<void> {
    if (/^[\x00-\x7f]*@/.test(to)) return
    await transport.verify()
    if (!takesUtf8)
      throw new MailError(
        'send',
        `${where} does not accept the letters before the @ in ${cleanText(to, 254)}, because it does not support SMTPUTF8. Use an address with ASCII letters before the @.`,
        'SMTP_TEST_RECIPIENT',
        true,
      )
  }
  return {
    /** Connects, and signs in if a user is configured. */
    verify: () => run(() => transport.verify()),
    send: ({ to, subject, text, html, messageId, attachment }: SmtpMail) =>
      run(async () => {
        await assertDeliverable(to)
        return transport.sendMail({
          // Objects, so that names and addresses are not parsed as address lists.
          from: { name: 'Portcullis', address: values.text('SMTP_FROM') },
          to: { name: '', address: to },
          subject,
          text,
          html,
          messageId,
          // RFC 3834: vacation responders do not answer.
          headers: { 'Auto-Submitted': 'auto-generated' },
          ...(attachment === undefined
            ? {}
            : {
                attachments: [
                  {
                    filename: attachment.fileName,
                    contentType: attachment.mediaType,
                    content: attachment.content,
                    contentTransferEncoding: 'base64' as const,
                  },
                ],
              }),
        })
      }),
    close: () => {
      transport.close()
      closeSockets()
    },
  }
}
