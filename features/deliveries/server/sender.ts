import { createWebhookSender, retryOf, WebhookError } from '@portcullis/platform/server/webhooks/index.ts'
import { probeEveryMs, waitAfter } from './backoff.ts'
import type { DeliveriesContext } from './context.ts'
import { createDeliveriesStore, type LeasedDelivery } from './deliveries.store.ts'
import type { DeliveryGroups } from './groups.ts'
import { type MailApi, MailError, type SmtpMail } from './mail/index.ts'

/** Longer than an attempt may take: 40 s for a mail, 10 s for a webhook. */
const leaseMs = 180_000
const atOnce = 4
/** Longest delay for a mailbox that is full or greylists. */
const mostPutOffMs = 3_600_000

/** Result of an attempt. */
type Outcome =
  | { kind: 'delivered'; destination?: string }
  /** The receiver is unavailable or asks to retry later. */
  | { kind: 'later'; why: string; waitMs: number | null; destination?: string }
  /** The receiver does not accept this message now; it may accept others. */
  | { kind: 'putOff'; why: string }
  /** The receiver rejects this message permanently. */
  | { kind: 'refused'; why: string; destination?: string }
  | { kind: 'unwanted'; why: string }

/** Sends due messages to all receivers in parallel, so that a slow one delays no other. */
export const createSender = (
  { db, clock, log, metrics, resolve }: DeliveriesContext,
  mail: MailApi,
  groups: () => DeliveryGroups,
  /** Hints consoles to reload. */
  changed: () => Promise<void>,
  /** Aborted when the server stops. The sender then leases no further messages. */
  stopping: AbortSignal,
) => {
  const store = createDeliveriesStore()
  const tries = metrics.counter('portcullis_deliveries_total', 'Attempts to deliver a mail or webhook message.', [
    'channel',
    'outcome',
  ])
  /** Receivers that this process is sending to. */
  const running = new Map<string, Promise<void>>()

  async function mailOut(row: LeasedDelivery): Promise<Outcome> {
    if (!(await groups().isRecipient(row.group_id, row.destination)))
      return { kind: 'unwanted', why: 'The group no longer mails to this address.' }
    const { subject, text, html } = JSON.parse(row.body) as Pick<SmtpMail, 'subject' | 'text' | 'html'>
    try {
      // The id is the same for each attempt, so that a receiver recognises a repetition.
      await mail.send({ to: row.destination, subject, text, html, messageId: `<${row.delivery_id}@portcullis>` })
      return { kind: 'delivered' }
    } catch (error) {
      if (!(error instanceof MailError)) throw error
      if (error.isFinal) return { kind: 'refused', why: error.message }
      // A full mailbox concerns neither the mail server nor other people's mailboxes.
      return error.step === 'send'
        ? { kind: 'putOff', why: error.message }
        : { kind: 'later', why: error.message, waitMs: null }
    }
  }

  async function webhookOut(row: LeasedDelivery): Promise<Outcome> {
    const place = await groups().webhookOf(row.group_id)
    if (place === null) return { kind: 'unwanted', why: 'The group no longer has an active webhook.' }
    const destination = URL.parse(place.url)?.host ?? row.destination
    try {
      const { sendWebhook } = createWebhookSender({ resolve, ca: place.ca, now: clock.now })
      const { status, retryAfterSeconds } = await sendWebhook({
        url: place.url,
        secret: place.secret,
        id: row.delivery_id,
        timestamp: Math.floor(clock.now() / 1000),
        body: row.body,
      })
      const outcome = retryOf(status)
      if (outcome === 'delivered') return { kind: 'delivered', destination }
      const why = `The webhook answered ${status}.`
      return outcome === 'retry'
        ? { kind: 'later', why, waitMs: retryAfterSeconds === null ? null : retryAfterSeconds * 1000, destination }
        : { kind: 'refused', why: `${why} Check its address and what it accepts.`, destination }
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error
      return retryOf(error.fault) === 'final'
        ? { kind: 'refused', why: error.message, destination }
        : { kind: 'later', why: error.message, waitMs: null, destination }
    }
  }

  /** Sends one delivery. Returns true if the receiver can take the next one. */
  async function sendOne(target: string, row: LeasedDelivery): Promise<boolean> {
    const outcome = await (row.channel === 'email' ? mailOut(row) : webhookOut(row)).catch(
      (error: unknown): Outcome => {
        log.error({ err: error, delivery: row.delivery_id }, 'cannot send a delivery')
        return { kind: 'later', why: 'Internal error. See the server log.', waitMs: null }
      },
    )
    tries.inc({ channel: row.channel, outcome: outcome.kind })
    const now = new Date(clock.now())
    const ended = (state: 'delivered' | 'failed' | 'dropped', error: string) =>
      store.settle(db, row, { state, nextAt: now, endedAt: now, error, destination: destinationOf(outcome) })
    if (outcome.kind === 'delivered') {
      await ended('delivered', '')
      await store.targetWorks(db, target, row.destination, now)
      return true
    }
    if (outcome.kind === 'unwanted') {
      await ended('dropped', outcome.why)
      return true
    }
    if (outcome.kind === 'refused') {
      await ended('failed', outcome.why)
      return true
    }
    const wait =
      outcome.kind === 'later'
        ? Math.max(waitAfter(row.attempts), outcome.waitMs ?? 0)
        : Math.min(waitAfter(row.attempts), mostPutOffMs)
    await store.settle(db, row, {
      state: 'waiting',
      nextAt: new Date(clock.now() + wait),
      endedAt: null,
      error: outcome.why,
      destination: destinationOf(outcome),
    })
    if (outcome.kind === 'putOff') return true
    await store.targetFailed(db, target, now, new Date(clock.now() + probeEveryMs), outcome.why)
    return false
  }

  async function sendTo(target: string): Promise<void> {
    while (!stopping.aborted) {
      const now = new Date(clock.now())
      const rows = await store.lease(db, target, now, new Date(clock.now() + leaseMs), atOnce)
      if (rows.length === 0) return
      for (const [i, row] of rows.entries()) {
        if (await sendOne(target, row)) continue
        const rest = rows.slice(i + 1)
        if (rest.length > 0) await store.release(db, rest)
        return
      }
    }
  }

  return {
    /** Sends everything that is due and resolves once every receiver was tried. */
    deliver: async (): Promise<void> => {
      const targets = await store.dueTargets(db, new Date(clock.now()))
      const idle = targets.filter((target) => !running.has(target))
      for (const target of idle)
        running.set(
          target,
          sendTo(target).finally(() => running.delete(target)),
        )
      // Includes the current runs: callers want the messages sent.
      await Promise.all(running.values())
      if (idle.length > 0) await changed()
    },
  }
}

const destinationOf = (outcome: Outcome): string | null =>
  'destination' in outcome ? (outcome.destination ?? null) : null
