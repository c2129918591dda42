import { AgentsPage } from '../features/agents/AgentsPage.tsx'
import { FirstHost } from '../features/enrolment/FirstHost.tsx'

/** Shows the hosts, or how to add the first one. */
export const AgentsScreen = () => <AgentsPage empty={<FirstHost />} />
