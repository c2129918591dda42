import { useSession } from '@portcullis/platform/console/lib/services.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { Link } from '@tanstack/react-router'
import classes from './ConnectionBanner.module.css'
import { strings } from './strings.ts'

/** Shown during the grace period of a required second factor, with its end. */
export const SecondFactorBanner = () => {
  const state = useSession()
  if (state.phase !== 'in' || state.profile.secondFactorDueAt === null) return null
  return (
    <output className={classes.banner}>
      {strings.secondFactorDue({
        time: <Time value={state.profile.secondFactorDueAt} form="local" />,
        link: (text) => <Link to="/settings/profile">{text}</Link>,
      })}
    </output>
  )
}
