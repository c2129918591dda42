import { Note } from '@portcullis/platform/console/ui/layout/layout.tsx'
import type { Rollout } from '#features/contract.ts'
import { hostLabels, ringHosts, ringParts } from './rollout.ts'
import classes from './rollouts.module.css'
import { strings } from './strings.ts'

/** Shows the hosts of a ring by state, as a bar and as text. */
export const RingBar = ({ ring }: { ring: Rollout['rings'][number] }) => {
  const hosts = ringHosts(ring)
  if (hosts === 0) return <Note>{ring.state === 'waiting' ? strings.ringPending : strings.ringEmpty}</Note>
  const parts = ringParts(ring)
  return (
    <>
      <div className={classes.bar} aria-hidden="true">
        {parts.map(({ state, hosts: part }) => (
          <span key={state} data-tone={hostLabels[state].tone} style={{ flexGrow: part }} />
        ))}
      </div>
      <Note>
        {parts
          .map(({ state, hosts: part }) => strings.hostStateCount({ state: hostLabels[state].word, count: part }))
          .join(', ')}
      </Note>
    </>
  )
}
