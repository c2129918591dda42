import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { HistoryList } from './HistoryList.tsx'
import { strings } from './strings.ts'

/** The history of all settings. */
export const HistoryPage = () => {
  useTitle(strings.settingsHistory)
  return (
    <SettingsPage title={strings.settingsHistory} intro={strings.historyIntro}>
      <HistoryList prefix="" />
    </SettingsPage>
  )
}
