import { auditStatus } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useServices } from '../../lib/services.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { Facts } from '../../ui/Facts.tsx'
import { SeverityTag } from '../../ui/SeverityTag.tsx'
import { Time } from '../../ui/Time.tsx'
import { strings } from './strings.ts'

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
    <section aria-label={strings.checkpoints}>
      <Facts
        rows={[
          [
            strings.signed,
            last === null ? (
              'no checkpoint yet'
            ) : (
              <span key="signed">
                {strings.audittrailidOfNewestaudittrailidLinesByCheckpoint({
                  auditTrailID: count(last.auditTrailID),
                  newestAuditTrailID: count(newestAuditTrailID),
                  number: count(last.number),
                  time: <Time value={last.time} form="local" />,
                  value: uncovered === 0 ? '' : strings.uncoveredWaitForTheNextOne({ uncovered: count(uncovered) }),
                })}
              </span>
            ),
          ],
          [strings.key, <code key="key">{keyId}</code>],
          [
            strings.secondSink,
            secondSink.isCurrent ? (
              strings.hasAllOfThemOutsideOf
            ) : (
              <SeverityTag
                key="sink"
                severity="amber"
                word={strings.hasThemUpToUpto({ upTo: count(secondSink.upTo) })}
              />
            ),
          ],
          ...(problem === ''
            ? []
            : [[strings.problem, <SeverityTag key="problem" severity="red" word={problem} />] as const]),
        ]}
      />
    </section>
  )
}
