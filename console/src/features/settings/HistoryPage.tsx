import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { useTitle } from '../../ui/useTitle.ts'
import { HistoryList } from './HistoryList.tsx'
import { strings } from './strings.ts'

/** The history of all settings together. */
export const HistoryPage = () => {
  useTitle(strings.historyOfSettings)
  return (
    <SettingsPage title={strings.historyOfSettings} intro={strings.eachChangeOfASettingIs}>
      <HistoryList prefix="" />
    </SettingsPage>
  )
}
