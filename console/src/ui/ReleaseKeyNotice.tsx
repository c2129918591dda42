import { listPackages } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useServices } from '../lib/services.tsx'
import { SeverityShape } from './SeverityTag.tsx'
import classes from './states.module.css'

/** Warns people who manage agent builds that this server has no release key, so new hosts will refuse updates. */
export const ReleaseKeyNotice = () => {
  const { api, session } = useServices()
  const packages = useQuery({
    queryKey: ['packages'],
    queryFn: ({ signal }) => api.call(listPackages, { signal }),
    enabled: session.may('packages:manage'),
  })
  if (packages.data?.releaseKey !== null) return null
  return (
    <div className={classes.notice} role="note" aria-label="No release key">
      <SeverityShape severity="amber" />
      <div className={classes.words}>
        <strong>No release key is configured</strong>
        <span>
          Agents that you install now refuse updates until you install them again. Configure a release key before you
          add hosts. The guide <code>docs/guide/agent-updates.md</code> describes the steps.
        </span>
        <Link to="/settings/packages">Configure a release key</Link>
      </div>
    </div>
  )
}
