import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { localTime } from '@portcullis/platform/console/lib/time.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { Columns, Quiet } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { TimeAxis, TimeLines } from '@portcullis/platform/console/ui/TimeAxis.tsx'
import { Fragment } from 'react'
import type { getDevicePassport, PassportStay, ResponseOf } from '#features/contract.ts'
import { strings } from './strings.ts'

const width = 240
const height = 14
/** A short stay must be visible. */
const narrowest = 1.4

const endOf = ({ to }: PassportStay, now: number): number => (to === null ? now : Date.parse(to))

const titleOf = (stay: PassportStay): string =>
  [
    strings.stay({
      host: stay.hostIdentifier,
      from: localTime(Date.parse(stay.from)),
      to: stay.to === null ? strings.stillAttached : localTime(Date.parse(stay.to)),
    }),
    ...(stay.blocked ? [strings.blockedStay] : []),
    ...(stay.isApproximate ? [strings.approximate] : []),
  ].join('. ')

type Host = ResponseOf<typeof getDevicePassport>['hosts'][number]

/** Draws the stays of a device, one line for each host, over the time since the first one. */
export const Journey = ({
  hosts,
  stays,
  now,
}: {
  hosts: readonly Host[]
  stays: readonly PassportStay[]
  now: number
}) => {
  const start = Math.min(...stays.map(({ from }) => Date.parse(from)), ...hosts.map((one) => Date.parse(one.firstSeen)))
  const x = (at: number): number => ((at - start) / Math.max(1, now - start)) * width
  return (
    <Columns template="fit-content(180px) minmax(0, 1fr) auto" gap="0 10px" small>
      {hosts.map((host) => {
        const some = stays.filter(({ uuid, deviceID }) => uuid === host.uuid && deviceID === host.deviceID)
        return (
          <Fragment key={`${host.uuid} ${host.deviceID}`}>
            <PlainLink href={agentAddress(host.uuid)}>
              <DeviceText value={host.hostIdentifier} />
            </PlainLink>
            <svg
              viewBox={`0 0 ${width} ${height}`}
              preserveAspectRatio="none"
              width="100%"
              height={24}
              role="img"
              aria-label={some.map(titleOf).join('; ') || host.hostIdentifier}
              style={{ borderBottom: '1px solid var(--pc-line)' }}
            >
              <TimeLines from={start} to={now} width={width} height={height} />
              {some.map((stay) => {
                const from = Math.min(x(Date.parse(stay.from)), width - narrowest)
                return (
                  <rect
                    key={`${stay.from} ${stay.to}`}
                    x={from}
                    y={3}
                    width={Math.max(narrowest, x(endOf(stay, now)) - from)}
                    height={height - 5}
                    fill={stay.blocked ? 'var(--pc-red)' : 'var(--pc-accent)'}
                  >
                    <title>{titleOf(stay)}</title>
                  </rect>
                )
              })}
            </svg>
            <Quiet nowrap>{host.present ? strings.attachedNow : <Time value={host.lastSeen} form="ago" />}</Quiet>
          </Fragment>
        )
      })}
      <span />
      <TimeAxis from={start} to={now} />
      <span />
    </Columns>
  )
}
