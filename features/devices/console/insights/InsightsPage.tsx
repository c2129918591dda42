import { Button } from '@mantine/core'
import { curlOf } from '@portcullis/platform/console/lib/curl.ts'
import { messages } from '@portcullis/platform/console/lib/messages.ts'
import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import type { ViewSpec } from '@portcullis/platform/console/lib/view-state.ts'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { FilterBar } from '@portcullis/platform/console/ui/filters/FilterBar.tsx'
import type { Filter } from '@portcullis/platform/console/ui/filters/filter.ts'
import { Icon } from '@portcullis/platform/console/ui/icons.tsx'
import { Note, Page, PageHead, Row, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { Time } from '@portcullis/platform/console/ui/Time.tsx'
import { tellFailure } from '@portcullis/platform/console/ui/tell.ts'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { useView } from '@portcullis/platform/console/ui/useView.ts'
import tabClasses from '@portcullis/platform/console/ui/ViewTabs.module.css'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ReportItems } from '#features/reports/console/shared/ReportItems.tsx'
import { FindingTable } from './FindingTable.tsx'
import { insightOf, insightTabs } from './insight.ts'
import { strings } from './strings.ts'
import { insightSources, useInsight } from './useInsight.ts'

const insightFilters: readonly Filter[] = [
  {
    name: 'vendor',
    label: strings.vendor,
    kind: 'text',
    values: [],
    labels: {},
    isSingle: false,
    maxLength: 256,
    suggests: 'vendor',
  },
]
const insightsView: ViewSpec = { filters: ['vendor'], defaultSort: '', defaultColumns: [] }

/** Names of the insights in reports. */
const reported = {
  'attack-tools': 'attackTools',
  violations: 'violations',
  spoofed: 'spoofed',
  vulnerable: 'vulnerable',
  uncommon: 'uncommon',
} as const

const emptyTexts = messages({
  'attack-tools': 'No known attack tools in this fleet.',
  violations: 'All attached devices are on the allowlist. Hosts without rules have no allowlist.',
  spoofed: 'All attached devices match their VID:PID.',
  vulnerable: 'No attached device has a known vulnerability.',
  uncommon: 'All devices in this fleet are common.',
})

/** Findings of the fleet: attack tools, devices not on the allowlist, spoofed, vulnerable and uncommon devices. */
export const InsightsPage = () => {
  const view = useView('/inside/insights', insightsView)
  const { tab } = view.state
  const vendor = view.state.filters.vendor ?? ''
  const chosen = insightOf(tab ?? undefined)
  useTitle(chosen.title)
  const { session } = useServices()
  const [busy, setBusy] = useState(false)
  const { data, failure, retry, reload } = useInsight(chosen.id, vendor)
  return (
    <Page scroll>
      <PageHead>
        <h1>{strings.insights}</h1>
        <Row end>
          {session.may('fleet:reload') ? (
            <Button
              size="compact-sm"
              variant="subtle"
              leftSection={<Icon name="refresh" size={14} />}
              loading={busy}
              onClick={() => {
                setBusy(true)
                reload()
                  .catch(tellFailure)
                  .finally(() => setBusy(false))
              }}
            >
              {strings.reload}
            </Button>
          ) : null}
          <MoreMenu curl={() => curlOf(insightSources[chosen.id].operation)}>
            <ReportItems list={reported[chosen.id]} />
          </MoreMenu>
        </Row>
      </PageHead>
      <Row
        as="nav"
        align="start"
        gap={4}
        style={{ borderBottom: '1px solid var(--pc-line)', overflowX: 'auto' }}
        aria-label={strings.insights}
      >
        {insightTabs.map(({ id, title }) => (
          <Link
            key={id}
            to="/insights"
            search={{ ...(id === insightTabs[0].id ? {} : { tab: id }), ...(vendor === '' ? {} : { vendor }) }}
            className={tabClasses.view}
            aria-current={id === chosen.id ? 'page' : undefined}
            activeOptions={{ exact: true, includeSearch: true }}
          >
            {title}
          </Link>
        ))}
      </Row>
      <Text as="p" max={860}>
        {chosen.definition}
      </Text>
      <FilterBar view={view} filters={insightFilters} />
      <Note max={860} num aria-live="polite">
        {data === undefined ? (
          strings.computing
        ) : (
          <>
            <strong>
              {data.population === null
                ? strings.modelCount({ count: data.total })
                : strings.modelCountOnHosts({ count: data.total, hosts: data.population })}
            </strong>
            {data.lines.length < data.total ? ` · ${strings.firstShown({ count: data.lines.length })}` : ''}
            {' · '}
            {data.computedAt === null
              ? strings.live
              : strings.computedAt({ time: <Time key="time" value={data.computedAt} form="local" /> })}
          </>
        )}
      </Note>
      {data?.insufficientPopulation === true ? (
        <Row as="p" max={860} pad="8px 12px" small style={{ borderRadius: 6, background: 'var(--pc-accent-soft)' }}>
          <Icon name="info" /> {strings.tooFewHosts({ count: data.population ?? 0 })}
        </Row>
      ) : null}
      <ErrorState failure={failure} retry={retry} inline />
      <FindingTable
        key={chosen.id}
        label={chosen.title}
        lines={failure !== null && data === undefined ? [] : data?.lines}
        empty={
          vendor !== ''
            ? strings.noFindingsForVendor({ vendor })
            : failure === null && data?.insufficientPopulation !== true
              ? emptyTexts[chosen.id]
              : ''
        }
      />
    </Page>
  )
}
