import { Button } from '@mantine/core'
import type { ReactNode } from 'react'
import { Note, StickyFoot } from '../layout/layout.tsx'
import { pageWords as strings } from '../words.ts'

export interface SaveBarProps {
  /** Result of the last attempt to save, or what is unsaved. */
  status: string
  /** Something to confirm before all else. */
  before?: ReactNode
  menu: ReactNode
  /** Id of the form that is sent. */
  formId: string
  busy: boolean
  isDirty: boolean
  /** The changes wait for a second approver. */
  isStored?: boolean
  discard: () => void
}

/** The footer of a form on a page: status, menu, Discard and Save. It stays visible while the form scrolls. */
export const SaveBar = ({ status, before, menu, formId, busy, isDirty, isStored = false, discard }: SaveBarProps) => (
  <StickyFoot justify="end" wrap>
    {before}
    <Note grow role="status">
      {status}
    </Note>
    {menu}
    {isDirty ? (
      <Button variant="default" onClick={discard}>
        {strings.discard}
      </Button>
    ) : null}
    {isStored ? null : (
      <Button type="submit" form={formId} loading={busy}>
        {strings.save}
      </Button>
    )}
  </StickyFoot>
)
