import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { tellFailure } from '../tell.ts'
import classes from './SelectionBar.module.css'
import type { Selection } from './useSelection.ts'

export interface SelectionBarProps<Row> {
  selection: Selection<Row>
  /** Rows that the filters leave. */
  filtered: number | null
  /** What can be done with the selected rows. */
  children: ReactNode
}

/** How many rows are selected, and what can be done with them. */
export const SelectionBar = <Row,>({ selection, filtered, children }: SelectionBarProps<Row>) => {
  const [busy, setBusy] = useState(false)
  if (selection.size === 0) return null
  const { selectable } = selection
  return (
    <section className={classes.bar} aria-label="Selection">
      <strong>
        {selection.isEverything
          ? `All ${selection.size.toLocaleString('en')} that match`
          : `${selection.size.toLocaleString('en')} selected`}
      </strong>
      {selection.size < selectable ? (
        <Button
          size="compact-sm"
          variant="subtle"
          loading={busy}
          onClick={() => {
            setBusy(true)
            void selection
              .selectAll()
              .catch(tellFailure)
              .finally(() => setBusy(false))
          }}
        >
          Select {(filtered ?? 0) > selectable ? 'the first' : 'all'} {selectable.toLocaleString('en')}
        </Button>
      ) : null}
      <Button size="compact-sm" variant="subtle" onClick={selection.clear}>
        Clear
      </Button>
      <span className={classes.actions}>{children}</span>
    </section>
  )
}
