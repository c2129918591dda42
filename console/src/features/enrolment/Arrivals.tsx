import { listEnrollmentTokens } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { agentAddress } from '../../lib/addresses.ts'
import { useServices } from '../../lib/services.tsx'
import { DeviceText } from '../../ui/DeviceText.tsx'
import { Icon } from '../../ui/icons.tsx'
import { PlainLink } from '../../ui/PlainLink.tsx'
import { Time } from '../../ui/Time.tsx'
import { useLiveRefresh } from '../../ui/useLive.ts'
import classes from './enrolment.module.css'
import type { MadeToken } from './NewTokenForm.tsx'
import { strings } from './strings.ts'

// The person adding a host is watching for it to appear.
const refreshGap = 500
/** Polling interval in case the live channel is disconnected. */
const fallbackGap = 5_000

/** Shows that the server is waiting for hosts to enrol with a token, and lists each host once it has enrolled. */
export const Arrivals = ({ made }: { made: MadeToken }) => {
  const { api } = useServices()
  const tokens = useQuery({
    queryKey: ['enrolment-tokens'],
    queryFn: ({ signal }) => api.call(listEnrollmentTokens, { signal }),
    refetchInterval: fallbackGap,
  })
  useLiveRefresh(['agents', 'summary'], refreshGap, () => void tokens.refetch())
  const token = tokens.data?.data.find(({ id }) => id === made.id) ?? made
  const { hosts, uses, maxUses, status } = token
  const amount = maxUses === 1 ? 'the host' : strings.hostsUsesOfMaxuses({ uses, maxUses })
  return (
    <div role="status" className={classes.arrivals}>
      {status === 'Active' ? (
        <p className={classes.waiting}>
          {strings.spanWaitingForAmount({ span: <span className={classes.pulse} aria-hidden="true" />, amount })}
        </p>
      ) : status === 'Used up' ? null : (
        <p>
          {strings.valueCreateAnotherCommand({
            value: status === 'Expired' ? strings.theTokenExpired : strings.theTokenWasRevoked,
          })}
        </p>
      )}
      {hosts.length === 0 ? null : (
        <ul>
          {hosts.map(({ uuid, hostIdentifier, enrolledAt }) => (
            <li key={uuid}>
              <Icon name="check" />
              <PlainLink href={agentAddress(uuid)}>
                <DeviceText value={hostIdentifier} />
              </PlainLink>
              <span>{strings.enrolledTime({ time: <Time value={enrolledAt} /> })}</span>
            </li>
          ))}
          {uses > hosts.length ? <li>{strings.andUsesEarlier({ uses: uses - hosts.length })}</li> : null}
        </ul>
      )}
    </div>
  )
}
