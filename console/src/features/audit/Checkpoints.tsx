import { auditStatus } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useServices } from '../../lib/services.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Facts } from '../../ui/Facts.tsx'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import { Time } from '../../ui/Time.tsx'

// One comes a minute after a new record at the latest.
const interval = 30_000

const count = (value: number): string => value.toLocaleString('en')

/** Up to where the trail is signed, by which key, and whether that lies outside of the database, too. */
export const Checkpoints = () => {
  const { api } = useServices()
  const status = useQuery({
    queryKey: ['audit', 'checkpoints'],
    queryFn: ({ signal }) => api.call(auditStatus, { signal }),
    refetchInterval: interval,
  })
  if (status.error !== null && status.data === undefined)
    return <ErrorState failure={status.error} retry={() => void status.refetch()} inline />
  if (status.data === undefined) return null
  const { lastCheckpoint: last, newestAuditTrailID, uncovered, keyId, secondSink, problem } = status.data
  return (
    <section aria-label="Checkpoints">
      <Facts
        rows={[
          [
            'Signed',
            last === null ? (
              'no checkpoint yet'
            ) : (
              <span key="signed">
                {count(last.auditTrailID)} of {count(newestAuditTrailID)} lines, by checkpoint {count(last.number)} of{' '}
                <Time value={last.time} form="local" />
                {uncovered === 0 ? '' : `; ${count(uncovered)} wait for the next one`}
              </span>
            ),
          ],
          ['Key', <code key="key">{keyId}</code>],
          [
            'Second sink',
            secondSink.isCurrent ? (
              'has all of them, outside of the database'
            ) : (
              <SeverityTag key="sink" severity="amber" word={`has them up to ${count(secondSink.upTo)}`} />
            ),
          ],
          ...(problem === ''
            ? []
            : [['Problem', <SeverityTag key="problem" severity="red" word={problem} />] as const]),
        ]}
      />
    </section>
  )
}
