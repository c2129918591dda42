import { Tabs } from '@mantine/core'
import { useNavigate, useSearch } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { HistoryList } from './HistoryList.tsx'
import classes from './settings.module.css'

export interface WithHistoryProps {
  /** Beginning of the names of the items that the history is about. */
  prefix: string
  /** A tab between the two. */
  more?: { tab: string; title: string; content: () => ReactNode } | undefined
  children: ReactNode
}

/** A page of settings and its history, side by side as tabs; what is entered stays while another tab is looked at. */
export const WithHistory = ({ prefix, more, children }: WithHistoryProps) => {
  const navigate = useNavigate()
  const { tab } = useSearch({ strict: false }) as { tab?: string }
  const value = tab === 'history' || (more !== undefined && tab === more.tab) ? tab : 'settings'
  return (
    <Tabs
      value={value}
      onChange={(next) =>
        void navigate({ to: '.', search: (next === 'settings' ? {} : { tab: next }) as never, replace: true })
      }
    >
      <Tabs.List className={classes.tabs}>
        <Tabs.Tab value="settings">Settings</Tabs.Tab>
        {more === undefined ? null : <Tabs.Tab value={more.tab}>{more.title}</Tabs.Tab>}
        <Tabs.Tab value="history">History</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="settings">{children}</Tabs.Panel>
      {more === undefined ? null : (
        <Tabs.Panel value={more.tab}>{value === more.tab ? more.content() : null}</Tabs.Panel>
      )}
      <Tabs.Panel value="history">{value === 'history' ? <HistoryList prefix={prefix} /> : null}</Tabs.Panel>
    </Tabs>
  )
}
