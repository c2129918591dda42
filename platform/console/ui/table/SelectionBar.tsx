import { Button } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { type BoxProps, Notice, Row } from '../layout/layout.tsx'
import { tellFailure } from '../tell.ts'
import { strings } from './strings.ts'
import type { Selection } from './useSelection.ts'

interface SelectedProps extends Omit<BoxProps, 'children'> {
  count: string
  more?: ReactNode
  clear: () => void
  children: ReactNode
}

/** Shows how many rows are selected, and the actions for them. Buttons before the actions change the selection. */
export const Selected = ({ count, more, clear, children, ...rest }: SelectedProps) => (
  <Notice as="section" wrap gap={8} num tone="accent" aria-label={strings.selection} {...rest}>
    <strong>{count}</strong>
    {more}
    <Button size="compact-sm" variant="subtle" onClick={clear}>
      {strings.clear}
    </Button>
    <Row as="span" wrap>
      {children}
    </Row>
  </Notice>
)

export interface SelectionBarProps<Item> {
  selection: Selection<Item>
  /** Number of rows that match the filters. */
  filtered: number | null
  /** Actions for the selected rows. */
  children: ReactNode
}

/** Shows the number of selected rows and the actions for them. */
export const SelectionBar = <Item,>({ selection, filtered, children }: SelectionBarProps<Item>) => {
  const [busy, setBusy] = useState(false)
  if (selection.size === 0) return null
  const { selectable } = selection
  return (
    <Selected
      count={(selection.isEverything ? strings.allSelected : strings.selected)({ count: selection.size })}
      clear={selection.clear}
      more={
        selection.size < selectable ? (
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
        ) : null
      }
    >
      {children}
    </Selected>
  )
}
