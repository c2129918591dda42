import { Link } from '@tanstack/react-router'
import { EmptyState } from '../../ui/EmptyState.tsx'

export const NoDevices = () => (
  <EmptyState icon="peripherals" title="No device has been seen yet">
    <p>
      Devices appear here as soon as a host reports. <Link to="/settings/enrolment">Add a host</Link>
    </p>
  </EmptyState>
)
