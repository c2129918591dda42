import { agentAddress } from '@portcullis/platform/console/lib/addresses.ts'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { PlainLink } from '@portcullis/platform/console/ui/PlainLink.tsx'
import { alertHostsAddress, type Line } from '../shared/line.ts'
import { strings } from './strings.ts'

/** Names up to three hosts of an alert, and links to the list of all of them. */
export const AlertHosts = ({ line, tabIndex }: { line: Line; tabIndex?: number }) => {
  const more = line.hostsCount - line.hosts.length
  return (
    <>
      {line.hosts.map(({ uuid, hostIdentifier }, index) => (
        <span key={uuid}>
          {index === 0 ? '' : ', '}
          <PlainLink href={agentAddress(uuid)} tabIndex={tabIndex}>
            <DeviceText value={hostIdentifier} />
          </PlainLink>
        </span>
      ))}
      {more > 0 ? (
        <>
          {' '}
          {strings.andMore({
            count: more,
            link: (text) => (
              <PlainLink href={alertHostsAddress(line)} tabIndex={tabIndex}>
                {text}
              </PlainLink>
            ),
          })}
        </>
      ) : null}
    </>
  )
}
