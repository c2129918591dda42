import { Link } from '@tanstack/react-router'
import { useSession } from '../lib/services.tsx'
import { Time } from '../ui/Time.tsx'
import classes from './ConnectionBanner.module.css'

/** Shown during the grace period of a required second factor, with its end. */
export const SecondFactorBanner = () => {
  const state = useSession()
  if (state.phase !== 'in' || state.profile.secondFactorDueAt === null) return null
  return (
    <output className={classes.banner}>
      Your account needs a second factor by <Time value={state.profile.secondFactorDueAt} form="local" />.{' '}
      <Link to="/settings/profile">Set one up</Link>
    </output>
  )
}
