import type { ReactNode } from 'react'
import { Note, Page, PageHead, Row } from './layout/layout.tsx'

export interface SettingsPageProps {
  title: string
  /** Purpose of the page, in one sentence. */
  intro?: ReactNode
  actions?: ReactNode
  children: ReactNode
}

export const SettingsPage = ({ title, intro, actions, children }: SettingsPageProps) => (
  <Page fixed max={1040} style={{ width: '100%' }}>
    <PageHead>
      <h1>{title}</h1>
      <Row wrap end>
        {actions}
      </Row>
    </PageHead>
    {intro === undefined ? null : <Note max={720}>{intro}</Note>}
    {children}
  </Page>
)
