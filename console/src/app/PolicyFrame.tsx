import { useServices } from '@portcullis/platform/console/lib/services.tsx'
import { Stack } from '@portcullis/platform/console/ui/layout/layout.tsx'
import { ViewTabs } from '@portcullis/platform/console/ui/ViewTabs.tsx'
import { Outlet } from '@tanstack/react-router'
import { strings } from './strings.ts'

const views = [
  { to: '/policy', title: strings.rules },
  { to: '/policy/grants', title: strings.grants },
  { to: '/policy/simulator', title: strings.simulator },
  { to: '/policy/tests', title: strings.tests },
  { to: '/policy/history', title: strings.history },
  { to: '/policy/requests', title: strings.changeRequests },
  { to: '/policy/settings', title: strings.settings },
] as const

/** The policy: tabs above, the open page below. */
export const PolicyFrame = () => {
  const { session } = useServices()
  return (
    <Stack grow gap={0}>
      <ViewTabs
        label={strings.policy}
        views={views.filter(({ to }) => to !== '/policy/settings' || session.may('config:read'))}
      />
      <Outlet />
    </Stack>
  )
}
