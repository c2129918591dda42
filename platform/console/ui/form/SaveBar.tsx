import type { ReactNode } from 'react'
import { Note, Row } from '../layout/layout.tsx'
import classes from './form.module.css'

export interface SaveBarProps {
  /** Result of the last attempt to save, or what is unsaved. */
  status: string
  /** Something to confirm before all else. */
  before?: ReactNode
  /** Menu and buttons. */
  children: ReactNode
}

/** The foot of a form on a page. It stays in sight while the form scrolls. */
export const SaveBar = ({ status, before, children }: SaveBarProps) => (
  <Row justify="end" className={classes.saveBar} wrap>
    {before}
    <Note grow role="status">
      {status}
    </Note>
    {children}
  </Row>
)
