import type { ReactNode } from 'react'
import { Page, PageHead, Quiet, Row } from '../layout/layout.tsx'
import classes from './ListFrame.module.css'
import { strings } from './strings.ts'

export interface ListFrameProps {
  title: string
  counts: { total: number; filtered: number } | null
  /** Actions at the right of the title. */
  actions?: ReactNode
  filters: ReactNode
  table: ReactNode
  /** The selection bar. */
  selection?: ReactNode
  /** The drawer of the open row. */
  drawer?: ReactNode
}

const number = (value: number) => value.toLocaleString('en')

/** The frame of every list: title with counts, filters, table, selection, drawer. */
export const ListFrame = ({ title, counts, actions, filters, table, selection, drawer }: ListFrameProps) => (
  <Page gap={10} className={classes.frame}>
    <PageHead as="div">
      <h1>{title}</h1>
      <Quiet small num aria-live="polite">
        {counts === null
          ? ''
          : counts.filtered === counts.total
            ? number(counts.total)
            : strings.filteredOfTotal({ filtered: counts.filtered, total: counts.total })}
      </Quiet>
      <Row end wrap>
        {actions}
      </Row>
    </PageHead>
    {filters}
    <div className={classes.body}>
      {table}
      {drawer}
    </div>
    {selection}
  </Page>
)
