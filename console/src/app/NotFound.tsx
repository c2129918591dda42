import { Link } from '@tanstack/react-router'
import { EmptyState } from '../ui/EmptyState.tsx'

export const NotFound = () => (
  <EmptyState icon="unknown" title="There is nothing at this address">
    <p>
      It may have been mistyped, or what it named is gone. <Link to="/">Go to the overview</Link>
    </p>
  </EmptyState>
)
