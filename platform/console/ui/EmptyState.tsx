import type { ReactNode } from 'react'
import { Icon, type IconName } from './icons.tsx'
import classes from './states.module.css'

export interface EmptyStateProps {
  icon: IconName
  title: string
  /** The state is the whole page, and its title the page's heading. */
  isPage?: boolean
  children?: ReactNode
}

/** An empty list: says what appears here and offers the first step. */
export const EmptyState = ({ icon, title, isPage = false, children }: EmptyStateProps) => (
  <div className={classes.empty}>
    <Icon name={icon} size={28} />
    {isPage ? <h1>{title}</h1> : <h2>{title}</h2>}
    {children}
  </div>
)
