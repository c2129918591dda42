import { identityConfirmedPage } from '@portcullis/contract'
import { parseSearchText, searchText } from '@portcullis/platform/console/lib/view-state.ts'
import { code } from '@portcullis/platform/console/ui/code.ts'
import { createRouter, lazyRouteComponent, Outlet, type RouteIds } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { Gate } from './Gate.tsx'
import { NotFound } from './NotFound.tsx'
import { PendingPage } from './PendingPage.tsx'
import { RouteFailure } from './RouteFailure.tsx'
import { routeTree } from './routes.ts'

type PageId = Exclude<
  RouteIds<typeof routeTree>,
  '__root__' | '/inside' | '/inside/$' | '/inside/settings/' | '/inside/hosts' | '/inside/devices' | '/inside/alerts'
>

/** The page of each address, loaded on the first visit. */
const pages: Readonly<Record<PageId, () => Promise<ComponentType>>> = {
  '/sign-in': async () => (await import('@portcullis/features/identity/console/sign-in/SignInPage.tsx')).SignInPage,
  '/set-password': async () =>
    (await import('@portcullis/features/identity/console/sign-in/SetPasswordPage.tsx')).SetPasswordPage,
  [identityConfirmedPage]: async () =>
    (await import('@portcullis/features/identity/console/sign-in/IdentityConfirmedPage.tsx')).IdentityConfirmedPage,
  '/inside/policy': async () => (await import('./PolicyFrame.tsx')).PolicyFrame,
  '/inside/settings': async () => (await import('./SettingsFrame.tsx')).SettingsFrame,
  '/inside/': async () => (await import('./OverviewScreen.tsx')).OverviewScreen,
  '/inside/agents': async () => (await import('./AgentsScreen.tsx')).AgentsScreen,
  '/inside/agents/$agentId': async () => (await import('@portcullis/features/hosts/console/AgentPage.tsx')).AgentPage,
  '/inside/agentless': async () =>
    (await import('@portcullis/features/agentless/console/AgentlessPage.tsx')).AgentlessPage,
  '/inside/quarantines': async () =>
    (await import('@portcullis/features/quarantine/console/QuarantinesPage.tsx')).QuarantinesPage,
  '/inside/peripherals': async () =>
    (await import('@portcullis/features/devices/console/PeripheralsPage.tsx')).PeripheralsPage,
  '/inside/peripherals/models': async () =>
    (await import('@portcullis/features/devices/console/ModelsPage.tsx')).ModelsPage,
  '/inside/peripherals/$uuid': async () =>
    (await import('@portcullis/features/devices/console/PeripheralPage.tsx')).PeripheralPage,
  '/inside/insights': async () =>
    (await import('@portcullis/features/devices/console/insights/InsightsPage.tsx')).InsightsPage,
  '/inside/rollouts': async () => (await import('@portcullis/features/rollouts/console/RolloutsPage.tsx')).RolloutsPage,
  '/inside/rollouts/new': async () =>
    (await import('@portcullis/features/rollouts/console/NewRolloutPage.tsx')).NewRolloutPage,
  '/inside/rollouts/$id': async () =>
    (await import('@portcullis/features/rollouts/console/RolloutPage.tsx')).RolloutPage,
  '/inside/commands': async () => (await import('@portcullis/features/commands/console/CommandsPage.tsx')).CommandsPage,
  '/inside/approvals': async () =>
    (await import('@portcullis/features/policy/console/approvals/ApprovalsPage.tsx')).ApprovalsPage,
  '/inside/policy/': async () => (await import('@portcullis/features/policy/console/RulesPage.tsx')).RulesPage,
  '/inside/policy/grants': async () => (await import('@portcullis/features/policy/console/GrantsPage.tsx')).GrantsPage,
  '/inside/policy/simulator': async () =>
    (await import('@portcullis/features/policy/console/SimulatorPage.tsx')).SimulatorPage,
  '/inside/policy/history': async () =>
    (await import('@portcullis/features/policy/console/HistoryPage.tsx')).HistoryPage,
  '/inside/policy/settings': async () =>
    (await import('@portcullis/features/settings/console/PolicySettingsPage.tsx')).PolicySettingsPage,
  '/inside/policy/requests': async () =>
    (await import('@portcullis/features/change-requests/console/RequestsPage.tsx')).RequestsPage,
  '/inside/reports': async () => (await import('@portcullis/features/reports/console/ReportsPage.tsx')).ReportsPage,
  '/inside/reports/history': async () =>
    (await import('@portcullis/features/reports/console/HistoryPage.tsx')).HistoryPage,
  '/inside/reports/$id': async () =>
    (await import('@portcullis/features/reports/console/ReportEditorPage.tsx')).ReportEditorPage,
  '/inside/events': async () => (await import('@portcullis/features/events/console/EventsPage.tsx')).EventsPage,
  '/inside/events/$eventId': async () => (await import('@portcullis/features/events/console/EventPage.tsx')).EventPage,
  '/inside/notices': async () =>
    (await import('@portcullis/features/alerts/console/inbox/NoticesPage.tsx')).NoticesPage,
  '/inside/settings/profile': async () =>
    (await import('@portcullis/features/identity/console/accounts/ProfilePage.tsx')).ProfilePage,
  '/inside/settings/sessions': async () =>
    (await import('@portcullis/features/identity/console/accounts/SessionsPage.tsx')).SessionsPage,
  '/inside/settings/tokens': async () =>
    (await import('@portcullis/features/identity/console/accounts/ApiTokensPage.tsx')).ApiTokensPage,
  '/inside/settings/accounts': async () =>
    (await import('@portcullis/features/identity/console/accounts/AccountsPage.tsx')).AccountsPage,
  '/inside/settings/enrolment': async () =>
    (await import('@portcullis/features/agents/console/EnrolmentPage.tsx')).EnrolmentPage,
  '/inside/settings/tags': async () => (await import('@portcullis/features/tags/console/TagsPage.tsx')).TagsPage,
  '/inside/settings/packages': async () =>
    (await import('@portcullis/features/builds/console/PackagesPage.tsx')).PackagesPage,
  '/inside/settings/knowledge': async () =>
    (await import('@portcullis/features/knowledge/console/KnowledgePage.tsx')).KnowledgePage,
  '/inside/settings/assets': async () =>
    (await import('@portcullis/features/assets/console/AssetStreamPage.tsx')).AssetStreamPage,
  '/inside/settings/health': async () =>
    (await import('@portcullis/features/health/console/HealthPage.tsx')).HealthPage,
  '/inside/settings/health/history': async () =>
    (await import('@portcullis/features/health/console/HealthHistoryPage.tsx')).HealthHistoryPage,
  '/inside/settings/audit': async () => (await import('@portcullis/features/audit/console/AuditPage.tsx')).AuditPage,
  '/inside/settings/deliveries': async () =>
    (await import('@portcullis/features/deliveries/console/DeliveriesPage.tsx')).DeliveriesPage,
  '/inside/settings/notifications': async () =>
    (await import('@portcullis/features/alerts/console/groups/GroupsPage.tsx')).GroupsPage,
  '/inside/settings/notifications/$group': async () =>
    (await import('@portcullis/features/alerts/console/groups/GroupPage.tsx')).GroupPage,
  '/inside/settings/$page': async () =>
    (await import('@portcullis/features/settings/console/SettingPage.tsx')).SettingPage,
}

/** Pages that need no session. */
const publicPages: readonly string[] = ['/sign-in', '/set-password', identityConfirmedPage]

/** Returns the address of the sign-in page that leads back to an address, or null for a page that needs no session. */
export const signInFor = (pathname: string, search: string): string | null => {
  if (publicPages.includes(pathname)) return null
  return pathname === '/' && search === '' ? '/sign-in' : `/sign-in?${new URLSearchParams({ next: pathname + search })}`
}

/** All addresses of the console. Search parameters are flat text, so that addresses are short and readable. */
export const createAppRouter = () => {
  const router = createRouter({
    routeTree,
    parseSearch: parseSearchText,
    stringifySearch: searchText,
    defaultPreload: 'intent',
    defaultPendingMs: 300,
    defaultPendingMinMs: 0,
    defaultPendingComponent: PendingPage,
    scrollRestoration: false,
  })
  const { routesById } = router
  routesById.__root__.update({ component: Outlet, notFoundComponent: NotFound, errorComponent: RouteFailure })
  routesById['/inside'].update({ component: Gate })
  routesById['/inside/$'].update({ component: NotFound })
  for (const [id, load] of Object.entries(pages)) {
    const component = lazyRouteComponent(() => code.load(async () => ({ default: await load() })))
    routesById[id as PageId].update({ component, errorComponent: RouteFailure })
  }
  return router
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof createAppRouter>
  }
}
