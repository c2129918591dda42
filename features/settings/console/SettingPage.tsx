import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { DetailSkeleton } from '@portcullis/platform/console/ui/DetailSkeleton.tsx'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Notice } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { SettingsPage } from '@portcullis/platform/console/ui/SettingsPage.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { Link, useParams } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { configGroups, getPolicy } from '#features/contract.ts'
import { BackupsCard } from './BackupsCard.tsx'
import { DomainHint } from './DomainHint.tsx'
import { GroupForm, type GroupFormProps } from './GroupForm.tsx'
import { HistoryPage } from './HistoryPage.tsx'
import { LicencePage } from './LicencePage.tsx'
import { LoginPreview } from './LoginPreview.tsx'
import { type SettingPage as Page, policyPage, settingPages } from './pages.ts'
import { strings } from './strings.ts'
import { useGroup } from './useGroup.ts'
import { WindowsCard } from './WindowsCard.tsx'
import { WithHistory } from './WithHistory.tsx'

/** Returns the elements that a page shows beside its form. */
const extrasOf = (page: Page, canWrite: boolean): Pick<GroupFormProps, 'preview' | 'hint'> => {
  const { group } = page
  if (page === policyPage) return { hint: () => <Approver /> }
  if (group === 'login') return { preview: (texts) => <LoginPreview texts={texts} /> }
  if (group !== 'domain') return {}
  return {
    hint: (texts, enter) => (
      <DomainHint
        value={texts.SERVER_DOMAIN_NAME ?? ''}
        enter={(text) => enter('SERVER_DOMAIN_NAME', text)}
        canWrite={canWrite}
      />
    ),
  }
}

/** Returns the link to the page that shows an integration at work. */
const actionsOf = ({ group }: Page): ReactNode =>
  group === 'ise' || group === 'cact' ? (
    <Link to="/quarantines" search={{ system: group }}>
      {strings.quarantines}
    </Link>
  ) : null

/** Pages that are not the form of one group. */
const ownPages: Readonly<Record<string, () => ReactNode>> = { licence: LicencePage, history: HistoryPage }

/** Says whether changes need a second approver now. */
const Approver = () => {
  const policy = useRead(['policy'], getPolicy)
  return policy.data === undefined ? null : (
    <Notice role="note" data-testid="two-person">
      <Icon name="info" />
      <span>{strings.approver({ explanation: policy.data.twoPerson.explanation })}</span>
    </Notice>
  )
}

/** The page of one group of settings, with its history. */
export const GroupPage = ({ page }: { page: Page }) => {
  const { title } = { ...configGroups[page.group], ...page }
  useTitle(title)
  const { session } = useServices()
  const canWrite = session.may('config:write')
  const group = useGroup(page.prefix)
  return (
    <SettingsPage title={title} intro={page.intro} actions={actionsOf(page)}>
      <WithHistory prefix={page.prefix}>
        {page.group === 'backup' ? <BackupsCard /> : null}
        {group.data === undefined ? (
          group.error === null ? (
            <DetailSkeleton />
          ) : (
            <ErrorState query={group} />
          )
        ) : (
          <GroupForm page={page} stored={group.data} {...extrasOf(page, canWrite)} />
        )}
        {page === policyPage ? <WindowsCard setting={group.data?.VENDORA_WINDOWS_ENFORCEMENT ?? ''} /> : null}
      </WithHistory>
    </SettingsPage>
  )
}

/** The page of the settings that the address names. */
export const SettingPage = () => {
  const { page: slug } = useParams({ from: '/inside/settings/$page' })
  const Own = Object.hasOwn(ownPages, slug) ? ownPages[slug] : undefined
  if (Own !== undefined) return <Own />
  const page = Object.hasOwn(settingPages, slug) ? settingPages[slug] : undefined
  if (page === undefined)
    return (
      <EmptyState icon="settings" title={strings.pageNotFound}>
        <p>{strings.pageNotFoundText}</p>
      </EmptyState>
    )
  return <GroupPage key={slug} page={page} />
}
