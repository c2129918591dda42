import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { tellFailure } from '../tell.ts'
import classes from './SelectionBar.module.css'
import { strings } from './strings.ts'
import type { Selection } from './useSelection.ts'

export interface SelectionBarProps<Row> {
  selection: Selection<Row>
  /** Number of rows that match the filters. */
  filtered: number | null
  /** Actions for the selected rows. */
  children: ReactNode
}

/** Shows the number of selected rows and the actions for them. */
export const SelectionBar = <Row,>({ selection, filtered, children }: SelectionBarProps<Row>) => {
  const [busy, setBusy] = useState(false)
  if (selection.size === 0) return null
  const { selectable } = selection
  return (
    <section className={classes.bar} aria-label={strings.selection}>
      <strong>
        {selection.isEverything
          ? strings.allSelected({ count: selection.size })
          : strings.selected({ count: selection.size })}
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
          {((filtered ?? 0) > selectable ? strings.selectFirst : strings.selectAll)({ count: selectable })}
        </Button>
      ) : null}
      <Button size="compact-sm" variant="subtle" onClick={selection.clear}>
        {strings.clear}
      </Button>
      <span className={classes.actions}>{children}</span>
    </section>
  )
}
