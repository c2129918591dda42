import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { auditStatus } from '#features/contract.ts'
import { strings } from './strings.ts'

// A checkpoint is at most a minute newer than a record.
const interval = 30_000

const count = (value: number): string => value.toLocaleString('en')

/** Shows up to which record the trail is signed, by which key, and whether a copy outside the database has it. */
export const Checkpoints = () => {
  const status = useRead(['audit', 'checkpoints'], auditStatus, { refetchInterval: interval })
  if (status.error !== null && status.data === undefined) return <ErrorState query={status} inline />
  if (status.data === undefined) return null
  const { lastCheckpoint: last, newestAuditTrailID, uncovered, keyId, secondSink, problem } = status.data
  return (
    <section aria-label={strings.checkpoints}>
      <Facts
        rows={[
          [
            strings.signed,
            last === null ? (
              strings.noCheckpoint
            ) : (
              <span key="signed">
                {(uncovered === 0 ? strings.signedUpTo : strings.signedUpToWaiting)({
                  signed: count(last.auditTrailID),
                  newest: count(newestAuditTrailID),
                  number: count(last.number),
                  time: <Time value={last.time} form="local" />,
                  waiting: count(uncovered),
                })}
              </span>
            ),
          ],
          [strings.key, <code key="key">{keyId}</code>],
          [
            strings.copy,
            secondSink.isCurrent ? (
              strings.copyComplete
            ) : (
              <SeverityTag key="sink" severity="amber" word={strings.copyUpTo({ record: count(secondSink.upTo) })} />
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
