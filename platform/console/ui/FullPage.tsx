import { VisuallyHidden } from '@mantine/core'
import type { ReactNode } from 'react'
import classes from './FullPage.module.css'
import { strings } from './strings.ts'

export interface FullPageProps {
  /** The page's heading for screen readers. The visible heading is part of the content. */
  title: string
  back: ReactNode
  children: ReactNode
}

/** The full page of an item, with a link back to its list. */
export const FullPage = ({ title, back, children }: FullPageProps) => (
  <div className={classes.page}>
    <VisuallyHidden component="h1">{title}</VisuallyHidden>
    <nav className={classes.back} aria-label={strings.back}>
      ← {back}
    </nav>
    <div className={classes.body}>{children}</div>
  </div>
)
