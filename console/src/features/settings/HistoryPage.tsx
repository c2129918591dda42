import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { useTitle } from '../../ui/useTitle.ts'
import { HistoryList } from './HistoryList.tsx'

/** The history of all settings together. */
export const HistoryPage = () => {
  useTitle('History of settings')
  return (
    <SettingsPage
      title="History of settings"
      intro="Each change of a setting is a version. Going back makes a new version, so nothing is ever lost. Each page of settings has its own part of this."
    >
      <HistoryList prefix="" />
    </SettingsPage>
  )
}
