import {
  dismissHealthNotice,
  dismissRiskNotice,
  pinHealthNotice,
  pinRiskNotice,
  readHealthNotices,
  readRiskNotices,
} from '@portcullis/contract'
import { useServices } from '../../lib/services.tsx'
import { confirm } from '../../ui/confirm.ts'
import { noticesKey } from '../../ui/notices/useNotices.ts'
import { tell, tellFailure } from '../../ui/tell.ts'
import type { Line, NoticeList } from './line.ts'
import { strings } from './strings.ts'

// The interface dismisses one at a time; a few at once keep a long list from taking minutes.
const atOnce = 6
const comesBack = strings.itComesBackWhenItHappens

/** What can be done with notices of a list. `gone` hears which ones were dismissed. */
export const useNoticeActions = (list: NoticeList, gone: (ids: ReadonlySet<number>) => void) => {
  const { api, queries } = useServices()
  const reread = () => queries.invalidateQueries({ queryKey: [noticesKey] })
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
    /** One goes at once; many are asked about, since nothing brings them back but their happening again. */
    dismiss: (lines: readonly Line[], done: () => void = () => undefined): void => {
      const open = lines.filter(({ isDismissed }) => !isDismissed)
      const [only] = open
      if (only === undefined) return
      if (open.length === 1) {
        void dismissOne(only.id).then(() => {
          gone(new Set([only.id]))
          tell(strings.dismissedForAllComesback({ comesBack }))
          done()
          return reread()
        }, tellFailure)
        return
      }
      confirm({
        title: strings.dismissNotices,
        names: [...new Set(open.map(({ title }) => title))],
        count: open.length,
        kind: ['notice', 'notices'],
        consequence: strings.theyLeaveTheListOfEvery,
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
          tell(strings.endedNoticesDismissedForAll({ ended: ended.length }))
          done()
        },
      })
    },
    readAll: (): void => {
      void api.call(list === 'risk' ? readRiskNotices : readHealthNotices).then(reread, tellFailure)
    },
  }
}
