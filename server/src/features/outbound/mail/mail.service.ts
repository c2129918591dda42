import { type ConfigTested, type ConfigTestStep, configGroups, type HealthStatus } from '@portcullis/contract'
import type { Audit } from '#features/system/audit/index.ts'
import type { GivenItems, GroupValues, SettingsApi } from '#features/system/settings/index.ts'
import { invalid } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import type { Bus } from '#platform/db/bus.ts'
import type { Db, Tx } from '#platform/db/db.ts'
import type { Envelope } from '#platform/envelope.ts'
import { type Actor, systemActor } from '#platform/http/actor.ts'
import { newId } from '#platform/ids.ts'
import type { Log } from '#platform/log.ts'
import { Secret } from '#platform/secret.ts'
import type { MailStore } from './mail.store.ts'
import { layOut, type MailContent, subjectLine } from './mail.text.ts'
import { createSmtp, type MailAttachment, MailError, type SmtpDeps, type SmtpMail } from './smtp.ts'

export interface MailDeps extends SmtpDeps {
  db: Db
  clock: Clock
  log: Log
  bus: Pick<Bus, 'publish'>
  envelope: Envelope
  audit: Audit
  settings: Pick<SettingsApi, 'values' | 'noteUse' | 'uses' | 'guard'>
  store: MailStore
}

/** Whoever wrote mails down under a name of their own: asked for the file they carry, told what became of them. */
export interface MailFollower {
  /** Read when it is sent, so that it is stored once and not in each mail; null: it carries none. */
  attachment(ref: string): Promise<MailAttachment | null>
  /** `waiting`: this try failed, it is tried again; `failed`: it is given up. */
  outcome(tx: Tx, ref: string, outcome: { state: 'waiting' | 'done' | 'failed'; error: string }): Promise<void>
}

/** Topic of the bus: a mail waits. */
export const mailTopic = 'mail'

/** A mail as it waits, sealed. */
interface Written extends Omit<SmtpMail, 'messageId' | 'attachment'> {
  ref?: string | undefined
  /** The only mail server that it may be sent to: it carries a link that lets its reader in. */
  onlyTo?: string
}

const leaseMs = 120_000
const atOnce = 20
/** As long as the links in them live. */
const giveUpMs = 48 * 3_600_000
/** So long after a failure what waits may still wait because of it. */
const aftermathMs = 15 * 60_000
const backOffMs = (attempts: number): number => Math.min(3_600_000, 30_000 * 2 ** Math.min(attempts - 1, 10))

const address = /^[^\s@<>"(),:;[\]\\]{1,64}@[^\s@<>"(),:;[\]\\]{1,190}$/
export const isMailAddress = (text: string): boolean => address.test(text)

/** Where mail goes, so that two servers can be told apart. */
const serverOf = (values: GroupValues<'smtp'>): string =>
  JSON.stringify([...configGroups.smtp.place, 'SMTP_USER' as const].map((name) => values.text(name)))

const movedReason =
  'The mail server changed after this mail was queued. Its link was not sent. Set a password for the account, or delete it and create it again.'

/** What a mail is bound to. */
export const mailPlace = (id: string): string => `mail ${id}`

/** Mail: written down with what it is about, sent afterwards, again and again until it is through or of no use. */
export const createMail = (deps: MailDeps) => {
  const { db, clock, log, bus, envelope, audit, settings, store } = deps
  let registered: MailFollower | null = null
  function follower(): MailFollower {
    if (registered === null) throw new Error('nobody follows mails')
    return registered
  }
  let running: Promise<void> | null = null

  async function send(mail: SmtpMail, given?: GroupValues<'smtp'>): Promise<void> {
    const smtp = await createSmtp(given ?? (await settings.values(db, 'smtp')), deps)
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
        // Those before it may have been large: one that another replica has taken meanwhile is sent by that.
        if (!(await store.renew(db, row.mail_id, leased, new Date(clock.now() + leaseMs)))) continue
        try {
          const said = JSON.parse(envelope.open(row.sealed, mailPlace(row.mail_id)).reveal()) as Written
          ref = said.ref
          const server = await settings.values(db, 'smtp')
          if (said.onlyTo !== undefined && said.onlyTo !== serverOf(server)) {
            log.warn({ mail: row.mail_id, subject: row.subject }, movedReason)
            await db.transaction(async (tx) => {
              await store.sent(tx, row.mail_id)
              await tell(tx, 'failed', movedReason)
              await audit.write(tx, systemActor('mail'), {
                action: 'mail.dropped',
                entity: row.subject,
                details: `to ${said.to}: ${movedReason}`,
                severity: 4,
              })
            })
            continue
          }
          const attachment = ref === undefined ? null : await follower().attachment(ref)
          // The same id with each try: a receiver that got it already tells the second from a new one.
          await send(
            {
              ...said,
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
          const reason = error instanceof MailError ? error.message : 'The mail cannot be read.'
          if (!(error instanceof MailError)) log.error({ err: error, mail: row.mail_id }, 'a mail cannot be sent')
          // A recipient that is refused for good says nothing of the mail server; who asked for the mail is told.
          const isRefused = ref !== undefined && error instanceof MailError && error.isFinal
          if (!isRefused) await settings.noteUse('smtp', reason)
          if (isRefused || clock.now() - row.created_at.getTime() > giveUpMs) {
            log.warn({ mail: row.mail_id, subject: row.subject, reason }, 'a mail is given up')
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
    /** Names who wrote mails down under names of their own; one feature, at start. */
    follow: (follower: MailFollower): void => {
      registered = follower
    },

    /** True when mails can be sent at all. */
    isConfigured: async (): Promise<boolean> => (await settings.values(db, 'smtp')).text('SMTP_HOST') !== '',

    /**
     * Writes a mail down; it is sent after COMMIT, and not at all without one. False: no mail server is configured.
     * `ref` is the name under which the follower knows it.
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
        mailPlace(mailId),
      )
      await store.insert(tx, { mail_id: mailId, created_at: new Date(clock.now()), subject, sealed })
      await bus.publish(tx, mailTopic)
      return true
    },

    /** Sends a mail now, for features with an outbox of their own. Throws `MailError`. */
    send: async (mail: SmtpMail): Promise<void> => {
      if ((await settings.values(db, 'smtp')).text('SMTP_HOST') === '')
        throw new MailError('connect', 'No mail server is configured. Enter one under Settings, Mail.')
      await send(mail).then(
        () => settings.noteUse('smtp', null),
        async (error: unknown) => {
          if (error instanceof MailError && !error.isFinal) await settings.noteUse('smtp', error.message)
          throw error
        },
      )
    },

    /** Sends what is due; one run at a time in a process. */
    deliver: (): Promise<void> => {
      running ??= deliverSome().finally(() => {
        running = null
      })
      return running
    },

    /** Tries a mail server with real mail, step by step; stored values fill the gaps. */
    test: async (actor: Actor, given: GivenItems, recipient: string): Promise<ConfigTested> => {
      if (recipient !== '' && !address.test(recipient)) throw invalid('body.SMTP_TEST_RECIPIENT', 'is no mail address')
      const values = await settings.values(db, 'smtp', given)
      if (values.text('SMTP_HOST') === '') throw invalid('body.SMTP_HOST', 'is needed to try it')
      const steps: ConfigTestStep[] = []
      const names = { connect: 'Connect', 'sign-in': 'Sign in', send: 'Send a mail' } as const
      const done = (step: keyof typeof names, message: string) => steps.push({ step: names[step], ok: true, message })
      await db.transaction((tx) =>
        audit.write(tx, actor, { action: 'config.tested', entity: 'smtp', details: values.text('SMTP_HOST') }),
      )
      try {
        const smtp = await createSmtp(values, deps)
        try {
          await smtp.verify()
          const security = values.text('SMTP_SECURITY')
          done(
            'connect',
            security === 'none'
              ? 'The server answers, in the clear.'
              : 'The server answers, its certificate is accepted.',
          )
          done('sign-in', values.text('SMTP_USER') === '' ? 'Not asked for.' : 'User and password are accepted.')
          if (recipient === '') done('send', 'Not tried: no recipient was given.')
          else {
            const { text, html } = layOut({
              subject: '',
              heading: 'Mail from Portcullis works',
              paragraphs: [`${actor.userName} sent this to try the mail server.`],
            })
            const messageId = `<${newId(clock.now())}@portcullis>`
            await smtp.send({ to: recipient, subject: 'Portcullis: test mail', text, html, messageId })
            done('send', `The server took a mail to ${recipient}.`)
            // What is stored was tried, not something that may never be.
            if (Object.keys(given).length === 0) await settings.noteUse('smtp', null)
          }
        } finally {
          smtp.close()
        }
        return { ok: true, steps }
      } catch (error) {
        if (!(error instanceof MailError)) throw error
        if (error.step === 'sign-in' && steps.length === 0) done('connect', 'The server answers.')
        steps.push({ step: names[error.step], ok: false, message: error.message })
        return { ok: false, steps }
      }
    },

    /** Mails that wait for another try. */
    waiting: (): Promise<number> => store.waiting(db),

    /** The last mail did not get through, or lately one did not: what waits for it elsewhere is told here, and not again there. */
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
          description: `${failure}${waiting > 0 ? ` ${waiting === 1 ? '1 mail waits' : `${waiting} mails wait`}.` : ''}`,
        }
      return { status: 'OK', description: succeededAt === null ? 'No mail was sent yet.' : 'The last mail was sent.' }
    },
  }
}
