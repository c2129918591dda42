import { identityConfirmedPage } from '@portcullis/contract'
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from '@tanstack/react-router'
import { parseSearchText, searchText } from '../lib/view-state.ts'
import { code } from '../ui/code.ts'
import { Gate } from './Gate.tsx'
import { NotFound } from './NotFound.tsx'
import { PendingPage } from './PendingPage.tsx'
import { RouteFailure } from './RouteFailure.tsx'

const root = createRootRoute({ component: Outlet, notFoundComponent: NotFound, errorComponent: RouteFailure })

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  component: lazyRouteComponent(() => code.load(() => import('../features/sign-in/SignInPage.tsx')), 'SignInPage'),
})
const setPassword = createRoute({
  getParentRoute: () => root,
  path: '/set-password',
  component: lazyRouteComponent(
    () => code.load(() => import('../features/sign-in/SetPasswordPage.tsx')),
    'SetPasswordPage',
  ),
})

const identityConfirmed = createRoute({
  getParentRoute: () => root,
  path: identityConfirmedPage,
  component: lazyRouteComponent(
    () => code.load(() => import('../features/sign-in/IdentityConfirmedPage.tsx')),
    'IdentityConfirmedPage',
  ),
})

/** Everything that needs a session stands behind the gate, inside the frame. */
const inside = createRoute({ getParentRoute: () => root, id: 'inside', component: Gate })

const page = (path: string, load: () => Promise<Record<string, unknown>>, name: string) =>
  createRoute({
    getParentRoute: () => inside,
    path,
    component: lazyRouteComponent((() => code.load(load)) as never, name as never) as never,
    errorComponent: RouteFailure,
  })

const settings = createRoute({
  getParentRoute: () => inside,
  path: '/settings',
  component: lazyRouteComponent(() => code.load(() => import('./SettingsFrame.tsx')), 'SettingsFrame'),
})
const settingsPage = (path: string, load: () => Promise<Record<string, unknown>>, name: string) =>
  createRoute({
    getParentRoute: () => settings,
    path,
    component: lazyRouteComponent((() => code.load(load)) as never, name as never) as never,
    errorComponent: RouteFailure,
  })
const settingsStart = createRoute({
  getParentRoute: () => settings,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/settings/$', params: { _splat: 'profile' }, replace: true } as never)
  },
})

const policy = createRoute({
  getParentRoute: () => inside,
  path: '/policy',
  component: lazyRouteComponent(() => code.load(() => import('./PolicyFrame.tsx')), 'PolicyFrame'),
})
const policyPage = (path: string, load: () => Promise<Record<string, unknown>>, name: string) =>
  createRoute({
    getParentRoute: () => policy,
    path,
    component: lazyRouteComponent((() => code.load(load)) as never, name as never) as never,
    errorComponent: RouteFailure,
  })

const tree = root.addChildren([
  signIn,
  setPassword,
  identityConfirmed,
  inside.addChildren([
    page('/', () => import('./OverviewScreen.tsx'), 'OverviewScreen'),
    // In the frame, so that whoever mistyped an address has his way back.
    createRoute({ getParentRoute: () => inside, path: '$', component: NotFound }),
    page('/agents', () => import('./AgentsScreen.tsx'), 'AgentsScreen'),
    page('/agents/$agentId', () => import('../features/agents/AgentPage.tsx'), 'AgentPage'),
    page('/agentless', () => import('../features/agentless/AgentlessPage.tsx'), 'AgentlessPage'),
    page('/quarantines', () => import('../features/nac/QuarantinesPage.tsx'), 'QuarantinesPage'),
    page('/peripherals', () => import('../features/peripherals/PeripheralsPage.tsx'), 'PeripheralsPage'),
    page('/peripherals/models', () => import('../features/peripherals/ModelsPage.tsx'), 'ModelsPage'),
    page('/peripherals/$uuid', () => import('../features/peripherals/PeripheralPage.tsx'), 'PeripheralPage'),
    page('/insights', () => import('../features/insights/InsightsPage.tsx'), 'InsightsPage'),
    page('/rollouts', () => import('../features/rollouts/RolloutsPage.tsx'), 'RolloutsPage'),
    page('/rollouts/new', () => import('../features/rollouts/NewRolloutPage.tsx'), 'NewRolloutPage'),
    page('/rollouts/$id', () => import('../features/rollouts/RolloutPage.tsx'), 'RolloutPage'),
    page('/commands', () => import('../features/commands/CommandsPage.tsx'), 'CommandsPage'),
    page('/approvals', () => import('../features/approvals/ApprovalsPage.tsx'), 'ApprovalsPage'),
    policy.addChildren([
      policyPage('/', () => import('../features/policy/RulesPage.tsx'), 'RulesPage'),
      policyPage('/grants', () => import('../features/policy/GrantsPage.tsx'), 'GrantsPage'),
      policyPage('/simulator', () => import('../features/policy/SimulatorPage.tsx'), 'SimulatorPage'),
      policyPage('/history', () => import('../features/policy/HistoryPage.tsx'), 'HistoryPage'),
      policyPage('/settings', () => import('../features/policy/PolicySettingsPage.tsx'), 'PolicySettingsPage'),
      policyPage('/requests', () => import('../features/requests/RequestsPage.tsx'), 'RequestsPage'),
    ]),
    page('/reports', () => import('../features/reports/ReportsPage.tsx'), 'ReportsPage'),
    page('/reports/history', () => import('../features/reports/HistoryPage.tsx'), 'HistoryPage'),
    page('/reports/$id', () => import('../features/reports/ReportEditorPage.tsx'), 'ReportEditorPage'),
    page('/events', () => import('../features/events/EventsPage.tsx'), 'EventsPage'),
    page('/events/$eventId', () => import('../features/events/EventPage.tsx'), 'EventPage'),
    page('/notices', () => import('../features/notices/NoticesPage.tsx'), 'NoticesPage'),
    settings.addChildren([
      settingsStart,
      settingsPage('/profile', () => import('../features/accounts/ProfilePage.tsx'), 'ProfilePage'),
      settingsPage('/sessions', () => import('../features/accounts/SessionsPage.tsx'), 'SessionsPage'),
      settingsPage('/tokens', () => import('../features/accounts/ApiTokensPage.tsx'), 'ApiTokensPage'),
      settingsPage('/accounts', () => import('../features/accounts/AccountsPage.tsx'), 'AccountsPage'),
      settingsPage('/enrolment', () => import('../features/enrolment/EnrolmentPage.tsx'), 'EnrolmentPage'),
      settingsPage('/tags', () => import('../features/tags/TagsPage.tsx'), 'TagsPage'),
      settingsPage('/packages', () => import('../features/packages/PackagesPage.tsx'), 'PackagesPage'),
      settingsPage('/knowledge', () => import('../features/knowledge/KnowledgePage.tsx'), 'KnowledgePage'),
      settingsPage('/assets', () => import('../features/assets/AssetStreamPage.tsx'), 'AssetStreamPage'),
      settingsPage('/health', () => import('../features/health/HealthPage.tsx'), 'HealthPage'),
      settingsPage('/health/history', () => import('../features/health/HealthHistoryPage.tsx'), 'HealthHistoryPage'),
      settingsPage('/audit', () => import('../features/audit/AuditPage.tsx'), 'AuditPage'),
      settingsPage('/deliveries', () => import('../features/deliveries/DeliveriesPage.tsx'), 'DeliveriesPage'),
      settingsPage('/notifications', () => import('../features/notifications/GroupsPage.tsx'), 'GroupsPage'),
      settingsPage('/notifications/$group', () => import('../features/notifications/GroupPage.tsx'), 'GroupPage'),
      settingsPage('/$page', () => import('../features/settings/SettingPage.tsx'), 'SettingPage'),
    ]),
  ]),
])

/** All addresses of the console. Search parameters are flat text, so that an address reads well and pastes well. */
export const createAppRouter = () =>
  createRouter({
    routeTree: tree,
    parseSearch: parseSearchText,
    stringifySearch: searchText,
    defaultPreload: 'intent',
    defaultPendingMs: 300,
    defaultPendingMinMs: 0,
    defaultPendingComponent: PendingPage,
    scrollRestoration: false,
  })
