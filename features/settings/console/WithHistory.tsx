import { Tabs } from '@mantine/core'
import { useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { HistoryList } from './HistoryList.tsx'
import { strings } from './strings.ts'
import { useHistorySearch } from './useHistorySearch.ts'

/** Shows a page of settings and its history as tabs. Entered values stay while the history is open. */
export const WithHistory = ({ prefix, children }: { prefix: string; children: ReactNode }) => {
  const navigate = useNavigate()
  const { tab } = useHistorySearch()
  const isHistory = tab === 'history'
  return (
    <Tabs
      value={isHistory ? 'history' : 'settings'}
      onChange={(value) =>
        void navigate({ to: '.', search: value === 'history' ? { tab: 'history' } : {}, replace: true })
      }
    >
      <Tabs.List mb="lg">
        <Tabs.Tab value="settings">{strings.settings}</Tabs.Tab>
        <Tabs.Tab value="history">{strings.history}</Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="settings">{children}</Tabs.Panel>
      <Tabs.Panel value="history">{isHistory ? <HistoryList prefix={prefix} /> : null}</Tabs.Panel>
    </Tabs>
  )
}
