import { listWaitingNotices } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useServices } from '../../lib/services.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { channelLabels } from '../../ui/notices/labels.ts'
import { Time } from '../../ui/Time.tsx'
import { useLiveRefresh } from '../../ui/useLive.ts'
import classes from './deliveries.module.css'
import { strings } from './strings.ts'

// A flood is folded in steps of a second or so.
const refreshGap = 2_000

/** What groups have to tell and do not yet: no message is written down before its time. */
export const Waiting = () => {
  const { api } = useServices()
  const waiting = useQuery({
    queryKey: ['waiting-notices'],
    queryFn: ({ signal }) => api.call(listWaitingNotices, { signal }),
    // Some wait for seconds only, and nothing tells when they are told but a delivery.
    refetchInterval: 15_000,
  })
  useLiveRefresh(['notices', 'deliveries'], refreshGap, () => void waiting.refetch())
  if (waiting.data === undefined)
    return waiting.error === null ? null : (
      <ErrorState failure={waiting.error} retry={() => void waiting.refetch()} inline />
    )
  if (waiting.data.length === 0) return null
  return (
    <section className={classes.streams} aria-label={strings.waitsToBeTold}>
      <h2>{strings.waitsToBeTold}</h2>
      <ul>
        {waiting.data.map(({ groupId, groupName, channel, notices, isForQuietHours, nextAt }) => (
          <li key={`${groupId} ${channel}`} className={classes.stream}>
            <div className={classes.streamHead}>
              <strong>{groupName}</strong>
              <span className={classes.where}>{channelLabels[channel]}</span>
              <span>
                {notices.toLocaleString('en')} {notices === 1 ? 'notice' : 'notices'},{' '}
                {isForQuietHours ? 'until the quiet hours end' : 'gathered until'} <Time value={nextAt} form="local" />
              </span>
            </div>
          </li>
        ))}
      </ul>
    </section>
  )
}
