import { FirstHost } from '@portcullis/features/agents/console/FirstHost.tsx'
import { OverviewPage } from '@portcullis/features/overview/console/OverviewPage.tsx'

/** Shows the overview, or how to add the first host. */
export const OverviewScreen = () => <OverviewPage empty={<FirstHost />} />
