import type { ReactNode } from 'react'
import { Note, Row } from './layout/layout.tsx'
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
    <Row as="header" wrap gap="8px 16px">
      <h1>{title}</h1>
      <div className={classes.actions}>{actions}</div>
    </Row>
    {intro === undefined ? null : <Note max={720}>{intro}</Note>}
    {children}
  </div>
)
