import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Row, Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useLiveRefresh } from '@portcullis/platform/console/ui/useLive.ts'
import { listEnrollmentTokens } from '#features/contract.ts'
import classes from './enrolment.module.css'
import { MissingHosts } from './MissingHosts.tsx'
import type { MadeToken } from './made-token.ts'
import { strings } from './strings.ts'

// Milliseconds between refreshes while the person who adds a host is waiting.
const refreshGap = 500
/** Milliseconds between requests while the live channel is disconnected. */
const fallbackGap = 5_000

/** Shows that the server is waiting for hosts to enrol with a token, and lists each host once it has enrolled. */
export const Arrivals = ({ made }: { made: MadeToken }) => {
  const tokens = useRead(['enrolment-tokens'], listEnrollmentTokens, { refetchInterval: fallbackGap })
  useLiveRefresh(['agents', 'summary'], refreshGap, () => void tokens.refetch())
  const token = tokens.data?.data.find(({ id }) => id === made.id) ?? made
  const { hosts, uses, maxUses, status, list } = token
  return (
    <Stack role="status" gap={8}>
      {status === 'Active' ? (
        <Row as="p" wrap>
          <span className={classes.pulse} aria-hidden="true" />
          {maxUses === 1 ? strings.waitingHost : strings.waitingHosts({ uses, max: maxUses })}
        </Row>
      ) : status === 'Used up' ? null : (
        <p>{status === 'Expired' ? strings.tokenExpired : strings.tokenRevokedHint}</p>
      )}
      <MissingHosts list={list} />
      {hosts.length === 0 ? null : (
        <Stack as="ul" gap={6}>
          {hosts.map(({ uuid, hostIdentifier, enrolledAt }) => (
            <Row as="li" key={uuid} wrap>
              <Icon name="check" />
              <PlainLink href={agentAddress(uuid)}>
                <DeviceText value={hostIdentifier} />
              </PlainLink>
              <span>{strings.enrolledAt({ time: <Time value={enrolledAt} form="ago" /> })}</span>
            </Row>
          ))}
          {uses > hosts.length ? <li>{strings.earlierHosts({ count: uses - hosts.length })}</li> : null}
        </Stack>
      )}
    </Stack>
  )
}
