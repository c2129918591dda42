import type { ReactNode } from 'react'
import { Icon, type IconName } from './icons.tsx'
import classes from './states.module.css'

export interface EmptyStateProps {
  icon: IconName
  title: string
  children?: ReactNode
}

/** An empty list: says what appears here and offers the first step. */
export const EmptyState = ({ icon, title, children }: EmptyStateProps) => (
  <div className={classes.empty}>
    <Icon name={icon} size={28} />
    <h2>{title}</h2>
    {children}
  </div>
)
