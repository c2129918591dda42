import { AgentsPage } from '../features/agents/AgentsPage.tsx'
import { FirstHost } from '../features/enrolment/FirstHost.tsx'

/** The agents, or the way to the first one. */
export const AgentsScreen = () => <AgentsPage empty={<FirstHost />} />
