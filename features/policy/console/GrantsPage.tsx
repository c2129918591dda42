import { Button } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { fieldOfInstant } from '@portcullis/platform/console/ui/filters/filter.ts'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Note } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { ListPage } from '@portcullis/platform/console/ui/list/ListPage.tsx'
import { useList } from '@portcullis/platform/console/ui/list/useList.ts'
import { useKeys } from '@portcullis/platform/console/ui/useKeys.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useSearch } from '@tanstack/react-router'
import { getPolicy, listPolicyRules, type PolicyRuleResource } from '#features/contract.ts'
import { RuleDrawer } from './RuleDrawer.tsx'
import { grantsTable } from './rules.view.tsx'
import { draftOfSearch } from './shared/rule-draft.ts'
import { strings } from './strings.ts'

const idOf = (grant: PolicyRuleResource) => grant.id
const onlyGrants = { level: 'grant' }
const hrefOf = (grant: PolicyRuleResource) => `/policy/grants?open=${encodeURIComponent(grant.id)}`
// Default duration of a new grant: one day.
const usualLife = 24 * 3_600_000

/** Lists the grants, next to expire first. */
export const GrantsPage = () => {
  useTitle(strings.grants)
  const { session, clock } = useServices()
  const start = useSearch({ from: '/inside/policy/grants' })
  const list = useList('/inside/policy/grants', grantsTable.view, listPolicyRules, idOf, onlyGrants)
  const { open } = list.view.state
  const policy = useRead(['policy'], getPolicy)
  const canWrite = session.may('fleet:write')
  const write = () => list.view.set({ open: 'new' })
  useKeys(canWrite ? [{ keys: 'n', description: strings.addGrant, run: write }] : [])

  return (
    <ListPage
      title={strings.grants}
      list={list}
      actions={
        canWrite ? (
          <Button size="compact-sm" leftSection={<Icon name="plus" size={14} />} onClick={write}>
            {strings.addGrant}
          </Button>
        ) : null
      }
      searchPlaceholder={strings.search}
      above={
        <Note>
          {policy.data === undefined
            ? strings.grantsIntro
            : strings.grantsIntroWithMax({ hours: policy.data.settings.grantMaxHours })}
        </Note>
      }
      label={strings.grants}
      table={grantsTable}
      topics={['summary']}
      hrefOf={hrefOf}
      empty={
        <EmptyState icon="policy" title={strings.grantsEmptyTitle}>
          <p>{strings.grantsEmpty}</p>
          {canWrite ? (
            <Button size="sm" onClick={write}>
              {strings.addGrant}
            </Button>
          ) : null}
        </EmptyState>
      }
      drawer={
        open === null ? null : (
          <RuleDrawer
            key={open}
            id={open}
            isGrant
            start={{
              ...draftOfSearch(start),
              effect: 'allow',
              expires: fieldOfInstant(new Date(clock.now() + usualLife).toISOString()),
            }}
            canWrite={canWrite}
            close={() => list.view.set({ open: null })}
          />
        )
      }
    />
  )
}
