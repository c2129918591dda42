import type { Rollout } from '@portcullis/contract'
import { hostWords, ringHosts, ringParts } from './rollout.ts'
import classes from './rollouts.module.css'
import { strings } from './strings.ts'

/** The hosts of a ring as a bar of stretches, with the same in words below: colour alone says nothing. */
export const RingBar = ({ ring }: { ring: Rollout['rings'][number] }) => {
  const hosts = ringHosts(ring)
  if (hosts === 0)
    return (
      <p className={classes.quiet}>
        {ring.state === 'waiting' ? strings.itsHostsAreFixedWhenIt : strings.itTookNoHost}
      </p>
    )
  const parts = ringParts(ring)
  return (
    <>
      <div className={classes.bar} aria-hidden="true">
        {parts.map(({ state, hosts: part }) => (
          <span key={state} data-tone={hostWords[state].tone} style={{ flexGrow: part }} />
        ))}
      </div>
      <p className={classes.parts}>
        {parts.map(({ state, hosts: part }) => `${part.toLocaleString('en')} ${hostWords[state].word}`).join(', ')}
      </p>
    </>
  )
}
