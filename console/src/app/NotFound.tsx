import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { Link } from '@tanstack/react-router'
import { strings } from './strings.ts'

export const NotFound = () => (
  <EmptyState isPage icon="unknown" title={strings.notFound}>
    <p>{strings.notFoundHint({ link: (text) => <Link to="/">{text}</Link> })}</p>
  </EmptyState>
)
