import { Group } from '@mantine/core'
import type { ReactNode } from 'react'
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
  <Group justify="flex-end" gap="sm" className={classes.saveBar}>
    {before}
    <p className={classes.status} role="status">
      {status}
    </p>
    {children}
  </Group>
)
