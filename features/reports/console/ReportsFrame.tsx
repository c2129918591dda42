import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { ViewTabs } from '@portcullis/platform/console/ui/ViewTabs.tsx'
import type { ReactNode } from 'react'
import { strings } from './strings.ts'

const views = [
  { to: '/reports', title: strings.schedules },
  { to: '/reports/history', title: strings.history },
] as const

/** The tabs of reports, with the open one below. */
export const ReportsFrame = ({ children }: { children: ReactNode }) => (
  <Stack grow gap={0}>
    <ViewTabs label={strings.reports} views={views} />
    {children}
  </Stack>
)
