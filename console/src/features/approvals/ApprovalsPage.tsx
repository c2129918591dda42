import { Button } from '@mantine/core'
import { getPeripherals, getPolicy, policyApprovals } from '@portcullis/contract'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useEffect, useMemo, useState } from 'react'
import { curlOf } from '../../lib/curl.ts'
import { listQueryOf } from '../../lib/list-query.ts'
import { useServices } from '../../lib/services.tsx'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { FilterBar } from '../../ui/filters/FilterBar.tsx'
import { lazily, useIdlePreload } from '../../ui/lazily.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import type { BulkQuestion } from '../../ui/policy/BulkDecideDialog.tsx'
import { bulkLimit } from '../../ui/policy/bulk-decide.ts'
import type { DecideQuestion } from '../../ui/policy/DecideDialog.tsx'
import type { DecideStart } from '../../ui/policy/decide.ts'
import { devices } from '../../ui/policy/words.ts'
import { tell, tellFailure } from '../../ui/tell.ts'
import { useKeys } from '../../ui/useKeys.ts'
import { useLiveRefresh } from '../../ui/useLive.ts'
import { useTitle } from '../../ui/useTitle.ts'
import { useView } from '../../ui/useView.ts'
import classes from './ApprovalsPage.module.css'
import { approvalFilters, approvalsView } from './approvals.view.ts'
import { WaitingModel } from './WaitingModel.tsx'
import {
  changesBetween,
  chosenCount,
  chosenDevices,
  isChosen,
  type Line,
  linesOf,
  modelKey,
  nextLine,
  subjectOf,
  toggled,
  totalsText,
  type Waiting,
  withModel,
} from './waiting.ts'

const BulkDecideDialog = lazily(async () => (await import('../../ui/policy/BulkDecideDialog.tsx')).BulkDecideDialog)
const DecideDialog = lazily(async () => (await import('../../ui/policy/DecideDialog.tsx')).DecideDialog)

// The models of most hosts come first; who has more than these writes rules.
const shownModels = 200
// The server may tell of changes every second; an inbox that is read again more often shows nothing new.
const refreshGap = 2_000

// Keys for the narrow decisions only; the wide ones are chosen from the menu of the row or in the dialog.
const starts: readonly { keys: string; description: string; start: DecideStart }[] = [
  { keys: 'a', description: 'Approve the selected row on its host', start: { effect: 'allow', scope: 'host' } },
  { keys: 'd', description: 'Deny the selected row', start: { effect: 'deny', scope: 'host' } },
]

/** What waits for a decision: devices of armed hosts that no rule covers, by model. Made for the keyboard. */
export const ApprovalsPage = () => {
  useTitle('Device approvals')
  useIdlePreload(DecideDialog)
  const { api, session } = useServices()
  const view = useView('/inside/approvals', approvalsView)
  const { open, filters, search, sort } = view.state
  const asked = useMemo(() => listQueryOf({ filters, search, sort }, approvalsView), [filters, search, sort])
  const isFiltered = Object.keys(asked).length > 0
  const query = { query: { ...asked, PageSize: shownModels } }
  // The same number as in the navigation.
  const policy = useQuery({ queryKey: ['policy'], queryFn: ({ signal }) => api.call(getPolicy, { signal }) })
  const newest = useQuery({
    queryKey: ['approvals', asked],
    queryFn: ({ signal }) => api.call(policyApprovals, { ...query, signal }),
  })
  useLiveRefresh(['peripherals', 'agents'], refreshGap, () => void newest.refetch())

  // What is under the eye stays until asked for, or until nobody looks at it; what was decided here goes at once.
  const [shown, setShown] = useState<readonly Waiting[] | null>(null)
  const [cursor, setCursor] = useState<string | null>(null)
  const [pointerInside, setPointerInside] = useState(false)
  const [question, setQuestion] = useState<DecideQuestion | null>(null)
  // Model that was decided about last: it follows the server at once, also when that is taken back.
  const [decided, setDecided] = useState<string | null>(null)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [bulk, setBulk] = useState<BulkQuestion | null>(null)
  const [shownOf, setShownOf] = useState(asked)
  const latest = newest.data?.data
  const calm =
    (!pointerInside && cursor === null && question === null && bulk === null && chosen.size === 0) || shownOf !== asked
  useEffect(() => {
    if (latest === undefined) return
    setShownOf(asked)
    setShown((old) => {
      if (old === null || calm) return latest
      return decided === null ? old : withModel(old, latest, decided)
    })
  }, [latest, calm, decided, asked])
  const changes = shown === null || latest === undefined ? 0 : changesBetween(shown, latest)

  const all = shown ?? []
  const lines = linesOf(all, open)
  const current = lines.find(({ key }) => key === cursor)
  const canDecide = session.may('fleet:write')
  const toggle = (key: string) => view.set({ open: open === key ? null : key }, { replace: open !== null })

  const ask = async (line: Line, start: DecideStart) => {
    setCursor(line.key)
    let evidence: string[] = []
    if (line.model.isKnownAttackTool) {
      // Why it is taken for one is part of the question.
      try {
        const { vid, pid } = line.model
        const { data } = await api.call(getPeripherals, { query: { vid, pid, isKnownAttackTool: 'true', PageSize: 1 } })
        evidence = data[0]?.evidence ?? []
      } catch (failure) {
        tellFailure(failure)
        return
      }
    }
    setQuestion({ subject: subjectOf(line, evidence), start })
  }

  const clear = () => setChosen(new Set())
  const toggleLine = (line: Line) => setChosen(toggled(chosen, line))
  const count = chosenCount(chosen, all)
  /** Asks about the whole selection, including devices that the page does not list. */
  const askAll = async (effect: BulkQuestion['effect']) => {
    if (count > bulkLimit) {
      tell(`Select at most ${bulkLimit.toLocaleString('en')} devices, or write a rule for a model.`)
      return
    }
    try {
      const complete = await Promise.all(
        all.map(async (model) => {
          if (!chosen.has(modelKey(model)) || model.devices.length >= model.peripheralsCount) return model
          const { vid, pid } = model
          const { data } = await api.call(policyApprovals, {
            query: { ...asked, vid, pid, PageSize: 1, DevicesPerModel: bulkLimit },
          })
          return data[0] ?? model
        }),
      )
      setBulk({ effect, ...chosenDevices(chosen, complete), done: clear })
    } catch (failure) {
      tellFailure(failure)
    }
  }

  const move = (step: 1 | -1) => {
    const next = nextLine(lines, cursor, step)
    setCursor(next)
    if (next !== null) document.querySelector(`[data-line="${CSS.escape(next)}"]`)?.scrollIntoView({ block: 'nearest' })
  }
  useKeys([
    { keys: 'j', description: 'Next', run: () => move(1) },
    { keys: 'k', description: 'Previous', run: () => move(-1) },
    { keys: 'ArrowDown', description: 'Next', run: () => move(1) },
    { keys: 'ArrowUp', description: 'Previous', run: () => move(-1) },
    {
      keys: 'Enter',
      description: 'Show the devices',
      run: () => {
        if (current?.device === null) toggle(current.key)
      },
    },
    {
      keys: 'Escape',
      description: 'Close what is open',
      run: () => {
        if (open === null && chosen.size > 0) clear()
        else if (open === null) setCursor(null)
        else {
          setCursor(open)
          view.set({ open: null }, { replace: true })
        }
      },
    },
    ...(canDecide
      ? [{ keys: 'x', description: 'Select the row', run: () => current !== undefined && toggleLine(current) }]
      : []),
    ...(canDecide
      ? starts.map(({ keys, description, start }) => ({
          keys,
          description,
          run: () => {
            // Without a selection a key decides nothing.
            if (chosen.size > 0) void askAll(start.effect === 'deny' ? 'deny' : 'allow')
            else if (current !== undefined) void ask(current, start)
          },
        }))
      : []),
  ])

  return (
    <div className={classes.page}>
      <header className={classes.head}>
        <h1>Device approvals</h1>
        <span className={classes.quiet} aria-live="polite">
          {newest.data === undefined || policy.data === undefined
            ? ''
            : totalsText({ ...newest.data, attached: policy.data.waiting })}
        </span>
        {changes > 0 ? (
          <Button size="compact-xs" variant="default" onClick={() => setShown(latest ?? null)}>
            {changes.toLocaleString('en')} changed: show
          </Button>
        ) : null}
        <span className={classes.tools}>
          <MoreMenu label="More" curl={() => curlOf(window.location.origin, policyApprovals, query)} />
        </span>
      </header>
      <p className={classes.quiet}>
        Devices of armed hosts that no rule covers, attached now or seen in the last seven days.
        {canDecide ? (
          <>
            {' '}
            <kbd>j</kbd>/<kbd>k</kbd> to move, <kbd>enter</kbd> to show the devices, <kbd>x</kbd> to select,{' '}
            <kbd>a</kbd> to approve and <kbd>d</kbd> to deny.
          </>
        ) : null}
      </p>
      <FilterBar view={view} filters={approvalFilters} searchPlaceholder="Device, vendor, id, serial, host" />
      {newest.error === null ? null : (
        <ErrorState failure={newest.error} retry={() => void newest.refetch()} inline={shown !== null} />
      )}
      {shown === null ? (
        newest.error === null ? (
          <div className={classes.skeleton} aria-busy="true" />
        ) : null
      ) : all.length === 0 && isFiltered ? (
        <EmptyState icon="filter" title="Nothing matches these filters">
          <Button variant="subtle" size="compact-sm" onClick={view.clearFilters}>
            Clear all filters
          </Button>
        </EmptyState>
      ) : all.length === 0 ? (
        <EmptyState icon="inbox" title="Nothing waits for a decision">
          <p>
            A device that no rule covers appears here as soon as it is attached to an armed host. Before arming, the{' '}
            <Link to="/policy/simulator">simulator</Link> says what would come.
          </p>
        </EmptyState>
      ) : (
        <ul
          className={classes.models}
          aria-label="Waiting"
          onPointerEnter={() => setPointerInside(true)}
          onPointerLeave={() => setPointerInside(false)}
        >
          {all.map((model) => (
            <WaitingModel
              key={modelKey(model)}
              model={model}
              isOpen={open === modelKey(model)}
              cursor={cursor}
              toggle={() => toggle(modelKey(model))}
              decide={canDecide ? (line, start) => void ask(line, start) : null}
              isChosen={(line) => isChosen(chosen, line)}
              choose={toggleLine}
            />
          ))}
        </ul>
      )}
      {canDecide && chosen.size > 0 ? (
        <section className={classes.selection} aria-label="Selection">
          <strong>{devices(count)} selected</strong>
          {chosen.size < all.length ? (
            <Button size="compact-sm" variant="subtle" onClick={() => setChosen(new Set(all.map(modelKey)))}>
              Select all {all.length.toLocaleString('en')} models
            </Button>
          ) : null}
          <Button size="compact-sm" variant="subtle" onClick={clear}>
            Clear
          </Button>
          <span className={classes.selectionActions}>
            <Button size="compact-sm" variant="default" onClick={() => void askAll('allow')}>
              Approve…
            </Button>
            <Button size="compact-sm" variant="default" onClick={() => void askAll('deny')}>
              Deny…
            </Button>
          </span>
        </section>
      ) : null}
      <BulkDecideDialog
        question={bulk}
        close={() => {
          setBulk(null)
          void newest.refetch()
        }}
      />
      <DecideDialog
        question={question}
        close={() => {
          setDecided(question === null ? null : modelKey(question.subject))
          setQuestion(null)
          void newest.refetch()
        }}
      />
    </div>
  )
}
