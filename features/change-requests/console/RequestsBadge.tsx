import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Link } from '@tanstack/react-router'
import classes from './RequestsBadge.module.css'
import { strings } from './strings.ts'
import { useRequests } from './useRequests.ts'

/** Shows in the top bar how many requests await the user's approval. */
export const RequestsBadge = () => {
  const { forMe } = useRequests()
  if (forMe.length === 0) return null
  return (
    <Link to="/policy/requests" className={classes.badge}>
      <Icon name="users" size={14} />
      {strings.waitingForYou({ count: forMe.length })}
    </Link>
  )
}
