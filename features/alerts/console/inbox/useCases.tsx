import { useServices, useSession } from '@portcullis/platform/console/lib/services.tsx'
import { localTime } from '@portcullis/platform/console/lib/time.ts'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { lazilyDialog } from '@portcullis/platform/console/ui/lazily.tsx'
import { tell, tellFailure, tellWithUndo } from '@portcullis/platform/console/ui/tell.ts'
import { useState } from 'react'
import {
  alertStates,
  assignAlerts,
  closeAlerts,
  commentAlerts,
  muteAlert,
  reopenAlerts,
  reopenFindings,
  snoozeAlerts,
} from '#features/contract.ts'
import { alertsKey } from '../shared/useAlerts.ts'
import type { Case, Closing } from './case.ts'
import { strings } from './strings.ts'

const CloseDialog = lazilyDialog(async () => (await import('./CloseDialog.tsx')).CloseDialog)

/** Value of the filter that also finds closed and snoozed alerts. */
export const everyState = alertStates.join(',')

/** Returns the actions that handle alerts for everybody, and their dialog. `gone` receives alerts that leave the list. */
export const useCases = (gone: (ids: ReadonlySet<number>) => void) => {
  const { api, clock, queries } = useServices()
  const session = useSession()
  const [closing, setClosing] = useState<{ cases: readonly Case[]; done: () => void } | null>(null)
  const reread = () => queries.invalidateQueries({ queryKey: [alertsKey] })
  const idsOf = (cases: readonly Case[]) => cases.map(({ id }) => id)
  const me = session.phase === 'in' ? session.profile.account.userName : ''
  const send = (call: () => Promise<{ changed: number[] }>, done: (ids: number[]) => void): void =>
    void call().then(({ changed }) => {
      done(changed)
      return reread()
    }, tellFailure)
  const reopen = async (ids: number[]) => {
    await api.call(reopenAlerts, { body: { ids } })
    await reread()
  }

  return {
    me,
    /** Sets or removes (null) the owner. */
    assign: (cases: readonly Case[], owner: string | null): void =>
      send(
        () => api.call(assignAlerts, { body: { ids: idsOf(cases), owner } }),
        ({ length }) =>
          tell(owner === null ? strings.released({ count: length }) : strings.assigned({ count: length, owner })),
      ),
    /** Hides alerts until a time; null: ends the snooze. */
    snooze: (cases: readonly Case[], until: Date | null, done: () => void = () => undefined): void => {
      const wake = (ids: number[]) => api.call(snoozeAlerts, { body: { ids, until: null } })
      send(
        () => api.call(snoozeAlerts, { body: { ids: idsOf(cases), until: until?.toISOString() ?? null } }),
        (ids) => {
          done()
          if (until === null) {
            tell(strings.snoozeEnded({ count: ids.length }))
            return
          }
          gone(new Set(ids))
          tellWithUndo(strings.snoozed({ count: ids.length, time: localTime(until.getTime()) }), async () => {
            await wake(ids)
            await reread()
          })
        },
      )
    },
    /** Asks for a reason, and mutes the model of an alert. */
    mute: ({ id, title }: Case, days: number): void => {
      const until = new Date(clock.now() + days * 86_400_000)
      confirm({
        title: strings.muteTitle({ days }),
        names: [title],
        kind: strings.alertCount,
        consequence: strings.muteConsequence,
        reasonFor: strings.muteReason,
        run: async (reason) => {
          await api.call(muteAlert, { body: { id, until: until.toISOString(), reason } })
          gone(new Set([id]))
          await reread()
        },
        done: strings.muted({ time: localTime(until.getTime()) }),
      })
    },
    comment: async (cases: readonly Case[], comment: string): Promise<void> => {
      await api.call(commentAlerts, { body: { ids: idsOf(cases), comment } })
      await reread()
    },
    reopen: (cases: readonly Case[]): void =>
      void reopen(idsOf(cases)).then(() => tell(strings.reopened({ count: cases.length })), tellFailure),
    /** Asks for the verdict of open alerts. */
    close: (cases: readonly Case[], done: () => void = () => undefined): void => {
      const open = cases.filter(({ state }) => state !== 'closed')
      if (open.length > 0) setClosing({ cases: open, done })
    },
    dialog: (
      <CloseDialog
        cases={closing?.cases ?? null}
        cancel={() => setClosing(null)}
        close={async ({ verdict, comment, findings }: Closing) => {
          const { changed } = await api.call(closeAlerts, {
            body: {
              ids: idsOf(closing?.cases ?? []),
              ...(verdict === '' ? {} : { verdict }),
              ...(comment === '' ? {} : { comment }),
              ...(findings.length === 0 ? {} : { findings: [...findings] }),
            },
          })
          closing?.done()
          setClosing(null)
          gone(new Set(changed))
          void reread()
          void queries.invalidateQueries({ queryKey: ['findings'] })
          tellWithUndo(strings.closed({ count: changed.length }), async () => {
            if (findings.length > 0) await api.call(reopenFindings, { body: { ids: [...findings] } })
            await reopen(changed)
          })
        }}
      />
    ),
  }
}
export type CaseActionsState = ReturnType<typeof useCases>
