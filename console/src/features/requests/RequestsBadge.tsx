import { Link } from '@tanstack/react-router'
import { Icon } from '../../ui/icons.tsx'
import classes from './RequestsBadge.module.css'
import { strings } from './strings.ts'
import { useRequests } from './useRequests.ts'

/** Says in the bar that somebody's request waits for the reader; nothing when none does. */
export const RequestsBadge = () => {
  const { forMe } = useRequests()
  if (forMe.length === 0) return null
  return (
    <Link to="/policy/requests" className={classes.badge}>
      <Icon name="users" size={14} />
      {forMe.length === 1 ? strings.n1RequestWaits : strings.formeRequestsWait({ forMe: forMe.length })}{' '}
      {strings.forYou}
    </Link>
  )
}
