import { CallFailure } from '@portcullis/platform/console/lib/problem.ts'
import { parseTime } from '@portcullis/platform/console/lib/time.ts'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { CopyField } from '@portcullis/platform/console/ui/CopyField.tsx'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Facts } from '@portcullis/platform/console/ui/Facts.tsx'
import { DrawerBody, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { Link } from '@tanstack/react-router'
import { type AuditFact, type AuditObject, type AuditDetail as Detail, getAuditRecord } from '#features/contract.ts'
import { eventSeverity } from '#features/devices/console/shared/findings.ts'
import { ObjectName, Sentence, Who } from './Sentence.tsx'
import { strings } from './strings.ts'

/** More objects would make the panel slow; the exact record has all. */
const shownObjects = 50

/** Returns the local day of an instant as a period. */
const dayOf = (time: string): string => {
  const at = new Date(parseTime(time) ?? 0)
  const from = new Date(at.getFullYear(), at.getMonth(), at.getDate())
  const to = new Date(at.getFullYear(), at.getMonth(), at.getDate() + 1)
  return `${from.toISOString().slice(0, 16)}Z..${to.toISOString().slice(0, 16)}Z`
}

const Value = ({ value }: { value: string }) => <DeviceText value={value} absent={strings.none} />

const Changes = ({ facts }: { facts: readonly AuditFact[] }) => (
  <section aria-label={strings.changes}>
    <h3>{strings.changes}</h3>
    <Stack as="dl" gap={6} small>
      {facts.map(({ name, before, after }, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the facts of a record never change
        <div key={index}>
          <dt>
            <DeviceText value={name} />
          </dt>
          <dd>
            <Value value={before} />
            <span aria-hidden="true"> → </span>
            <Value value={after} />
          </dd>
        </div>
      ))}
    </Stack>
  </section>
)

const Objects = ({ objects }: { objects: readonly AuditObject[] }) => (
  <section aria-label={strings.objects}>
    <h3>{strings.objects}</h3>
    <Stack as="ul" gap={4} small breaks>
      {objects.slice(0, shownObjects).map((object) => (
        <li key={`${object.kind} ${object.id} ${object.name}`}>
          <ObjectName object={object} />
        </li>
      ))}
      {objects.length > shownObjects ? <li>{strings.more({ count: objects.length - shownObjects })}</li> : null}
    </Stack>
  </section>
)

/** The filter that finds all records about an object, by its kind. */
const aboutOf = ({ kind, id, name }: AuditObject) => {
  const text = id === '' ? name : id
  if (kind === 'host') return { host: text }
  if (kind === 'device') return { device: text }
  if (kind === 'rule') return { rule: text }
  return kind === 'account' ? { account: name } : null
}

const Related = ({ detail }: { detail: Detail }) => {
  const { userName: person, creationTime, objects } = detail
  const shown = <Who userName={person} />
  return (
    <section aria-label={strings.related}>
      <h3>{strings.related}</h3>
      <Stack as="ul" gap={4} small breaks>
        <li>
          <Link to="/settings/audit" search={{ person, time: dayOf(creationTime) }}>
            {strings.sameDay({ person: shown })}
          </Link>
        </li>
        <li>
          <Link to="/settings/audit" search={{ person }}>
            {strings.samePerson({ person: shown })}
          </Link>
        </li>
        {objects.slice(0, 5).map((object) => {
          const search = aboutOf(object)
          return search === null ? null : (
            <li key={`${object.kind} ${object.id} ${object.name}`}>
              <Link to="/settings/audit" search={search}>
                {strings.sameObject({ name: <DeviceText value={object.name} /> })}
              </Link>
            </li>
          )
        })}
      </Stack>
    </section>
  )
}

const Exact = ({ detail }: { detail: Detail }) => (
  <details>
    <summary>{strings.exact}</summary>
    <Stack top={10} gap={10}>
      <CopyField value={detail.record} what={strings.exactText} />
      <Facts
        rows={[
          [strings.number, String(detail.auditTrailID)],
          [strings.action, <code key="code">{detail.action}</code>],
          [strings.details, <DeviceText key="details" value={detail.details} />],
          [strings.hash, <code key="hash">{detail.hash}</code>],
          [strings.previousHash, <code key="previous">{detail.previousHash}</code>],
          [
            strings.checkpoint,
            detail.checkpoint === null ? (
              strings.notCovered
            ) : (
              <span key="checkpoint">
                {strings.checkpointOf({
                  number: String(detail.checkpoint.number),
                  time: <Time value={detail.checkpoint.time} form="local" />,
                  record: String(detail.checkpoint.auditTrailID),
                  key: <code>{detail.checkpoint.keyId}</code>,
                })}
              </span>
            ),
          ],
        ]}
      />
    </Stack>
  </details>
)

const credentials = { session: strings.session, apiToken: strings.apiToken, system: strings.system, '': '–' } as const

/** One record: what happened, in words, and its exact text on demand. */
export const AuditDetail = ({ id }: { id: string }) => {
  const one = useRead(['audit', 'record', id], getAuditRecord, { params: { auditTrailID: id } })
  if (one.error instanceof CallFailure && one.error.code === 'not_found')
    return (
      <EmptyState icon="audit" title={strings.notFound}>
        <p>{strings.notFoundText}</p>
      </EmptyState>
    )
  if (one.error !== null) return <ErrorState query={one} />
  if (one.data === undefined) return <DetailSkeleton />
  const detail = one.data
  return (
    <DrawerBody>
      <h2>
        <Sentence row={{ ...detail, objects: detail.objects.slice(0, 3) }} />
      </h2>
      <Facts
        rows={[
          [strings.when, <Time key="when" value={detail.creationTime} form="local" />],
          ...(detail.reason === ''
            ? []
            : [[strings.reason, <DeviceText key="reason" value={detail.reason} />] as const]),
          [strings.person, <Who key="who" userName={detail.userName} />],
          [strings.credential, credentials[detail.credential]],
          [strings.ipAddress, <DeviceText key="address" value={detail.sourceIp} />],
          [strings.outcome, detail.outcome === 'failure' ? strings.failure : strings.success],
          [
            strings.severity,
            <SeverityTag key="severity" severity={eventSeverity(detail.severity)} word={detail.severityString} />,
          ],
          [strings.requestId, detail.requestId === '' ? '–' : <code key="request">{detail.requestId}</code>],
        ]}
      />
      {detail.facts.length === 0 ? null : <Changes facts={detail.facts} />}
      {detail.objects.length === 0 ? null : <Objects objects={detail.objects} />}
      <Related detail={detail} />
      <Exact detail={detail} />
    </DrawerBody>
  )
}
