import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { Link } from '@tanstack/react-router'
import { strings } from './strings.ts'

export const NoDevices = () => (
  <EmptyState icon="peripherals" title={strings.emptyTitle}>
    <p>{strings.empty({ link: (text) => <Link to="/settings/enrolment">{text}</Link> })}</p>
  </EmptyState>
)
