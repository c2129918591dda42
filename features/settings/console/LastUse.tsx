import { type ConfigGroupName, integrationUses } from '@portcullis/contract'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { DeviceText } from '@portcullis/platform/console/ui/DeviceText.tsx'
import { SeverityShape } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { useQuery } from '@tanstack/react-query'
import classes from './settings.module.css'
import { strings } from './strings.ts'

/** Shows when an integration last worked, and when and why it last failed. */
export const LastUse = ({ group }: { group: ConfigGroupName }) => {
  const { api } = useServices()
  const uses = useQuery({
    queryKey: ['integrations'],
    queryFn: ({ signal }) => api.call(integrationUses, { signal }),
    refetchInterval: 15_000,
  })
  // Nobody counts uses of a domain name.
  if (group === 'domain') return <span className={classes.lastUse} />
  const use = uses.data?.data.find(({ name }) => name === group)
  if (use === undefined || (use.succeededAt === null && use.failedAt === null))
    return <span className={classes.lastUse}>{uses.data === undefined ? '' : strings.notUsedYet}</span>
  const isFailing = use.failedAt !== null && (use.succeededAt === null || use.failedAt > use.succeededAt)
  return (
    <span className={classes.lastUse}>
      {use.succeededAt === null ? strings.neverWorked : strings.lastWorked({ time: <Time value={use.succeededAt} /> })}
      {use.failedAt === null ? null : (
        <span className={classes.lastFailure}>
          {isFailing ? <SeverityShape severity="amber" /> : null}{' '}
          {strings.lastFailed({
            time: <Time value={use.failedAt} />,
            failure: <DeviceText value={use.failure} />,
          })}
        </span>
      )}
    </span>
  )
}
