import type { Tx } from '@portcullis/platform/server/db/db.ts'
import type { AlertKind } from '#features/contract.ts'
import { deviceDetails, type EventOrigin, eventOrigin, type NewEvent } from '#features/events/server/index.ts'
import { createAlertsStore } from './alerts.store.ts'
import { bySystem, type Cases, caseEvent } from './cases.service.ts'
import type { AlertsContext } from './context.ts'
import type { AlertNews } from './news.ts'

/** Hosts per run, which limits its duration. */
const atOnce = 1_000
/** Violations read per run. Beyond this number, missing ones may just be cut off. */
const mostViolations = 20_000
/** After a change of the policy, hosts fetch it, block devices and report within this time. */
const settleMs = 90_000

const lasting = (ms: number): string => {
  const hours = Math.floor(ms / 3_600_000)
  return hours < 48 ? `${hours} hours` : `${Math.floor(hours / 24)} days`
}

/** Turns states (silent, uncommon, not on the allowlist) into one event each when they begin. */
export const createWatchers = (
  { db, clock, events, insights, settings }: AlertsContext,
  cases: Pick<Cases, 'end'>,
  notify: (tx: Tx, news: readonly AlertNews[]) => Promise<void>,
) => {
  const store = createAlertsStore()
  /** Appends events for new findings, in one replica at a time. */
  async function reportNew<T>(
    kind: AlertKind,
    found: readonly T[],
    subjectOf: (one: T) => string,
    eventOf: (one: T, host: EventOrigin) => NewEvent,
    hostOf: (one: T) => string,
    isWhole: boolean,
    settle = 0,
    isUnsettled: (one: T) => boolean = () => false,
  ): Promise<void> {
    await db.transaction(async (tx) => {
      if (!(await store.tryWatch(tx))) return
      const now = new Date(clock.now())
      const unsettled = found.filter(isUnsettled).map(subjectOf)
      const fresh = await store.sight(tx, kind, found.map(subjectOf), isWhole, now, settle, unsettled)
      if (fresh.size === 0) return
      const news = found.filter((one) => fresh.has(subjectOf(one)))
      const hosts = new Map(
        (await store.hosts(tx, [...new Set(news.map(hostOf))])).map((host) => [host.agent_id, host]),
      )
      await events.append(
        tx,
        news.flatMap((one) => {
          const host = hosts.get(hostOf(one))
          if (host === undefined) return []
          return [eventOf(one, eventOrigin(host))]
        }),
      )
    })
  }

  /** Ends the open alerts of a kind about models. `reasonsOf` returns those whose condition is over, with the reason. */
  async function endOver(
    kind: AlertKind,
    reasonsOf: (models: readonly string[]) => Promise<ReadonlyMap<string, string>>,
  ): Promise<void> {
    const open = await store.openModels(db, kind)
    const reasons = open.length === 0 ? new Map() : await reasonsOf(open.map(({ subject }) => subject))
    const over = open.filter(({ subject }) => reasons.has(subject))
    if (over.length === 0) return
    await db.transaction(async (tx) => {
      if (!(await store.tryWatch(tx))) return
      const ended: typeof over = []
      for (const row of over)
        if ((await cases.end(tx, [row.notice_id], bySystem, reasons.get(row.subject) as string)).length > 0)
          ended.push(row)
      await notify(
        tx,
        ended.map(({ notice_id, turn, severity, hashtags }) => ({
          alertId: notice_id,
          turn,
          news: 'resolved',
          before: null,
          id: kind,
          list: 'risk',
          severity,
          tags: new Set(hashtags.split(',').filter((tag) => tag !== '')),
        })),
      )
      await events.append(
        tx,
        ended.map((row) => caseEvent(row, 'alertClosed', `ended: ${reasons.get(row.subject)}`)),
      )
    })
  }

  async function watchSilence(): Promise<void> {
    const hours = Number(settings.now('VENDORA_SILENT_HOURS'))
    if (hours === 0) return
    const now = clock.now()
    async function step(tx: Tx): Promise<boolean> {
      if (!(await store.tryWatch(tx))) return false
      const rows = await store.silence(tx, new Date(now - hours * 3_600_000), atOnce)
      if (rows.length === 0) return false
      const idsOf = (isSilent: boolean) => rows.filter((row) => row.is_silent === isSilent).map((row) => row.agent_id)
      await store.noteSilent(tx, idsOf(true), new Date(now))
      await store.forgetSilent(tx, idsOf(false))
      await events.append(
        tx,
        rows.map(
          (row): NewEvent => ({
            kind: row.is_silent ? 'silent' : 'heardAgain',
            ...eventOrigin(row),
            details: row.is_silent
              ? `No check-in for ${lasting(now - row.last_seen.getTime())}, last at ${row.last_seen.toISOString().slice(0, 19).replace('T', ' ')}`
              : '',
          }),
        ),
      )
      return rows.length >= atOnce
    }
    while (await db.transaction(step));
  }

  return {
    silence: watchSilence,

    /** Reports each device of an uncommon shape with one event. Attack tools are left out: they have their own alert. */
    uncommon: async (): Promise<void> => {
      const rare = await insights.uncommonNow()
      if (rare === null) return
      const found = rare
        .filter(({ isKnownAttackTool }) => !isKnownAttackTool)
        .flatMap((one) => one.agents.map((agent) => ({ one, agent })))
      await reportNew(
        'uncommon',
        found,
        ({ one, agent }) => `${one.vid}:${one.pid} ${one.interfaces} ${agent.uuid}`,
        ({ one }, host) => ({
          ...host,
          kind: 'uncommon',
          icon: one.devIcon,
          details: deviceDetails({
            vulnerable: false,
            vid: one.vid,
            pid: one.pid,
            serial: '',
            vendor: one.guiVid,
            product: one.guiPid,
          }),
        }),
        ({ agent }) => agent.uuid,
        true,
      )
      const rareModels = new Set(rare.map(({ vid, pid }) => `${vid}:${pid}`))
      await endOver('uncommon', async (models) => {
        const common = await insights.commonOf(models.filter((model) => !rareModels.has(model)))
        return new Map(
          [...common].map(([model, hosts]) => [
            model,
            `The model is no longer uncommon: ${hosts.toLocaleString('en')} hosts have it.`,
          ]),
        )
      })
    },

    /**
     * Reports devices that armed hosts let work although no rule allows them. Hosts in monitoring mode report none: there
     * the list of devices shows them. What the host blocks within a moment is reported as blocked.
     */
    violations: async (): Promise<void> => {
      const found = await insights.usableViolations(mostViolations)
      await reportNew(
        'whitelistViolation',
        found,
        (one) => `${one.agentId} ${one.deviceId}`,
        (one, host) => ({
          ...host,
          kind: 'violation',
          icon: one.icon,
          deviceId: one.deviceId,
          details: deviceDetails({ vulnerable: false, ...one }),
        }),
        ({ agentId }) => agentId,
        found.length < mostViolations,
        settleMs,
        ({ isDue }) => isDue,
      )
      if (found.length >= mostViolations) return
      const still = new Set(found.map(({ vid, pid }) => `${vid}:${pid}`.toUpperCase()))
      await endOver('whitelistViolation', async (models) => {
        const reason =
          'No armed host lets a device of this model work without a rule any more: it was approved, blocked or removed.'
        return new Map(models.filter((model) => !still.has(model)).map((model) => [model, reason]))
      })
    },
  }
}
