// biome-ignore-all lint/a11y/useSemanticElements: virtual rows can not be a table element
import { Button } from '@mantine/core'
import { useMediaQuery } from '@mantine/hooks'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useId, useRef, useState } from 'react'
import { ErrorState } from '../../ui/ErrorState.tsx'
import { PendingBar } from '../../ui/table/PendingBar.tsx'
import type { Selection } from '../../ui/table/useSelection.ts'
import { useKeys } from '../../ui/useKeys.ts'
import type { View } from '../../ui/useView.ts'
import type { Line, NoticeList } from './line.ts'
import { NoticeDrawer } from './NoticeDrawer.tsx'
import { NoticeRow } from './NoticeRow.tsx'
import { useNoticeActions } from './notice-actions.ts'
import classes from './notices.module.css'
import { useNoticeRows } from './useNoticeRows.ts'

// Two lines of text plus padding, two more on a phone; keep in sync with `.row`.
const lineHeight = 52
const phoneLineHeight = 92

export interface NoticeGridProps {
  list: NoticeList
  label: string
  view: View
  /** Identity of the list with its filters. */
  name: string
  read: (size: number, signal: AbortSignal) => Promise<Line[]>
  canDismiss: boolean
  selection?: Selection<Line>
  /** Shown when there is nothing at all. */
  empty: ReactNode
  /** Shown when filters leave nothing. */
  noMatch?: ReactNode
}

/** A list of notices for mouse and keyboard, with the drawer that says why. */
export const NoticeGrid = (props: NoticeGridProps) => {
  const { list, label, view, name, read, canDismiss, selection, empty, noMatch } = props
  const { open } = view.state
  const gridId = useId()
  const scroller = useRef<HTMLDivElement>(null)
  const [cursor, setCursor] = useState<number | null>(null)
  const [pointerInside, setPointerInside] = useState(false)
  const calm = !pointerInside && cursor === null && open === null && (selection?.size ?? 0) === 0
  const rows = useNoticeRows({ key: name, read, calm })
  const lines = rows.rows ?? []
  const at = lines.findIndex(({ id }) => id === cursor)
  const current = lines[at]
  const actions = useNoticeActions(list, (ids) => {
    rows.drop(ids)
    // The keyboard goes on with the next one.
    if (cursor !== null && ids.has(cursor)) setCursor((lines[at + 1] ?? lines[at - 1])?.id ?? null)
    if (open !== null && ids.has(Number(open))) view.set({ open: null }, { replace: true })
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list starts at its top
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 })
    setCursor(null)
  }, [name])

  const isPhone = useMediaQuery('(max-width: 700px)') ?? false
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (isPhone ? phoneLineHeight : lineHeight),
    overscan: 8,
    getItemKey: (index) => lines[index]?.id ?? index,
  })
  const show = (id: number) => {
    const text = String(id)
    view.set({ open: open === text ? null : text }, { replace: open !== null })
  }
  const moveTo = (index: number) => {
    const next = Math.max(0, Math.min(lines.length - 1, index))
    const line = lines[next]
    if (line === undefined) return
    setCursor(line.id)
    virtual.scrollToIndex(next, { align: 'auto' })
    if (open !== null) view.set({ open: String(line.id) }, { replace: true })
  }
  // What is open is meant when nothing is under the cursor: it was opened by the mouse, or by its address.
  const meant = () => current ?? lines.find(({ id }) => String(id) === open)
  // biome-ignore lint/correctness/useExhaustiveDependencies: measure again when the row height changes
  useEffect(() => virtual.measure(), [isPhone])
  const step = (by: 1 | -1) => moveTo(at === -1 ? (by === 1 ? 0 : lines.length - 1) : at + by)
  useKeys([
    { keys: 'j', description: 'Next notice', run: () => step(1) },
    { keys: 'k', description: 'Previous notice', run: () => step(-1) },
    { keys: 'ArrowDown', description: 'Next notice', run: () => step(1) },
    { keys: 'ArrowUp', description: 'Previous notice', run: () => step(-1) },
    { keys: 'Home', description: 'First notice', run: () => moveTo(0) },
    { keys: 'End', description: 'Last notice', run: () => moveTo(lines.length - 1) },
    { keys: 'Enter', description: 'Open the notice', run: () => current !== undefined && show(current.id) },
    {
      keys: 'p',
      description: 'Pin or unpin the notice',
      run: () => {
        const line = meant()
        if (line !== undefined && !line.isDismissed) actions.pin(line)
      },
    },
    ...(canDismiss
      ? [
          {
            keys: 'd',
            description: 'Dismiss the notice, or all selected',
            run: () => {
              const line = meant()
              if ((selection?.size ?? 0) > 0) actions.dismiss(selection?.rows() ?? [], selection?.clear)
              else if (line !== undefined) actions.dismiss([line])
            },
          },
          {
            keys: 'x',
            description: 'Select the notice',
            run: () => current !== undefined && selection?.toggle(current, at),
          },
        ]
      : []),
    {
      keys: 'Escape',
      description: 'Close what is open',
      run: () => {
        if (open !== null) view.set({ open: null })
        else if ((selection?.size ?? 0) > 0) selection?.clear()
        else setCursor(null)
      },
    },
  ])

  if (rows.rows === undefined)
    return rows.failure === null ? (
      <div className={classes.skeleton} aria-busy="true" />
    ) : (
      <ErrorState failure={rows.failure} retry={rows.retry} />
    )
  return (
    <div className={classes.frame}>
      {rows.failure === null ? null : <ErrorState failure={rows.failure} retry={rows.retry} inline />}
      <PendingBar pending={rows.pending} apply={rows.apply} />
      {lines.length === 0 && rows.pending === null ? (
        (noMatch ?? empty)
      ) : (
        <div
          ref={scroller}
          role="grid"
          id={gridId}
          aria-label={label}
          aria-rowcount={rows.hasMore ? -1 : lines.length}
          aria-busy={rows.isStale}
          aria-multiselectable={selection !== undefined}
          aria-activedescendant={current === undefined ? undefined : `${gridId}-${current.id}`}
          tabIndex={0}
          className={classes.scroller}
          data-stale={rows.isStale || undefined}
          onPointerEnter={() => setPointerInside(true)}
          onPointerLeave={() => setPointerInside(false)}
        >
          <div className={classes.rows} style={{ height: virtual.getTotalSize() }} role="presentation">
            {virtual.getVirtualItems().map(({ index, start, key }) => {
              const line = lines[index]
              if (line === undefined) return null
              return (
                <NoticeRow
                  key={key}
                  line={line}
                  id={`${gridId}-${line.id}`}
                  index={index}
                  top={start}
                  isOpen={String(line.id) === open}
                  isCursor={line.id === cursor}
                  isSelected={selection?.has(line)}
                  open={() => {
                    setCursor(line.id)
                    show(line.id)
                  }}
                  toggle={() => selection?.toggle(line, index)}
                  pin={() => actions.pin(line)}
                  dismiss={canDismiss ? () => actions.dismiss([line]) : null}
                />
              )
            })}
          </div>
          {rows.hasMore ? (
            <div className={classes.more}>
              <Button size="compact-sm" variant="default" onClick={rows.showMore} loading={rows.isStale}>
                Load more
              </Button>
              <span>The first {lines.length.toLocaleString('en')} are shown.</span>
            </div>
          ) : null}
        </div>
      )}
      {open === null ? null : (
        <NoticeDrawer
          id={Number(open)}
          list={list}
          line={lines.find(({ id }) => String(id) === open) ?? null}
          canDismiss={canDismiss}
          pin={actions.pin}
          dismiss={(line) => actions.dismiss([line])}
          close={() => view.set({ open: null })}
        />
      )}
    </div>
  )
}
