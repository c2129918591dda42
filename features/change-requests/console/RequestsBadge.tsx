import { SeverityTag } from '@portcullis/platform/console/ui/SeverityTag.tsx'
import { Link } from '@tanstack/react-router'
import { strings } from './strings.ts'
import { useRequests } from './useRequests.ts'

/** Shows in the top bar how many requests await the user's approval. */
export const RequestsBadge = () => {
  const { forMe } = useRequests()
  if (forMe.length === 0) return null
  return (
    <Link to="/policy/requests">
      <SeverityTag severity="amber" word={strings.waitingForYou({ count: forMe.length })} />
    </Link>
  )
}
