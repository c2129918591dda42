import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { tellFailure } from '../tell.ts'
import classes from './SelectionBar.module.css'
import { strings } from './strings.ts'
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
    <section className={classes.bar} aria-label={strings.selection}>
      <strong>
        {selection.isEverything
          ? strings.allSizeThatMatch({ size: selection.size })
          : strings.sizeSelected({ size: selection.size })}
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
          {strings.selectValueSelectable({ value: (filtered ?? 0) > selectable ? 'the first' : 'all', selectable })}
        </Button>
      ) : null}
      <Button size="compact-sm" variant="subtle" onClick={selection.clear}>
        {strings.clear}
      </Button>
      <span className={classes.actions}>{children}</span>
    </section>
  )
}
