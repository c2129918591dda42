import { deviceAddress, eventAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { durationText, exactUtc, localTime } from '@portcullis/platform/console/lib/time.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Columns, Quiet, Stack, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { SeverityShape } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import type { TimelineEntry } from '#features/contract.ts'
import { eventSeverity } from '#features/devices/console/shared/findings.ts'
import { laneNames, strings } from './strings.ts'

const dayName = new Intl.DateTimeFormat(undefined, {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  year: 'numeric',
})
const clockTime = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })

const hrefOf = ({ lane, id }: TimelineEntry): string | undefined => {
  if (lane === 'command') return undefined
  if (lane === 'alert') return `/alerts?open=${id}`
  return lane === 'audit' ? `/settings/audit?open=${id}` : eventAddress(id)
}

const Line = ({ entry, agentId }: { entry: TimelineEntry; agentId: string }) => {
  const { at, uncertaintyMs, severity, title, details, by, deviceID, lane } = entry
  const time = Date.parse(at)
  const shown = eventSeverity(severity)
  const href = hrefOf(entry)
  return (
    <Columns
      as="li"
      template="84px 84px minmax(0, 1fr)"
      gap={10}
      style={{ paddingBlock: 5, borderBottom: '1px solid var(--pc-line)' }}
    >
      <Quiet num>
        <time dateTime={at} title={`${exactUtc(time)}, ${localTime(time)}`}>
          {clockTime.format(time)}
        </time>
        {uncertaintyMs !== null && uncertaintyMs > 1_000 ? (
          <Text as="div" tiny quiet>
            {strings.exactTo({ amount: durationText(Math.ceil(uncertaintyMs / 1_000)) })}
          </Text>
        ) : null}
      </Quiet>
      <Quiet>{laneNames[lane]}</Quiet>
      <div>
        {shown === 'neutral' ? null : (
          <>
            <SeverityShape severity={shown} />{' '}
          </>
        )}
        {href === undefined ? (
          <DeviceText value={title} />
        ) : (
          <PlainLink href={href}>
            <DeviceText value={title} />
          </PlainLink>
        )}
        {by === '' ? null : <Quiet> {strings.byWhom({ user: <DeviceText key="by" value={by} /> })}</Quiet>}
        {details === '' ? null : (
          <Text as="div" quiet breaks>
            <DeviceText value={details} />
          </Text>
        )}
        {deviceID === null ? null : (
          <Text as="div" tiny>
            <PlainLink href={deviceAddress(agentId, deviceID)}>{strings.deviceLink}</PlainLink>
          </Text>
        )}
      </div>
    </Columns>
  )
}

/** Lists entries by day, newest first, in the time zone of the user. */
export const EntryLines = ({ entries, agentId }: { entries: readonly TimelineEntry[]; agentId: string }) =>
  [...Map.groupBy(entries, ({ at }) => dayName.format(Date.parse(at)))].map(([day, some]) => (
    <section key={day} aria-label={day}>
      <h3>{day}</h3>
      <Stack as="ol" gap={0} small>
        {some.map((entry) => (
          <Line key={`${entry.lane} ${entry.id} ${entry.at}`} entry={entry} agentId={agentId} />
        ))}
      </Stack>
    </section>
  ))
