import { policyPage } from './pages.ts'
import { GroupPage } from './SettingPage.tsx'

/** The policy settings: second approver, durations of grants and commands, contact, exceptions for hosts. */
export const PolicySettingsPage = () => <GroupPage page={policyPage} />
