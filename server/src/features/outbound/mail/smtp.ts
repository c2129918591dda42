import { connect, type Socket } from 'node:net'
import { cleanText } from '@portcullis/domain'
import { createTransport, type Transporter } from 'nodemailer'
import type { GroupValues } from '#features/system/settings/index.ts'
import { certificatesOf } from '#features/system/settings/index.ts'

/** What went wrong with a mail server, in words that help. */
export class MailError extends Error {
  readonly step: 'connect' | 'sign-in' | 'send'
  /** The server refused this mail for good (5xx): the same again will not get through. */
  readonly isFinal: boolean
  constructor(step: MailError['step'], message: string, isFinal = false) {
    super(message)
    this.step = step
    this.isFinal = isFinal
  }
}

/** Milliseconds of a whole exchange: each byte begins the times below anew, so that a drop now and then would hold it for ever. */
const wholeMs = 60_000
/** Times for a server that accepts and never speaks. */
const timeouts = { connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000, dnsTimeout: 5_000 }

type Failure = Error & { code?: string; command?: string; responseCode?: number; response?: string }

const said = (failure: Failure): string => cleanText(failure.response ?? failure.message, 200)

/** A failure of the library as the step it belongs to, with the cure. `where` is host and port as they are configured. */
const mailError = (failure: Failure, where: string): MailError => {
  const { code, command } = failure
  if (code === 'EAUTH')
    return new MailError('sign-in', `${where}: user or password is refused (${said(failure)}). Check both.`)
  if (
    code === 'EENVELOPE' ||
    code === 'EMESSAGE' ||
    command === 'RCPT TO' ||
    command === 'MAIL FROM' ||
    command === 'DATA'
  )
    return new MailError(
      'send',
      `${where} refuses the mail (${said(failure)}). Check sender and recipient.`,
      // A sender that is refused is refused for every mail: that is for whoever set the server up.
      (failure.responseCode ?? 0) >= 500 && command !== 'MAIL FROM',
    )
  if (code === 'EDNS' || code === 'ENOTFOUND')
    return new MailError('connect', `${where}: the name has no address. Check the spelling.`)
  if (code === 'ECONNREFUSED' || (code === 'ESOCKET' && /ECONNREFUSED/.test(failure.message)))
    return new MailError('connect', `Nothing listens at ${where}. Check host and port.`)
  if (/certificate|self.signed|altname|unable to (?:verify|get)/i.test(failure.message))
    return new MailError(
      'connect',
      `The certificate of ${where} is not accepted (${said(failure)}). Give the CA that issued it, and the name it is made for.`,
    )
  if (code === 'ETLS')
    return new MailError('connect', `${where} offers no STARTTLS. Choose another security, or enable it there.`)
  if (code === 'ETIMEDOUT' || code === 'ECONNECTION')
    return new MailError(
      'connect',
      `No answer from ${where}. Check host, port and security: a server that expects TLS from the first byte says nothing else.`,
    )
  return new MailError(
    'connect',
    `The connection to ${where} failed, or something else than a mail server answers there. Check port and security.`,
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

export interface SmtpDeps {
  /** Where a host is, when it may be connected to at all. */
  resolve(host: string): Promise<string>
}

/** A mail server as it is configured. */
export const createSmtp = async (values: GroupValues<'smtp'>, { resolve }: SmtpDeps) => {
  const host = values.text('SMTP_HOST')
  const port = values.number('SMTP_PORT')
  const where = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const security = values.text('SMTP_SECURITY')
  const user = values.text('SMTP_USER')
  const ca = certificatesOf(values.text('SMTP_CA'))
  let address: string
  try {
    address = await resolve(host)
  } catch (error) {
    throw new MailError('connect', `${where}: ${(error as Error).message}`)
  }
  const sockets = new Set<Socket>()
  const transport: Transporter = createTransport({
    host: address,
    port,
    // A socket of our own: the library has no way to end an exchange that never falls silent.
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
        reject(
          new MailError('connect', `${where} did not come to an end in time. Try again later, or ask who runs it.`),
        )
        closeSockets()
      }, wholeMs)
    })
    const done = work()
    // Whoever waits has been told by then.
    done.catch(() => {})
    try {
      return await Promise.race([done, late])
    } catch (error) {
      throw error instanceof MailError ? error : mailError(error as Failure, where)
    } finally {
      clearTimeout(timer)
    }
  }
  return {
    /** Connects, and signs in when there is a user. */
    verify: () => run(() => transport.verify()),
    send: ({ to, subject, text, html, messageId, attachment }: SmtpMail) =>
      run(() =>
        transport.sendMail({
          // As objects: nothing in a name or address is parsed as a list of addresses.
          from: { name: 'Portcullis', address: values.text('SMTP_FROM') },
          to: { name: '', address: to },
          subject,
          text,
          html,
          messageId,
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
        }),
      ),
    close: () => {
      transport.close()
      closeSockets()
    },
  }
}
