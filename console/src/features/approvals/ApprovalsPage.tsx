import { Button } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { EmptyState } from '../../ui/EmptyState.tsx'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { FilterBar } from '../../ui/filters/FilterBar.tsx'
import { lazily, useIdlePreload } from '../../ui/lazily.tsx'
import { MoreMenu } from '../../ui/MoreMenu.tsx'
import { devices } from '../../ui/policy/labels.ts'
import { useTitle } from '../../ui/useTitle.ts'
import classes from './ApprovalsPage.module.css'
import { approvalFilters } from './approvals.view.ts'
import { type Approvals, useApprovals } from './useApprovals.ts'
import type { Inbox } from './useInbox.ts'
import { WaitingModel } from './WaitingModel.tsx'
import { isChosen, modelKey, totalsText } from './waiting.ts'

const BulkDecideDialog = lazily(async () => (await import('../../ui/policy/BulkDecideDialog.tsx')).BulkDecideDialog)
const DecideDialog = lazily(async () => (await import('../../ui/policy/DecideDialog.tsx')).DecideDialog)

const Head = ({ inbox }: { inbox: Inbox }) => (
  <header className={classes.head}>
    <h1>Device approvals</h1>
    <span className={classes.quiet} aria-live="polite">
      {inbox.newest.data === undefined || inbox.waiting === undefined
        ? ''
        : totalsText({ ...inbox.newest.data, attached: inbox.waiting })}
    </span>
    {inbox.changes > 0 ? (
      <Button size="compact-xs" variant="default" onClick={inbox.showLatest}>
        {inbox.changes.toLocaleString('en')} changed: show
      </Button>
    ) : null}
    <span className={classes.tools}>
      <MoreMenu label="More" curl={inbox.curl} />
    </span>
  </header>
)

const Intro = ({ canDecide }: Pick<Approvals, 'canDecide'>) => (
  <p className={classes.quiet}>
    Devices of armed hosts that no rule covers, attached now or seen in the last seven days.
    {canDecide ? (
      <>
        {' '}
        <kbd>j</kbd>/<kbd>k</kbd> to move, <kbd>enter</kbd> to show the devices, <kbd>x</kbd> to select, <kbd>a</kbd> to
        approve and <kbd>d</kbd> to deny.
      </>
    ) : null}
  </p>
)

const Nothing = ({ inbox }: { inbox: Inbox }) =>
  inbox.isFiltered ? (
    <EmptyState icon="filter" title="Nothing matches these filters">
      <Button variant="subtle" size="compact-sm" onClick={inbox.view.clearFilters}>
        Clear all filters
      </Button>
    </EmptyState>
  ) : (
    <EmptyState icon="inbox" title="Nothing waits for a decision">
      <p>
        A device that no rule covers appears here as soon as it is attached to an armed host. Before arming, the{' '}
        <Link to="/policy/simulator">simulator</Link> says what would come.
      </p>
    </EmptyState>
  )

const Models = ({ state }: { state: Approvals }) => {
  const { inbox, all, open, canDecide, cursor, chosen } = state
  if (inbox.shown === null)
    return inbox.newest.error === null ? <div className={classes.skeleton} aria-busy="true" /> : null
  if (all.length === 0) return <Nothing inbox={inbox} />
  return (
    <ul
      className={classes.models}
      aria-label="Waiting"
      onPointerEnter={() => inbox.setPointerInside(true)}
      onPointerLeave={() => inbox.setPointerInside(false)}
    >
      {all.map((model) => (
        <WaitingModel
          key={modelKey(model)}
          model={model}
          isOpen={open === modelKey(model)}
          cursor={cursor}
          toggle={() => state.toggle(modelKey(model))}
          decide={canDecide ? (line, start) => void state.ask(line, start) : null}
          isChosen={(line) => isChosen(chosen, line)}
          choose={state.choose}
        />
      ))}
    </ul>
  )
}

const SelectionBar = ({ state }: { state: Approvals }) => {
  const { all, chosen } = state
  return (
    <section className={classes.selection} aria-label="Selection">
      <strong>{devices(state.count)} selected</strong>
      {chosen.size < all.length ? (
        <Button size="compact-sm" variant="subtle" onClick={state.chooseAll}>
          Select all {all.length.toLocaleString('en')} models
        </Button>
      ) : null}
      <Button size="compact-sm" variant="subtle" onClick={state.clear}>
        Clear
      </Button>
      <span className={classes.selectionActions}>
        <Button size="compact-sm" variant="default" onClick={() => void state.askAll('allow')}>
          Approve…
        </Button>
        <Button size="compact-sm" variant="default" onClick={() => void state.askAll('deny')}>
          Deny…
        </Button>
      </span>
    </section>
  )
}

/** What waits for a decision: devices of armed hosts that no rule covers, by model. Made for the keyboard. */
export const ApprovalsPage = () => {
  useTitle('Device approvals')
  useIdlePreload(DecideDialog)
  const state = useApprovals()
  const { inbox, canDecide } = state
  const { newest } = inbox
  return (
    <div className={classes.page}>
      <Head inbox={inbox} />
      <Intro canDecide={canDecide} />
      <FilterBar view={inbox.view} filters={approvalFilters} searchPlaceholder="Device, vendor, id, serial, host" />
      {newest.error === null ? null : (
        <ErrorState failure={newest.error} retry={() => void newest.refetch()} inline={inbox.shown !== null} />
      )}
      <Models state={state} />
      {canDecide && state.chosen.size > 0 ? <SelectionBar state={state} /> : null}
      <BulkDecideDialog question={state.bulk} close={state.closeBulk} />
      <DecideDialog question={state.question} close={state.closeQuestion} />
    </div>
  )
}
