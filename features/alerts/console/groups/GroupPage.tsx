import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { Link, useParams } from '@tanstack/react-router'
import { GroupForm } from './GroupForm.tsx'
import { strings } from './strings.ts'
import { useGroups } from './useGroups.ts'

/** The page of one group. */
export const GroupPage = () => {
  const { group: id } = useParams({ from: '/inside/settings/notifications/$group' })
  const groups = useGroups()
  const group = groups.data?.find((one) => String(one.id) === id)
  useTitle(group === undefined ? strings.notificationGroup : strings.groupTitle({ name: group.groupName }))
  if (groups.data === undefined) return groups.error === null ? <DetailSkeleton /> : <ErrorState query={groups} />
  if (group === undefined)
    return (
      <EmptyState icon="bell" title={strings.groupNotFound}>
        <p>
          <Link to="/settings/notifications">{strings.allNotificationGroups}</Link>
        </p>
      </EmptyState>
    )
  return (
    <SettingsPage
      title={group.groupName}
      intro={group.description}
      actions={<Link to="/settings/notifications">{strings.allGroups}</Link>}
    >
      <GroupForm key={group.id} group={group} />
    </SettingsPage>
  )
}
