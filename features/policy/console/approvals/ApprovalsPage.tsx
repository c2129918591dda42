import { Button } from '@mantine/core'
import { EmptyState } from '@portcullis/platform/console/ui/EmptyState.tsx'
import { ErrorState } from '@portcullis/platform/console/ui/ErrorState.tsx'
import { FilterBar } from '@portcullis/platform/console/ui/filters/FilterBar.tsx'
import { Note, Page, PageHead, Panel, Quiet, Skeleton, Text } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { lazilyDialog, useIdlePreload } from '@portcullis/platform/console/ui/lazily.tsx'
import { MoreMenu } from '@portcullis/platform/console/ui/MoreMenu.tsx'
import { Selected } from '@portcullis/platform/console/ui/table/SelectionBar.tsx'
import { useTitle } from '@portcullis/platform/console/ui/useTitle.ts'
import { Link } from '@tanstack/react-router'
import classes from './ApprovalsPage.module.css'
import { strings } from './strings.ts'
import { type Approvals, useApprovals } from './useApprovals.ts'
import { approvalsTable, type Inbox } from './useInbox.ts'
import { WaitingModel } from './WaitingModel.tsx'
import { isChosen, modelKey, totalsText } from './waiting.ts'

const BulkDecideDialog = lazilyDialog(async () => (await import('../shared/BulkDecideDialog.tsx')).BulkDecideDialog)
const DecideDialog = lazilyDialog(async () => (await import('../shared/DecideDialog.tsx')).DecideDialog)

const Head = ({ inbox }: { inbox: Inbox }) => (
  <PageHead>
    <h1>{strings.deviceApprovals}</h1>
    <Quiet aria-live="polite">
      {inbox.newest.data === undefined || inbox.waiting === undefined
        ? ''
        : totalsText({ ...inbox.newest.data, attached: inbox.waiting })}
    </Quiet>
    {inbox.changes > 0 ? (
      <Button size="compact-xs" variant="default" onClick={inbox.showLatest}>
        {strings.showChanges({ changes: inbox.changes })}
      </Button>
    ) : null}
    <Text end>
      <MoreMenu curl={inbox.curl} />
    </Text>
  </PageHead>
)

const Intro = ({ canDecide }: Pick<Approvals, 'canDecide'>) => (
  <Note>
    {strings.intro}{' '}
    {canDecide ? (
      <span className={classes.keys}>
        {strings.keysHint({
          j: <kbd key="j">j</kbd>,
          k: <kbd key="k">k</kbd>,
          enter: <kbd key="enter">{strings.enterKey}</kbd>,
          x: <kbd key="x">x</kbd>,
          a: <kbd key="a">a</kbd>,
          d: <kbd key="d">d</kbd>,
        })}
      </span>
    ) : null}
  </Note>
)

const Nothing = ({ inbox }: { inbox: Inbox }) =>
  inbox.isFiltered ? (
    <EmptyState icon="filter" title={strings.noMatch}>
      <Button variant="subtle" size="compact-sm" onClick={inbox.view.clearFilters}>
        {strings.clearFilters}
      </Button>
    </EmptyState>
  ) : (
    <EmptyState icon="inbox" title={strings.emptyTitle}>
      <p>{strings.empty({ link: (text) => <Link to="/policy/simulator">{text}</Link> })}</p>
    </EmptyState>
  )

const Models = ({ state }: { state: Approvals }) => {
  const { inbox, all, open, canDecide, cursor, chosen } = state
  if (inbox.shown === null) return inbox.newest.error === null ? <Skeleton height={160} /> : null
  if (all.length === 0) return <Nothing inbox={inbox} />
  return (
    <Panel
      as="ul"
      fixed
      lined
      small
      gap={0}
      pad={0}
      aria-label={strings.list}
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
    </Panel>
  )
}

const SelectionBar = ({ state }: { state: Approvals }) => {
  const { all, chosen } = state
  return (
    <Selected
      count={strings.selected({ count: state.count })}
      clear={state.clear}
      style={{ position: 'sticky', bottom: -16 }}
      more={
        chosen.size < all.length ? (
          <Button size="compact-sm" variant="subtle" onClick={state.chooseAll}>
            {strings.selectAll({ count: all.length })}
          </Button>
        ) : null
      }
    >
      <Button size="compact-sm" variant="default" onClick={() => void state.askAll('allow')}>
        {strings.askApprove}
      </Button>
      <Button size="compact-sm" variant="default" onClick={() => void state.askAll('deny')}>
        {strings.askDeny}
      </Button>
    </Selected>
  )
}

/** Lists devices of armed hosts that are not on the allowlist, by model. Usable with the keyboard alone. */
export const ApprovalsPage = () => {
  useTitle(strings.deviceApprovals)
  useIdlePreload(DecideDialog)
  const state = useApprovals()
  const { inbox, canDecide } = state
  const { newest } = inbox
  return (
    <Page scroll>
      <Head inbox={inbox} />
      <Intro canDecide={canDecide} />
      <FilterBar
        view={inbox.view}
        filters={approvalsTable.filters}
        searchPlaceholder={strings.searchDevices}
        check={inbox.check}
      />
      <ErrorState query={newest} inline={inbox.shown !== null} />
      <Models state={state} />
      {canDecide && state.chosen.size > 0 ? <SelectionBar state={state} /> : null}
      <BulkDecideDialog question={state.bulk} close={state.closeBulk} />
      <DecideDialog question={state.question} close={state.closeQuestion} />
    </Page>
  )
}
