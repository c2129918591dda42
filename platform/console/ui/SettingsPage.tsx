import type { ReactNode } from 'react'
import classes from './SettingsPage.module.css'

export interface SettingsPageProps {
  title: string
  /** Purpose of the page, in one sentence. */
  intro?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

export const SettingsPage = ({ title, intro, actions, children }: SettingsPageProps) => (
  <div className={classes.page}>
    <header className={classes.head}>
      <h1>{title}</h1>
      <div className={classes.actions}>{actions}</div>
    </header>
    {intro === undefined ? null : <p className={classes.intro}>{intro}</p>}
    {children}
  </div>
)
