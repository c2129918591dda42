import type { Rollout } from '@portcullis/contract'
import { hostLabels, ringHosts, ringParts } from './rollout.ts'
import classes from './rollouts.module.css'
import { strings } from './strings.ts'

/** Shows the hosts of a ring by state, as a bar and as text. */
export const RingBar = ({ ring }: { ring: Rollout['rings'][number] }) => {
  const hosts = ringHosts(ring)
  if (hosts === 0)
    return <p className={classes.quiet}>{ring.state === 'waiting' ? strings.ringPending : strings.ringEmpty}</p>
  const parts = ringParts(ring)
  return (
    <>
      <div className={classes.bar} aria-hidden="true">
        {parts.map(({ state, hosts: part }) => (
          <span key={state} data-tone={hostLabels[state].tone} style={{ flexGrow: part }} />
        ))}
      </div>
      <p className={classes.parts}>
        {parts
          .map(({ state, hosts: part }) => strings.hostStateCount({ state: hostLabels[state].word, count: part }))
          .join(', ')}
      </p>
    </>
  )
}
