import '../src/app/styles.ts'
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import type { Peripheral } from '@portcullis/features/contract.ts'
import { Why } from '@portcullis/features/devices/console/shared/Why.tsx'
import { RuleEditor } from '@portcullis/features/policy/console/RuleEditor.tsx'
import { DecideForm } from '@portcullis/features/policy/console/shared/DecideForm.tsx'
import type { DecideSubject } from '@portcullis/features/policy/console/shared/decide.ts'
import { emptyDraft } from '@portcullis/features/policy/console/shared/rule-draft.ts'
import type { Api } from '@portcullis/platform/console/lib/api.ts'
import { systemClock } from '@portcullis/platform/console/lib/clock.ts'
import { createIdentity } from '@portcullis/platform/console/lib/identity.ts'
import { createKeys, domFocus } from '@portcullis/platform/console/lib/keys.ts'
import { ConsoleRefusal } from '@portcullis/platform/console/lib/problem.ts'
import { type Services, ServicesProvider } from '@portcullis/platform/console/lib/services.tsx'
import {
  parseSearchText,
  readView,
  type Search,
  searchText,
  type ViewChange,
  type ViewSpec,
  writeView,
} from '@portcullis/platform/console/lib/view-state.ts'
import { createWork } from '@portcullis/platform/console/lib/work.ts'
import { ConfirmDialog } from '@portcullis/platform/console/ui/ConfirmDialog.tsx'
import type { Confirmation } from '@portcullis/platform/console/ui/confirm.ts'
import { answerConfirms } from '@portcullis/platform/console/ui/confirm.ts'
import { FilterBar } from '@portcullis/platform/console/ui/filters/FilterBar.tsx'
import type { Filter } from '@portcullis/platform/console/ui/filters/filter.ts'
import type { Column, RowSource } from '@portcullis/platform/console/ui/table/column.ts'
import { DataTable } from '@portcullis/platform/console/ui/table/DataTable.tsx'
import { useSelection } from '@portcullis/platform/console/ui/table/useSelection.ts'
import { cssVariables, theme } from '@portcullis/platform/console/ui/theme/theme.ts'
import type { View } from '@portcullis/platform/console/ui/useView.ts'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { createRootRoute, createRouter, RouterProvider } from '@tanstack/react-router'
import { type ReactNode, StrictMode, useCallback, useEffect, useMemo, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { createFilterValues } from '../src/app/filter-values.ts'

// Interface for the tests in `e2e/console-components.test.ts`.
declare global {
  interface Window {
    /** Calls of the interface: operation and input. */
    calls: [operation: string, input: unknown][]
    /** Answers by operation. */
    answers: Record<string, unknown>
    /** Search part of the URL. */
    address: string
    /** Pages of rows that were loaded. */
    loads: number[]
    /** Announces a change on the live channel. */
    announce: () => void
    /** Reads all rows again, as actions do. */
    reread: () => void
    /** Rows of the table by index, and how many there are; changed by the tests. */
    rowText: (index: number) => string
    total: number
  }
}

window.calls = []
window.answers ??= {}
window.loads = []
window.rowText = (index) => `row ${index}`

const listeners = new Set<() => void>()
window.announce = () => {
  for (const listener of listeners) listener()
}

const keys = createKeys(systemClock, domFocus)
document.addEventListener('keydown', (event) => keys.press(event))

const profile = { account: { userProfile: 10, userName: 'admin' } }
const state = { phase: 'in', profile }
const queries = new QueryClient({ defaultOptions: { queries: { retry: false } } })
window.reread = () => void queries.invalidateQueries({ queryKey: ['rows'] })
const api = {
  call: async ({ id }: { id: string }, input: unknown) => {
    window.calls.push([id, input])
    if (id in window.answers) return structuredClone(window.answers[id])
    throw new ConsoleRefusal(`no answer for ${id}`)
  },
}
/** The parts of the application that components need, with fakes of the API and the live channel. */
const services = {
  api,
  live: {
    on: (_topic: string, listener: () => void) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  },
  session: { state: () => state, watch: () => () => undefined, may: () => true },
  identity: createIdentity(),
  clock: systemClock,
  keys,
  queries,
  work: createWork({ clock: systemClock, save: () => undefined }),
  filterValues: createFilterValues(api as unknown as Api),
} as unknown as Services

const filter = (name: string, label: string, kind: Filter['kind'], labels: Filter['labels'] = {}): Filter => ({
  name,
  label,
  kind,
  labels,
  values: Object.keys(labels),
  isSingle: false,
  maxLength: 256,
})
const filters = [
  filter('name', 'Name', 'text'),
  filter('state', 'State', 'enum', { on: 'On', off: 'Off' }),
  filter('present', 'Present', 'boolean'),
]
const spec: ViewSpec = {
  filters: filters.map(({ name }) => name),
  defaultSort: 'name_asc',
  defaultColumns: ['name', 'size'],
}

/** The view of a list without a router: its address is `window.address`. */
const useSceneView = (): View => {
  const [search, setSearch] = useState<Search>({})
  const state = useMemo(() => readView(search, spec), [search])
  useEffect(() => {
    window.address = searchText(search)
  }, [search])
  const set = useCallback(
    (change: ViewChange) => setSearch((old) => parseSearchText(searchText(writeView(old, spec, change)))),
    [],
  )
  const clearFilters = useCallback(() => setSearch({}), [])
  return useMemo(() => ({ spec, state, set, clearFilters }), [state, set, clearFilters])
}

interface SceneRow {
  id: string
  name: string
}

window.total = 1_000
const columns: readonly Column<SceneRow>[] = [
  { id: 'name', title: 'Name', width: 200, sortKey: 'name', cell: ({ name }) => <span>{name}</span> },
  { id: 'size', title: 'Size', width: 90, sortKey: 'size', naturalSort: 'desc', cell: () => <span>1</span> },
  { id: 'link', title: 'Link', width: 90, cell: ({ id }) => <a href={`/x/${id}`}>Details of {id}</a> },
]

const TableScene = () => {
  const view = useSceneView()
  const { filters: set, search, sort } = view.state
  const source = useMemo<RowSource<SceneRow>>(() => {
    const isNone = set.name === 'none'
    return {
      key: ['scene', set, search, sort],
      idOf: ({ id }) => id,
      load: async (page, size) => {
        window.loads.push(page)
        return {
          recordsTotal: window.total,
          recordsFiltered: isNone ? 0 : window.total,
          data: isNone
            ? []
            : Array.from({ length: size }, (_, at) => {
                const index = (page - 1) * size + at
                const text = window.rowText(index)
                return {
                  id: text.replace(/^\D+/, '') || 'new',
                  name: `${text}${sort === 'name_asc' ? '' : `, ${sort}`}`,
                }
              }),
        }
      },
    }
  }, [set, search, sort])
  const selection = useSelection(source, { filtered: window.total })
  return (
    <div style={{ display: 'flex', flexDirection: 'column', height: 500 }}>
      <FilterBar view={view} filters={filters} searchPlaceholder="Name or size" />
      <output aria-label="Selected">{selection.size}</output>
      <DataTable
        label="Rows"
        columns={columns}
        source={source}
        view={view}
        topics={['agents']}
        hrefOf={({ id }) => `/x/${id}`}
        selection={selection}
        empty="No rows at all"
      />
    </div>
  )
}

const subject: DecideSubject = {
  name: 'Cruzer Blade',
  vid: '0781',
  pid: '5567',
  devices: [
    { uuid: '00000000-0000-4000-8000-000000000001', hostIdentifier: 'LAB-1', deviceID: 'a', serialNumber: 'S1' },
  ],
  tags: ['lab'],
  isAttackTool: false,
  evidence: [],
}
const close = () => window.calls.push(['close', null])
const secondDevice = {
  uuid: '00000000-0000-4000-8000-000000000002',
  hostIdentifier: 'LAB-2',
  deviceID: 'b',
  serialNumber: 'S2',
}

/** The fields of a device that its verdict shows. */
const evaluated = {
  ...{ uuid: 'h1', deviceID: 'd1', vid: '1209', pid: '7A01', guiVid: 'Glow', guiPid: 'Pad', caption: 'Pad' },
  ...{
    attackTool: '',
    evidence: [],
    acceptance: null,
    missingEvidence: [],
    vulnerabilities: [],
    driverMismatch: '',
    unknownDriver: '',
    notWorking: '',
    isOverNetwork: false,
    guard: '',
  },
  ...{
    decision: 'allow',
    policyState: 'allowed',
    decisionReason: 'Allowed by default',
    rule: 'default',
    adminStatus: '',
    caseNumber: '',
  },
  ...{ isUnapprovedPeripherals: false, present: true, isDisabled: false, inAction: false, status: 'OK' },
  ...{ enforcedVersion: null, policyVersion: 1 },
} as unknown as Peripheral

const scenes: Readonly<Record<string, () => ReactNode>> = {
  table: () => <TableScene />,
  decide: () => <DecideForm subject={subject} start={{ effect: 'allow', scope: 'host' }} close={close} />,
  'decide-hosts': () => (
    <DecideForm
      subject={{ ...subject, devices: [...subject.devices, secondDevice] }}
      start={{ effect: 'allow', scope: 'host' }}
      close={close}
    />
  ),
  'decide-attack-tool': () => (
    <DecideForm
      subject={{ ...subject, isAttackTool: true, evidence: ['types by itself'] }}
      start={{ effect: 'allow', scope: 'host' }}
      close={close}
    />
  ),
  examined: () => <Why device={evaluated} />,
  suspected: () => (
    <Why
      device={{
        ...evaluated,
        attackTool: 'suspected',
        policyState: 'attackToolWorks',
        rule: 'attack-tool',
        evidence: ['types by itself'],
      }}
    />
  ),
  accepted: () => (
    <Why
      device={{
        ...evaluated,
        evidence: ['Accepted by ada: our own pad', 'x'.repeat(300)],
        acceptance: { id: 'a1', reason: 'our own pad', acceptedBy: 'ada', acceptedAt: '2031-05-04T10:11:12.000Z' },
      }}
    />
  ),
  'not-examined': () => (
    <Why device={{ ...evaluated, missingEvidence: ['descriptors', 'report-descriptors', 'speed'] }} />
  ),
  rule: () => <RuleEditor rule={null} start={emptyDraft} isGrant={false} canWrite close={close} />,
  'rule-read': () => <RuleEditor rule={null} start={emptyDraft} isGrant={false} canWrite={false} close={close} />,
}

const Scene = () => {
  const [question, setQuestion] = useState<Confirmation | null>(null)
  useEffect(() => answerConfirms(setQuestion), [])
  return (
    <>
      {scenes[window.location.hash.slice(1)]?.()}
      {question === null ? null : <ConfirmDialog confirmation={question} close={() => setQuestion(null)} />}
    </>
  )
}

const root = createRootRoute({ component: Scene })
const router = createRouter({ routeTree: root })

createRoot(document.getElementById('root')!).render(
  <StrictMode>
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables}>
      <QueryClientProvider client={queries}>
        <ServicesProvider services={services}>
          <Notifications />
          <RouterProvider<typeof router> router={router} />
        </ServicesProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
)
