import { invalid } from '@portcullis/platform/server/app-error.ts'
import type { Tx } from '@portcullis/platform/server/db/db.ts'
import { type Actor, systemActor } from '@portcullis/platform/server/http/actor.ts'
import { newId } from '@portcullis/platform/server/ids.ts'
import { Secret } from '@portcullis/platform/server/secret.ts'
import { type ConfigTested, type ConfigTestStep, configGroups, type HealthStatus } from '#features/contract.ts'
import type { GivenItems, GroupValues } from '#features/settings/server/index.ts'
import type { DeliveriesContext } from '../context.ts'
import { createMailStore } from './mail.store.ts'
import { layOut, type MailContent, subjectLine } from './mail.text.ts'
import { createSmtp, type MailAttachment, MailError, type SmtpMail } from './smtp.ts'

/** The capability that enqueues mails with a `ref`. It supplies their attachments and receives their results. */
export interface MailFollower {
  /** Returns the attachment at send time, so that it is stored once and not in each mail; null: none. */
  attachment(ref: string): Promise<MailAttachment | null>
  /** `waiting`: the attempt failed, a retry follows; `failed`: no retry follows. */
  outcome(tx: Tx, ref: string, outcome: { state: 'waiting' | 'done' | 'failed'; error: string }): Promise<void>
}

/** Bus topic: a mail is due. */
export const mailTopic = 'mail'

/** The content of a queued mail, before sealing. */
interface Written extends Omit<SmtpMail, 'messageId' | 'attachment'> {
  ref?: string | undefined
  /** The only mail server that may get this mail, because its link signs its reader in. */
  onlyTo?: string
}

const leaseMs = 120_000
const atOnce = 20
/** Equals the lifetime of the links in mails. */
const giveUpMs = 48 * 3_600_000
/** Time after a failure during which queued mails count as delayed by it. */
const aftermathMs = 15 * 60_000
const backOffMs = (attempts: number): number => Math.min(3_600_000, 30_000 * 2 ** Math.min(attempts - 1, 10))

const address = /^[^\s@<>"(),:;[\]\\]{1,64}@[^\s@<>"(),:;[\]\\]{1,190}$/
export const isMailAddress = (text: string): boolean => address.test(text)

/** Identifies the configured mail server. */
const serverOf = (values: GroupValues<'smtp'>): string =>
  JSON.stringify([...configGroups.smtp.place, 'SMTP_USER' as const].map((name) => values.text(name)))

const movedReason =
  'The mail server changed after this mail was queued. Its link was not sent. Set a password for the account, or delete it and create it again.'

/** Returns the context to which a mail's sealed text is bound. */
export const mailContext = (id: string): string => `mail ${id}`

/** Queues mails in the transaction of their cause and sends them afterwards, with retries. */
export const createMail = (context: DeliveriesContext) => {
  const { db, clock, log, bus, envelope, audit, resolve, settings } = context
  const store = createMailStore()
  let registered: MailFollower | null = null
  function follower(): MailFollower {
    if (registered === null) throw new Error('no follower of mails registered')
    return registered
  }
  let running: Promise<void> | null = null

  async function send(mail: SmtpMail, given?: GroupValues<'smtp'>): Promise<void> {
    const smtp = await createSmtp(given ?? (await settings.values(db, 'smtp')), resolve)
    try {
      await smtp.send(mail)
    } finally {
      smtp.close()
    }
  }

  async function deliverSome(): Promise<void> {
    const values = await settings.values(db, 'smtp')
    if (values.text('SMTP_HOST') === '') return
    for (;;) {
      const now = new Date(clock.now())
      const leased = new Date(clock.now() + leaseMs)
      const rows = await store.lease(db, now, leased, atOnce)
      for (const row of rows) {
        let ref: string | undefined
        const tell = async (tx: Tx, state: 'waiting' | 'done' | 'failed', error: string): Promise<void> => {
          if (ref !== undefined) await follower().outcome(tx, ref, { state, error })
        }
        // The mails before it may have taken long; another replica may hold this one now.
        if (!(await store.renew(db, row.mail_id, leased, new Date(clock.now() + leaseMs)))) continue
        try {
          const written = JSON.parse(envelope.open(row.sealed, mailContext(row.mail_id)).reveal()) as Written
          ref = written.ref
          const server = await settings.values(db, 'smtp')
          if (written.onlyTo !== undefined && written.onlyTo !== serverOf(server)) {
            log.warn({ mail: row.mail_id, subject: row.subject }, movedReason)
            await db.transaction(async (tx) => {
              await store.sent(tx, row.mail_id)
              await tell(tx, 'failed', movedReason)
              await audit.write(tx, systemActor('mail'), {
                action: 'mail.dropped',
                entity: row.subject,
                details: `to ${written.to}: ${movedReason}`,
                severity: 4,
              })
            })
            continue
          }
          const attachment = ref === undefined ? null : await follower().attachment(ref)
          // The id is the same for each attempt, so that a receiver recognises a repetition.
          await send(
            {
              ...written,
              messageId: `<${row.mail_id}@portcullis>`,
              ...(attachment === null ? {} : { attachment }),
            },
            server,
          )
          await db.transaction(async (tx) => {
            await store.sent(tx, row.mail_id)
            await tell(tx, 'done', '')
          })
          await settings.noteUse('smtp', null)
        } catch (error) {
          const reason = error instanceof MailError ? error.message : 'The mail cannot be decrypted.'
          if (!(error instanceof MailError)) log.error({ err: error, mail: row.mail_id }, 'cannot send a mail')
          // A permanently rejected recipient is not a fault of the mail server; the follower reports it.
          const isRefused = ref !== undefined && error instanceof MailError && error.isFinal
          if (!isRefused) await settings.noteUse('smtp', reason)
          if (isRefused || clock.now() - row.created_at.getTime() > giveUpMs) {
            log.warn({ mail: row.mail_id, subject: row.subject, reason }, 'gave up sending a mail')
            await db.transaction(async (tx) => {
              await store.sent(tx, row.mail_id)
              await tell(tx, 'failed', isRefused ? reason : `Given up after two days: ${reason}`)
            })
          } else
            await db.transaction(async (tx) => {
              await store.putOff(tx, row.mail_id, new Date(clock.now() + backOffMs(row.attempts)), reason)
              await tell(tx, 'waiting', reason)
            })
        }
      }
      if (rows.length < atOnce) return
    }
  }

  return {
    isFollowed: (): boolean => registered !== null,
    /** Registers the follower, once at start. */
    follow: (follower: MailFollower): void => {
      registered = follower
    },

    /** Returns whether a mail server is configured. */
    isConfigured: async (): Promise<boolean> => (await settings.values(db, 'smtp')).text('SMTP_HOST') !== '',

    /**
     * Queues a mail in the transaction; it is sent after COMMIT. Returns false if no mail server is configured. The
     * follower identifies the mail by `ref`.
     */
    enqueue: async (tx: Tx, to: string, content: MailContent, ref?: string): Promise<boolean> => {
      const server = await settings.values(tx, 'smtp')
      if (!address.test(to) || server.text('SMTP_HOST') === '') return false
      const mailId = newId(clock.now())
      const subject = subjectLine(content.subject)
      const sealed = envelope.seal(
        new Secret(
          JSON.stringify({
            to,
            subject,
            ...layOut(content),
            ref,
            ...(content.link?.isOneTime === true ? { onlyTo: serverOf(server) } : {}),
          } satisfies Written),
        ),
        mailContext(mailId),
      )
      await store.insert(tx, { mail_id: mailId, created_at: new Date(clock.now()), subject, sealed })
      await bus.publish(tx, mailTopic)
      return true
    },

    /** Sends a mail immediately, for features with their own outbox. Throws `MailError`. */
    send: async (mail: SmtpMail): Promise<void> => {
      if ((await settings.values(db, 'smtp')).text('SMTP_HOST') === '')
        throw new MailError('connect', 'No mail server is configured. Configure one under Settings, Mail.')
      await send(mail).then(
        () => settings.noteUse('smtp', null),
        async (error: unknown) => {
          if (error instanceof MailError && !error.isFinal) await settings.noteUse('smtp', error.message)
          throw error
        },
      )
    },

    /** Sends everything that is due, in one run at a time per process. */
    deliver: (): Promise<void> => {
      running ??= deliverSome().finally(() => {
        running = null
      })
      return running
    },

    /** Tests a mail server step by step with a real mail; stored values replace missing ones. */
    test: async (actor: Actor, given: GivenItems, recipient: string): Promise<ConfigTested> => {
      if (recipient !== '' && !address.test(recipient))
        throw invalid('body.SMTP_TEST_RECIPIENT', 'is not a mail address')
      const values = await settings.values(db, 'smtp', given)
      if (values.text('SMTP_HOST') === '') throw invalid('body.SMTP_HOST', 'is required for the test')
      const steps: ConfigTestStep[] = []
      const names = { connect: 'Connect', 'sign-in': 'Sign in', send: 'Send mail' } as const
      const done = (step: keyof typeof names, message: string) => steps.push({ step: names[step], ok: true, message })
      await db.transaction((tx) =>
        audit.write(tx, actor, {
          action: 'config.tested',
          entity: 'smtp',
          variant: 'smtp',
          details: values.text('SMTP_HOST'),
        }),
      )
      try {
        const smtp = await createSmtp(values, resolve)
        try {
          await smtp.verify()
          const security = values.text('SMTP_SECURITY')
          done(
            'connect',
            security === 'none'
              ? 'The server answered without encryption.'
              : 'The server answered with a trusted certificate.',
          )
          done(
            'sign-in',
            values.text('SMTP_USER') === '' ? 'Not required.' : 'The server accepted the user name and password.',
          )
          if (recipient === '') done('send', 'Not tested: no recipient was given.')
          else {
            const { text, html } = layOut({
              subject: '',
              heading: 'Test mail from Portcullis',
              paragraphs: [`${actor.userName} sent this mail to test the mail server.`],
            })
            const messageId = `<${newId(clock.now())}@portcullis>`
            await smtp.send({ to: recipient, subject: 'Portcullis: test mail', text, html, messageId })
            done('send', `The server accepted a mail to ${recipient}.`)
            // Only a test of the stored values says something about the configuration in use.
            if (Object.keys(given).length === 0) await settings.noteUse('smtp', null)
          }
        } finally {
          smtp.close()
        }
        return { ok: true, steps }
      } catch (error) {
        if (!(error instanceof MailError)) throw error
        if (error.step === 'sign-in' && steps.length === 0) done('connect', 'The server answered.')
        const { step, message, field } = error
        steps.push({ step: names[step], ok: false, message, ...(field === undefined ? {} : { field }) })
        return { ok: false, steps }
      }
    },

    /** Counts the mails that wait for another attempt. */
    waiting: (): Promise<number> => store.waiting(db),

    /** Returns whether mail is failing, so that other outboxes do not report the same cause. */
    isFailing: async (): Promise<boolean> => {
      const use = (await settings.uses()).find(({ name }) => name === 'smtp')
      if (use?.failedAt == null) return false
      const isNewest = use.succeededAt === null || use.failedAt > use.succeededAt
      return isNewest || clock.now() - Date.parse(use.failedAt) < aftermathMs
    },

    health: async (): Promise<{ status: HealthStatus; description: string }> => {
      if ((await settings.values(db, 'smtp')).text('SMTP_HOST') === '')
        return { status: 'Unknown', description: 'Not configured' }
      const { failedAt, succeededAt, failure } = (await settings.uses()).find(({ name }) => name === 'smtp') ?? {
        failedAt: null,
        succeededAt: null,
        failure: '',
      }
      const waiting = await store.waiting(db)
      if (failedAt !== null && (succeededAt === null || failedAt > succeededAt))
        return {
          status: 'Error',
          description: `${failure}${waiting > 0 ? ` ${waiting === 1 ? '1 mail is' : `${waiting} mails are`} waiting.` : ''}`,
        }
      return {
        status: 'OK',
        description: succeededAt === null ? 'No mail has been sent yet.' : 'The last mail was sent.',
      }
    },
  }
}
