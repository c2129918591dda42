import { Button, Menu } from '@mantine/core'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { useRead } from '@portcullis/platform/console/lib/useRead.ts'
import { readView, writeView } from '@portcullis/platform/console/lib/view-state.ts'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Note } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { lazilyDialog } from '@portcullis/platform/console/ui/lazily.tsx'
import { ListPage } from '@portcullis/platform/console/ui/list/ListPage.tsx'
import { useList } from '@portcullis/platform/console/ui/list/useList.ts'
import { SelectionBar } from '@portcullis/platform/console/ui/table/SelectionBar.tsx'
import { useSelection } from '@portcullis/platform/console/ui/table/useSelection.ts'
import { useKeys } from '@portcullis/platform/console/ui/useKeys.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { getPolicy, listPolicyRules, listRuleGroups, type PolicyRuleResource } from '#features/contract.ts'
import { ReportItems } from '#features/reports/console/shared/ReportItems.tsx'
import { ApproveToday } from './ApproveToday.tsx'
import { MoveRules } from './MoveRules.tsx'
import { RuleDrawer } from './RuleDrawer.tsx'
import { RuleGroups } from './RuleGroups.tsx'
import { rulesTable } from './rules.view.tsx'
import { draftOfSearch } from './shared/rule-draft.ts'
import { strings } from './strings.ts'

const GroupDialog = lazilyDialog(async () => (await import('./GroupDialog.tsx')).GroupDialog)
const RuleListDialog = lazilyDialog(async () => (await import('./RuleListDialog.tsx')).RuleListDialog)

const ungrouped = { IsUngrouped: 'true' }

const idOf = (rule: PolicyRuleResource) => rule.id
const hrefOf = (rule: PolicyRuleResource) => `/policy?open=${encodeURIComponent(rule.id)}`

/** Returns the query of an export, which also contains the rules in groups. */
const reported = ({ IsUngrouped: _, ...query }: Readonly<Record<string, string>>) => query

/** Lists the rules by precedence, and each rule group as one row. */
export const RulesPage = () => {
  useTitle(strings.policy)
  const { session } = useServices()
  const start = useSearch({ from: '/inside/policy/' })
  const { filters, search, query, ...state } = readView(start, rulesTable.view)
  const isFiltered = search !== '' || query !== '' || Object.keys(filters).length > 0
  // Without filters, groups are above the list, and the list contains the other rules.
  const list = useList('/inside/policy/', rulesTable.view, listPolicyRules, idOf, isFiltered ? undefined : ungrouped)
  const { open } = state
  const groupsRead = useRead(['rule-groups'], listRuleGroups)
  const groups = groupsRead.data?.data ?? []
  const hrefOfGroup = (name: string | null) => {
    const next = writeView(start, rulesTable.view, { filters: { group: name }, open: null })
    return `/policy?${new URLSearchParams(next as Record<string, string>)}`
  }
  const shownGroups = isFiltered ? groups.filter(({ name }) => name === filters.group) : groups
  const collapsed = isFiltered ? 0 : groups.reduce((sum, { rules }) => sum + rules, 0)
  const counts = list.counts && {
    total: list.counts.total + collapsed,
    filtered: list.counts.filtered + collapsed,
  }
  const filtered = list.counts?.filtered ?? null
  const selection = useSelection(list.source, { filtered })
  const policy = useRead(['policy'], getPolicy)
  const canWrite = session.may('fleet:write')
  const [isListing, setListing] = useState(false)
  const [isGrouping, setGrouping] = useState(false)
  const write = () => list.view.set({ open: 'new' })
  useKeys(canWrite ? [{ keys: 'n', description: strings.addRule, run: write }] : [])

  return (
    <ListPage
      title={strings.rules}
      list={{ ...list, counts }}
      actions={
        canWrite ? (
          <>
            <Button size="compact-sm" variant="default" onClick={() => setListing(true)}>
              {strings.addFromListMenu}
            </Button>
            <Button size="compact-sm" leftSection={<Icon name="plus" size={14} />} onClick={write}>
              {strings.addRule}
            </Button>
            <RuleListDialog opened={isListing} close={() => setListing(false)} />
            <GroupDialog group={isGrouping ? null : undefined} close={() => setGrouping(false)} />
          </>
        ) : null
      }
      searchPlaceholder={strings.search}
      above={
        <>
          <Note>
            {policy.data === undefined
              ? strings.rulesIntro
              : strings.rulesIntroWithVersion({
                  version: policy.data.version,
                  armed: policy.data.agents.armed,
                  free: policy.data.agents.free,
                })}
          </Note>
          <ErrorState query={groupsRead} inline />
          {shownGroups.length === 0 ? null : (
            <RuleGroups groups={shownGroups} open={filters.group ?? null} hrefOf={hrefOfGroup} canWrite={canWrite} />
          )}
        </>
      }
      more={
        <>
          {canWrite ? <Menu.Item onClick={() => setGrouping(true)}>{strings.askAddGroup}</Menu.Item> : null}
          <ReportItems list="rules" query={reported(list.query)} />
        </>
      }
      label={strings.rules}
      table={rulesTable}
      topics={['summary']}
      selection={canWrite ? selection : undefined}
      bar={
        canWrite ? (
          <SelectionBar selection={selection} filtered={filtered}>
            <MoveRules ids={[...selection.ids]} />
          </SelectionBar>
        ) : null
      }
      hrefOf={hrefOf}
      empty={
        groupsRead.data === undefined ? null : groups.some(({ rules }) => rules > 0) ? (
          <EmptyState icon="policy" title={strings.allInGroups}>
            <p>{strings.allInGroupsHint}</p>
          </EmptyState>
        ) : (
          <ApproveToday canWrite={canWrite} write={write} />
        )
      }
      drawer={
        open === null ? null : (
          <RuleDrawer
            key={open}
            id={open}
            isGrant={false}
            start={draftOfSearch(start)}
            canWrite={canWrite}
            close={() => list.view.set({ open: null })}
          />
        )
      }
    />
  )
}
