import { useMediaQuery } from '@mantine/hooks'
import type { Selection } from '@portcullis/platform/console/ui/table/useSelection.ts'
import { useKeys } from '@portcullis/platform/console/ui/useKeys.ts'
import type { View } from '@portcullis/platform/console/ui/useView.ts'
import { useVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useRef, useState } from 'react'
import type { InboxList, Line } from '../shared/line.ts'
import { useAlertActions } from './alert-actions.ts'
import { strings } from './strings.ts'
import { useAlertRows } from './useAlertRows.ts'
import { useCases } from './useCases.tsx'

export interface AlertGridProps {
  list: InboxList
  label: string
  view: View
  /** Identity of the list with its filters. */
  name: string
  read: (size: number, signal: AbortSignal) => Promise<Line[]>
  canDismiss: boolean
  selection?: Selection<Line>
  /** Shown if the list is empty. */
  empty: ReactNode
  /** Shown if no alert matches the filters. */
  noMatch?: ReactNode
}

// Two lines of text plus padding, two more on a phone; keep in sync with `.row`.
const lineHeight = 52
const phoneLineHeight = 92

const useScroll = (lines: readonly Line[]) => {
  const scroller = useRef<HTMLDivElement>(null)
  const isPhone = useMediaQuery('(max-width: 700px)') ?? false
  const virtual = useVirtualizer({
    count: lines.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => (isPhone ? phoneLineHeight : lineHeight),
    overscan: 8,
    getItemKey: (index) => lines[index]?.id ?? index,
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: measure again when the row height changes
  useEffect(() => virtual.measure(), [isPhone])
  return { scroller, virtual }
}

/** The commands of the grid's keys. */
interface GridMoves {
  step: (by: 1 | -1) => void
  toFirst: () => void
  toLast: () => void
  open: () => void
  pin: () => void
  leave: () => void
  /** Null if the user may not close alerts. */
  change: { close: () => void; select: () => void } | null
}

const useAlertKeys = ({ step, toFirst, toLast, open, pin, leave, change }: GridMoves): void =>
  useKeys([
    { keys: 'j', description: strings.nextAlert, run: () => step(1) },
    { keys: 'k', description: strings.previousAlert, run: () => step(-1) },
    { keys: 'ArrowDown', description: strings.nextAlert, run: () => step(1) },
    { keys: 'ArrowUp', description: strings.previousAlert, run: () => step(-1) },
    { keys: 'Home', description: strings.firstAlert, run: toFirst },
    { keys: 'End', description: strings.lastAlert, run: toLast },
    { keys: 'Enter', description: strings.openAlert, run: open },
    { keys: 'p', description: strings.pinOrUnpin, run: pin },
    ...(change === null
      ? []
      : [
          // It opens a dialog: no key changes anything for others.
          { keys: 'c', description: strings.closeAlertKey, run: change.close },
          { keys: 'x', description: strings.selectByKey, run: change.select },
        ]),
    { keys: 'Escape', description: strings.closeOrClear, run: leave },
  ])

/** State of the list of alerts: rows, cursor, keys and actions. */
export const useAlertGrid = ({ list, view, name, read, canDismiss, selection }: AlertGridProps) => {
  const { open } = view.state
  const [cursor, setCursor] = useState<number | null>(null)
  const [pointerInside, setPointerInside] = useState(false)
  const calm = !pointerInside && cursor === null && open === null && (selection?.size ?? 0) === 0
  const rows = useAlertRows({ key: name, read, calm })
  const lines = rows.rows ?? []
  const { scroller, virtual } = useScroll(lines)
  const at = lines.findIndex(({ id }) => id === cursor)
  const current = lines[at]
  const actions = useAlertActions(list)
  const cases = useCases((ids) => {
    rows.drop(ids)
    // The cursor moves to the next alert.
    if (cursor !== null && ids.has(cursor)) setCursor((lines[at + 1] ?? lines[at - 1])?.id ?? null)
    if (open !== null && ids.has(Number(open))) view.set({ open: null }, { replace: true })
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list starts at its top
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 })
    setCursor(null)
  }, [name])

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
  // Without a cursor, keys act on the open alert, which was opened by mouse or by its address.
  const target = () => current ?? lines.find(({ id }) => String(id) === open)
  useAlertKeys({
    step: (by) => moveTo(at === -1 ? (by === 1 ? 0 : lines.length - 1) : at + by),
    toFirst: () => moveTo(0),
    toLast: () => moveTo(lines.length - 1),
    open: () => current !== undefined && show(current.id),
    pin: () => {
      const line = target()
      if (line !== undefined && line.state !== 'closed') actions.pin(line)
    },
    leave: () => {
      if (open !== null) view.set({ open: null })
      else if ((selection?.size ?? 0) > 0) selection?.clear()
      else setCursor(null)
    },
    change: canDismiss
      ? {
          close: () => {
            const line = target()
            if ((selection?.size ?? 0) > 0) cases.close(selection?.rows() ?? [], selection?.clear)
            else if (line !== undefined) cases.close([line])
          },
          select: () => current !== undefined && selection?.toggle(current, at),
        }
      : null,
  })
  return { open, scroller, virtual, rows, lines, current, cursor, setCursor, setPointerInside, actions, cases, show }
}
