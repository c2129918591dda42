import type { ReactNode } from 'react'
import { Note, StickyFoot } from '../layout/layout.tsx'

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
  <StickyFoot justify="end" wrap>
    {before}
    <Note grow role="status">
      {status}
    </Note>
    {children}
  </StickyFoot>
)
