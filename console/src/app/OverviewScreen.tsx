import { FirstHost } from '../features/enrolment/FirstHost.tsx'
import { OverviewPage } from '../features/overview/OverviewPage.tsx'

/** The overview, or the way to the first host. */
export const OverviewScreen = () => <OverviewPage empty={<FirstHost />} />
