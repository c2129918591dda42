import {
  dismissHealthNotice,
  dismissRiskNotice,
  pinHealthNotice,
  pinRiskNotice,
  readHealthNotices,
  readRiskNotices,
} from '@portcullis/contract'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { confirm } from '@portcullis/platform/console/ui/confirm.ts'
import { tell, tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import type { InboxList, Line } from '../shared/line.ts'
import { alertsKey } from '../shared/useAlerts.ts'
import { strings } from './strings.ts'

// The API dismisses one alert at a time; six calls in parallel keep a long list from taking minutes.
const atOnce = 6

/** Returns the actions for alerts of a list. `gone` receives the ids of dismissed alerts. */
export const useAlertActions = (list: InboxList, gone: (ids: ReadonlySet<number>) => void) => {
  const { api, queries } = useServices()
  const reread = () => queries.invalidateQueries({ queryKey: [alertsKey] })
  const dismissOne = (id: number) =>
    list === 'risk' ? api.call(dismissRiskNotice, { body: { id } }) : api.call(dismissHealthNotice, { body: id })

  return {
    pin: ({ id, isPinned }: Line): void => {
      const asked =
        list === 'risk'
          ? api.call(pinRiskNotice, { body: { id, isPinned: !isPinned } })
          : api.call(pinHealthNotice, { body: id })
      void asked.then(reread, tellFailure)
    },
    /** Dismisses one alert at once. For several, the user confirms first, because a dismissal cannot be undone. */
    dismiss: (lines: readonly Line[], done: () => void = () => undefined): void => {
      const open = lines.filter(({ isDismissed }) => !isDismissed)
      const [only] = open
      if (only === undefined) return
      if (open.length === 1) {
        void dismissOne(only.id).then(() => {
          gone(new Set([only.id]))
          tell(strings.dismissed)
          done()
          return reread()
        }, tellFailure)
        return
      }
      confirm({
        title: strings.dismissTitle,
        names: [...new Set(open.map(({ title }) => title))],
        count: open.length,
        kind: strings.alertCount,
        consequence: strings.dismissConsequence,
        action: strings.dismiss,
        run: async () => {
          const rest = open.map(({ id }) => id)
          const ended: number[] = []
          try {
            await Promise.all(
              Array.from({ length: atOnce }, async () => {
                for (let id = rest.shift(); id !== undefined; id = rest.shift()) {
                  await dismissOne(id)
                  ended.push(id)
                }
              }),
            )
          } finally {
            gone(new Set(ended))
            void reread()
          }
          tell(strings.dismissedCount({ count: ended.length }))
          done()
        },
      })
    },
    readAll: (): void => {
      void api.call(list === 'risk' ? readRiskNotices : readHealthNotices).then(reread, tellFailure)
    },
  }
}
