import { Link } from '@tanstack/react-router'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { strings } from './strings.ts'

export const NoDevices = () => (
  <EmptyState icon="peripherals" title={strings.noDeviceHasBeenSeenYet}>
    <p>{strings.devicesAppearHereAsSoonAs({ link: (text) => <Link to="/settings/enrolment">{text}</Link> })}</p>
  </EmptyState>
)
