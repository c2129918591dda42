import { Button } from '@mantine/core'
import { getPolicy, listPolicyRules, type PolicyRuleResource } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useMemo, useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { listQueryOf } from '../../lib/list-query.ts'
import { listSource } from '../../lib/list-source.ts'
import { useServices } from '../../lib/services.tsx'
import { FilterBar } from '../../ui/filters/FilterBar.tsx'
import { Icon } from '../../ui/icons.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { draftOfSearch } from '../../ui/policy/rule-draft.ts'
import { ReportItems } from '../../ui/ReportItems.tsx'
import { ColumnsMenu } from '../../ui/table/ColumnsMenu.tsx'
import { DataTable } from '../../ui/table/DataTable.tsx'
import { ListFrame } from '../../ui/table/ListFrame.tsx'
import { useKeys } from '../../ui/useKeys.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { useView } from '../../ui/useView.ts'
import { ApproveToday } from './ApproveToday.tsx'
import classes from './PolicyPage.module.css'
import { RuleDrawer } from './RuleDrawer.tsx'
import { ruleColumns, ruleFilters, rulesView } from './rules.view.tsx'

const idOf = (rule: PolicyRuleResource) => rule.id
const hrefOf = (rule: PolicyRuleResource) => `/policy?open=${encodeURIComponent(rule.id)}`

/** The rules, in the order in which they decide. */
export const RulesPage = () => {
  useTitle('Policy')
  const { api, session } = useServices()
  const view = useView('/inside/policy/', rulesView)
  const start = useSearch({ from: '/inside/policy/' })
  const [counts, setCounts] = useState<{ total: number; filtered: number } | null>(null)
  const { filters, search, sort, open } = view.state
  const query = useMemo(() => listQueryOf({ filters, search, sort }, rulesView), [filters, search, sort])
  const source = useMemo(() => listSource(api, listPolicyRules, query, idOf), [api, query])
  const policy = useQuery({ queryKey: ['policy'], queryFn: ({ signal }) => api.call(getPolicy, { signal }) })
  const canWrite = session.may('fleet:write')
  const write = () => view.set({ open: 'new' })
  useKeys(canWrite ? [{ keys: 'n', description: 'New rule', run: write }] : [])

  return (
    <ListFrame
      title="Rules"
      counts={counts}
      actions={
        canWrite ? (
          <Button size="compact-sm" leftSection={<Icon name="plus" size={14} />} onClick={write}>
            New rule
          </Button>
        ) : null
      }
      filters={
        <>
          <p className={classes.order}>
            A deny decides before everything, then a grant, then an allow for the host, for a tag, for all hosts. What
            none of them covers is blocked on an armed host.
            {policy.data === undefined
              ? null
              : ` Version ${policy.data.version.toLocaleString('en')} is in force on ${policy.data.agents.armed.toLocaleString('en')} armed and ${policy.data.agents.free.toLocaleString('en')} free hosts.`}
          </p>
          <FilterBar view={view} filters={ruleFilters} searchPlaceholder="Device, id, tag, host, reason">
            <ColumnsMenu columns={ruleColumns} view={view} />
            <MoreMenu
              label="More"
              curl={() => curlOf(window.location.origin, listPolicyRules, { query: { ...query, PageSize: 100 } })}
            >
              <ReportItems list="rules" query={query} />
            </MoreMenu>
          </FilterBar>
        </>
      }
      table={
        <DataTable
          label="Rules"
          columns={ruleColumns}
          source={source}
          view={view}
          topics={['summary']}
          hrefOf={hrefOf}
          empty={<ApproveToday canWrite={canWrite} write={write} />}
          onCounts={setCounts}
        />
      }
      drawer={
        open === null ? null : (
          <RuleDrawer
            key={open}
            id={open}
            isGrant={false}
            start={draftOfSearch(start)}
            canWrite={canWrite}
            close={() => view.set({ open: null })}
          />
        )
      }
    />
  )
}
