import { configGroups } from '@portcullis/contract'
import { useParams } from '@tanstack/react-router'
import { DetailSkeleton } from '../../ui/DetailSkeleton.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { SettingsPage } from '../../ui/SettingsPage.tsx'
import { useTitle } from '../../ui/useTitle.ts'
import { GroupForm } from './GroupForm.tsx'
import { type SettingPage as Page, settingPages } from './pages.ts'
import { useGroup } from './useGroup.ts'
import { WithHistory } from './WithHistory.tsx'

const GroupPage = ({ page }: { page: Page }) => {
  const { title } = configGroups[page.group]
  useTitle(title)
  const group = useGroup(page.prefix)
  return (
    <SettingsPage title={title} intro={page.intro}>
      <WithHistory prefix={page.prefix}>
        {group.data === undefined ? (
          group.error === null ? (
            <DetailSkeleton />
          ) : (
            <ErrorState failure={group.error} retry={() => void group.refetch()} />
          )
        ) : (
          <GroupForm page={page} stored={group.data} />
        )}
      </WithHistory>
    </SettingsPage>
  )
}

/** The page of the general configuration that the address names. */
export const SettingPage = () => {
  const { page: slug = '' } = useParams({ strict: false }) as { page?: string }
  const page = Object.hasOwn(settingPages, slug) ? settingPages[slug] : undefined
  if (page === undefined)
    return (
      <EmptyState icon="settings" title="There is no such page of the settings">
        <p>The list on the left names them all.</p>
      </EmptyState>
    )
  return <GroupPage key={slug} page={page} />
}
