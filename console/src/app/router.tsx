import { identityConfirmedPage } from '@portcullis/contract'
import { createRouter, lazyRouteComponent, Outlet, type RouteIds } from '@tanstack/react-router'
import type { ComponentType } from 'react'
import { parseSearchText, searchText } from '../lib/view-state.ts'
import { code } from '../ui/code.ts'
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
  '/sign-in': async () => (await import('../features/sign-in/SignInPage.tsx')).SignInPage,
  '/set-password': async () => (await import('../features/sign-in/SetPasswordPage.tsx')).SetPasswordPage,
  [identityConfirmedPage]: async () =>
    (await import('../features/sign-in/IdentityConfirmedPage.tsx')).IdentityConfirmedPage,
  '/inside/policy': async () => (await import('./PolicyFrame.tsx')).PolicyFrame,
  '/inside/settings': async () => (await import('./SettingsFrame.tsx')).SettingsFrame,
  '/inside/': async () => (await import('./OverviewScreen.tsx')).OverviewScreen,
  '/inside/agents': async () => (await import('./AgentsScreen.tsx')).AgentsScreen,
  '/inside/agents/$agentId': async () => (await import('../features/agents/AgentPage.tsx')).AgentPage,
  '/inside/agentless': async () => (await import('../features/agentless/AgentlessPage.tsx')).AgentlessPage,
  '/inside/quarantines': async () => (await import('../features/nac/QuarantinesPage.tsx')).QuarantinesPage,
  '/inside/peripherals': async () => (await import('../features/peripherals/PeripheralsPage.tsx')).PeripheralsPage,
  '/inside/peripherals/models': async () => (await import('../features/peripherals/ModelsPage.tsx')).ModelsPage,
  '/inside/peripherals/$uuid': async () => (await import('../features/peripherals/PeripheralPage.tsx')).PeripheralPage,
  '/inside/insights': async () => (await import('../features/insights/InsightsPage.tsx')).InsightsPage,
  '/inside/rollouts': async () => (await import('../features/rollouts/RolloutsPage.tsx')).RolloutsPage,
  '/inside/rollouts/new': async () => (await import('../features/rollouts/NewRolloutPage.tsx')).NewRolloutPage,
  '/inside/rollouts/$id': async () => (await import('../features/rollouts/RolloutPage.tsx')).RolloutPage,
  '/inside/commands': async () => (await import('../features/commands/CommandsPage.tsx')).CommandsPage,
  '/inside/approvals': async () => (await import('../features/approvals/ApprovalsPage.tsx')).ApprovalsPage,
  '/inside/policy/': async () => (await import('../features/policy/RulesPage.tsx')).RulesPage,
  '/inside/policy/grants': async () => (await import('../features/policy/GrantsPage.tsx')).GrantsPage,
  '/inside/policy/simulator': async () => (await import('../features/policy/SimulatorPage.tsx')).SimulatorPage,
  '/inside/policy/history': async () => (await import('../features/policy/HistoryPage.tsx')).HistoryPage,
  '/inside/policy/settings': async () =>
    (await import('../features/settings/PolicySettingsPage.tsx')).PolicySettingsPage,
  '/inside/policy/requests': async () => (await import('../features/requests/RequestsPage.tsx')).RequestsPage,
  '/inside/reports': async () => (await import('../features/reports/ReportsPage.tsx')).ReportsPage,
  '/inside/reports/history': async () => (await import('../features/reports/HistoryPage.tsx')).HistoryPage,
  '/inside/reports/$id': async () => (await import('../features/reports/ReportEditorPage.tsx')).ReportEditorPage,
  '/inside/events': async () => (await import('../features/events/EventsPage.tsx')).EventsPage,
  '/inside/events/$eventId': async () => (await import('../features/events/EventPage.tsx')).EventPage,
  '/inside/notices': async () => (await import('../features/notices/NoticesPage.tsx')).NoticesPage,
  '/inside/settings/profile': async () => (await import('../features/accounts/ProfilePage.tsx')).ProfilePage,
  '/inside/settings/sessions': async () => (await import('../features/accounts/SessionsPage.tsx')).SessionsPage,
  '/inside/settings/tokens': async () => (await import('../features/accounts/ApiTokensPage.tsx')).ApiTokensPage,
  '/inside/settings/accounts': async () => (await import('../features/accounts/AccountsPage.tsx')).AccountsPage,
  '/inside/settings/enrolment': async () => (await import('../features/enrolment/EnrolmentPage.tsx')).EnrolmentPage,
  '/inside/settings/tags': async () => (await import('../features/tags/TagsPage.tsx')).TagsPage,
  '/inside/settings/packages': async () => (await import('../features/packages/PackagesPage.tsx')).PackagesPage,
  '/inside/settings/knowledge': async () => (await import('../features/knowledge/KnowledgePage.tsx')).KnowledgePage,
  '/inside/settings/assets': async () => (await import('../features/assets/AssetStreamPage.tsx')).AssetStreamPage,
  '/inside/settings/health': async () => (await import('../features/health/HealthPage.tsx')).HealthPage,
  '/inside/settings/health/history': async () =>
    (await import('../features/health/HealthHistoryPage.tsx')).HealthHistoryPage,
  '/inside/settings/audit': async () => (await import('../features/audit/AuditPage.tsx')).AuditPage,
  '/inside/settings/deliveries': async () => (await import('../features/deliveries/DeliveriesPage.tsx')).DeliveriesPage,
  '/inside/settings/notifications': async () => (await import('../features/notifications/GroupsPage.tsx')).GroupsPage,
  '/inside/settings/notifications/$group': async () =>
    (await import('../features/notifications/GroupPage.tsx')).GroupPage,
  '/inside/settings/$page': async () => (await import('../features/settings/SettingPage.tsx')).SettingPage,
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
