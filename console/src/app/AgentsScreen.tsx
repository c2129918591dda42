import { FirstHost } from '@portcullis/features/agents/console/FirstHost.tsx'
import { AgentsPage } from '@portcullis/features/hosts/console/AgentsPage.tsx'

/** Shows the hosts, or how to add the first one. */
export const AgentsScreen = () => <AgentsPage empty={<FirstHost />} />
