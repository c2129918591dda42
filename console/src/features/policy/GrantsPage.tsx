import { Button } from '@mantine/core'
import { getPolicy, listPolicyGrants, type PolicyRuleResource } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { listQueryOf } from '../../lib/list-query.ts'
import { listSource } from '../../lib/list-source.ts'
import { useServices } from '../../lib/services.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { FilterBar } from '../../ui/filters/FilterBar.tsx'
import { fieldOfInstant } from '../../ui/filters/filter.ts'
import { Icon } from '../../ui/icons.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { draftOfSearch } from '../../ui/policy/rule-draft.ts'
import { ColumnsMenu } from '../../ui/table/ColumnsMenu.tsx'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { ListFrame } from '../../ui/table/ListFrame.tsx'
import { useKeys } from '../../ui/useKeys.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { useView } from '../../ui/useView.ts'
import classes from './PolicyPage.module.css'
import { RuleDrawer } from './RuleDrawer.tsx'
import { grantColumns, grantFilters, grantsView } from './rules.view.tsx'

const idOf = (grant: PolicyRuleResource) => grant.id
const hrefOf = (grant: PolicyRuleResource) => `/policy/grants?open=${encodeURIComponent(grant.id)}`
// A new grant lasts a day unless something else is written.
const usualLife = 24 * 3_600_000

/** The temporary grants, those that end first first. */
export const GrantsPage = () => {
  useTitle('Grants')
  const { api, session, clock } = useServices()
  const view = useView('/inside/policy/grants', grantsView)
  const start = useSearch({ from: '/inside/policy/grants' })
  const [counts, setCounts] = useState<{ total: number; filtered: number } | null>(null)
  const { filters, search, sort, open } = view.state
  const query = useMemo(() => listQueryOf({ filters, search, sort }, grantsView), [filters, search, sort])
  const source = useMemo(() => listSource(api, listPolicyGrants, query, idOf), [api, query])
  const policy = useQuery({ queryKey: ['policy'], queryFn: ({ signal }) => api.call(getPolicy, { signal }) })
  const canWrite = session.may('fleet:write')
  const write = () => view.set({ open: 'new' })
  useKeys(canWrite ? [{ keys: 'n', description: 'New grant', run: write }] : [])

  return (
    <ListFrame
      title="Grants"
      counts={counts}
      actions={
        canWrite ? (
          <Button size="compact-sm" leftSection={<Icon name="plus" size={14} />} onClick={write}>
            New grant
          </Button>
        ) : null
      }
      filters={
        <>
          <p className={classes.order}>
            A grant allows for a time, stronger than every other allow; a deny still wins.
            {policy.data === undefined
              ? null
              : ` It lasts at most ${policy.data.settings.grantMaxHours.toLocaleString('en')} hours, which the settings of the policy say.`}
          </p>
          <FilterBar view={view} filters={grantFilters} searchPlaceholder="Device, id, tag, host, reason">
            <ColumnsMenu columns={grantColumns} view={view} />
            <MoreMenu
              label="More"
              curl={() => curlOf(window.location.origin, listPolicyGrants, { query: { ...query, PageSize: 100 } })}
            />
          </FilterBar>
        </>
      }
      table={
        <DataTable
          label="Grants"
          columns={grantColumns}
          source={source}
          view={view}
          topics={['summary']}
          hrefOf={hrefOf}
          empty={
            <EmptyState icon="policy" title="No grant is in force">
              <p>
                A grant lets somebody use a device today without a rule that stays: a supplier's stick, a borrowed
                keyboard. It ends by itself.
              </p>
              {canWrite ? (
                <Button size="sm" onClick={write}>
                  Grant a device
                </Button>
              ) : null}
            </EmptyState>
          }
          onCounts={setCounts}
        />
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
            close={() => view.set({ open: null })}
          />
        )
      }
    />
  )
}
