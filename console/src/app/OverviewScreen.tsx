import { FirstHost } from '../features/enrolment/FirstHost.tsx'
import { OverviewPage } from '../features/overview/OverviewPage.tsx'

/** Shows the overview, or how to add the first host. */
export const OverviewScreen = () => <OverviewPage empty={<FirstHost />} />
