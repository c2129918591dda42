import type {
  agentList,
  auditList,
  connectionStatusList,
  eventList,
  grantList,
  modelList,
  OfferedFilter,
  peripheralList,
  ruleList,
} from '@portcullis/contract'
import { identityConfirmedPage } from '@portcullis/contract'
import type { riskFilters } from '@portcullis/features/alerts/console/inbox/notices.view.ts'
import type { commandFilters } from '@portcullis/features/commands/console/commands.view.tsx'
import type { deliveryFilters } from '@portcullis/features/deliveries/console/deliveries.view.tsx'
import type { changeFilters } from '@portcullis/features/health/console/history.view.tsx'
import type { approvalFilters } from '@portcullis/features/policy/console/approvals/approvals.view.ts'
import type { quarantineFilters } from '@portcullis/features/quarantine/console/quarantines.view.tsx'
import type { runFilters } from '@portcullis/features/reports/console/runs.view.tsx'
import type { ScheduleName } from '@portcullis/platform/console/lib/schedule-address.ts'
import { choiceSearch, listSearch, type NamesOf, textSearch } from '@portcullis/platform/console/lib/search.ts'
import type { DraftName } from '@portcullis/platform/console/ui/policy/rule-draft.ts'
import { createRootRoute, createRoute, redirect } from '@tanstack/react-router'
import type { ComponentType } from 'react'

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** Loads the page on the first visit. Absent: the address leads to another one. */
    page?: () => Page
  }
}

/** Annotated, because pages use the types of the addresses. */
type Page = Promise<ComponentType>

const root = createRootRoute()

/** All routes that need a session. */
const inside = createRoute({ getParentRoute: () => root, id: 'inside' })
const policy = createRoute({
  getParentRoute: () => inside,
  path: '/policy',
  staticData: { page: async (): Page => (await import('./PolicyFrame.tsx')).PolicyFrame },
})
const settings = createRoute({
  getParentRoute: () => inside,
  path: '/settings',
  staticData: { page: async (): Page => (await import('./SettingsFrame.tsx')).SettingsFrame },
})

/** Search parameters of a settings page: one tab for the settings, one for their history. */
const historySearch = textSearch<'tab' | 'from' | 'version'>()

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: textSearch<'next' | 'ended' | 'problem'>(),
  staticData: {
    page: async (): Page => (await import('@portcullis/features/identity/console/sign-in/SignInPage.tsx')).SignInPage,
  },
})
const setPassword = createRoute({
  getParentRoute: () => root,
  path: '/set-password',
  staticData: {
    page: async (): Page =>
      (await import('@portcullis/features/identity/console/sign-in/SetPasswordPage.tsx')).SetPasswordPage,
  },
})
const identityConfirmed = createRoute({
  getParentRoute: () => root,
  path: identityConfirmedPage,
  staticData: {
    page: async (): Page =>
      (await import('@portcullis/features/identity/console/sign-in/IdentityConfirmedPage.tsx')).IdentityConfirmedPage,
  },
})
const overview = createRoute({
  getParentRoute: () => inside,
  path: '/',
  staticData: { page: async (): Page => (await import('./OverviewScreen.tsx')).OverviewScreen },
})
// Inside the frame, so that a mistyped address keeps the navigation.
const unknownPage = createRoute({ getParentRoute: () => inside, path: '$' })
/** Aliases with the terms of the console. The paths of the pages keep the names of the API. */
const hostsAlias = createRoute({
  getParentRoute: () => inside,
  path: '/hosts',
  beforeLoad: () => {
    throw redirect({ to: '/agents', replace: true })
  },
})
const devicesAlias = createRoute({
  getParentRoute: () => inside,
  path: '/devices',
  beforeLoad: () => {
    throw redirect({ to: '/peripherals', replace: true })
  },
})
const alertsAlias = createRoute({
  getParentRoute: () => inside,
  path: '/alerts',
  beforeLoad: () => {
    throw redirect({ to: '/notices', replace: true })
  },
})
const agents = createRoute({
  getParentRoute: () => inside,
  path: '/agents',
  validateSearch: listSearch<OfferedFilter<typeof agentList>>(),
  staticData: { page: async (): Page => (await import('./AgentsScreen.tsx')).AgentsScreen },
})
const agent = createRoute({
  getParentRoute: () => inside,
  path: '/agents/$agentId',
  validateSearch: textSearch<'tab'>(),
  staticData: { page: async (): Page => (await import('@portcullis/features/hosts/console/AgentPage.tsx')).AgentPage },
})
const agentless = createRoute({
  getParentRoute: () => inside,
  path: '/agentless',
  validateSearch: listSearch<OfferedFilter<typeof connectionStatusList>>(),
  staticData: {
    page: async (): Page => (await import('@portcullis/features/agentless/console/AgentlessPage.tsx')).AgentlessPage,
  },
})
const quarantines = createRoute({
  getParentRoute: () => inside,
  path: '/quarantines',
  validateSearch: listSearch<NamesOf<typeof quarantineFilters>>(),
  staticData: {
    page: async (): Page =>
      (await import('@portcullis/features/quarantine/console/QuarantinesPage.tsx')).QuarantinesPage,
  },
})
const peripherals = createRoute({
  getParentRoute: () => inside,
  path: '/peripherals',
  validateSearch: listSearch<OfferedFilter<typeof peripheralList>>(),
  staticData: {
    page: async (): Page => (await import('@portcullis/features/devices/console/PeripheralsPage.tsx')).PeripheralsPage,
  },
})
const models = createRoute({
  getParentRoute: () => inside,
  path: '/peripherals/models',
  validateSearch: listSearch<OfferedFilter<typeof modelList>>(),
  staticData: {
    page: async (): Page => (await import('@portcullis/features/devices/console/ModelsPage.tsx')).ModelsPage,
  },
})
const peripheral = createRoute({
  getParentRoute: () => inside,
  path: '/peripherals/$uuid',
  validateSearch: textSearch<'device'>(),
  staticData: {
    page: async (): Page => (await import('@portcullis/features/devices/console/PeripheralPage.tsx')).PeripheralPage,
  },
})
const insights = createRoute({
  getParentRoute: () => inside,
  path: '/insights',
  validateSearch: listSearch<'vendor'>(),
  staticData: {
    page: async (): Page =>
      (await import('@portcullis/features/devices/console/insights/InsightsPage.tsx')).InsightsPage,
  },
})
const rollouts = createRoute({
  getParentRoute: () => inside,
  path: '/rollouts',
  staticData: {
    page: async (): Page => (await import('@portcullis/features/rollouts/console/RolloutsPage.tsx')).RolloutsPage,
  },
})
const newRollout = createRoute({
  getParentRoute: () => inside,
  path: '/rollouts/new',
  validateSearch: choiceSearch({ kind: ['arm', 'update'] }),
  staticData: {
    page: async (): Page => (await import('@portcullis/features/rollouts/console/NewRolloutPage.tsx')).NewRolloutPage,
  },
})
const rollout = createRoute({
  getParentRoute: () => inside,
  path: '/rollouts/$id',
  validateSearch: listSearch<'ring' | 'state'>(),
  staticData: {
    page: async (): Page => (await import('@portcullis/features/rollouts/console/RolloutPage.tsx')).RolloutPage,
  },
})
const commands = createRoute({
  getParentRoute: () => inside,
  path: '/commands',
  validateSearch: listSearch<NamesOf<typeof commandFilters>>(),
  staticData: {
    page: async (): Page => (await import('@portcullis/features/commands/console/CommandsPage.tsx')).CommandsPage,
  },
})
const approvals = createRoute({
  getParentRoute: () => inside,
  path: '/approvals',
  validateSearch: listSearch<NamesOf<typeof approvalFilters>>(),
  staticData: {
    page: async (): Page =>
      (await import('@portcullis/features/policy/console/approvals/ApprovalsPage.tsx')).ApprovalsPage,
  },
})
const rules = createRoute({
  getParentRoute: () => policy,
  path: '/',
  validateSearch: listSearch<OfferedFilter<typeof ruleList> | DraftName>(),
  staticData: { page: async (): Page => (await import('@portcullis/features/policy/console/RulesPage.tsx')).RulesPage },
})
const grants = createRoute({
  getParentRoute: () => policy,
  path: '/grants',
  validateSearch: listSearch<OfferedFilter<typeof grantList> | DraftName>(),
  staticData: {
    page: async (): Page => (await import('@portcullis/features/policy/console/GrantsPage.tsx')).GrantsPage,
  },
})
const simulator = createRoute({
  getParentRoute: () => policy,
  path: '/simulator',
  validateSearch: listSearch<'days' | 'hashtags' | 'hostUuid' | 'decision'>(),
  staticData: {
    page: async (): Page => (await import('@portcullis/features/policy/console/SimulatorPage.tsx')).SimulatorPage,
  },
})
const policyHistory = createRoute({
  getParentRoute: () => policy,
  path: '/history',
  validateSearch: textSearch<'page' | 'version'>(),
  staticData: {
    page: async (): Page => (await import('@portcullis/features/policy/console/HistoryPage.tsx')).HistoryPage,
  },
})
const policySettings = createRoute({
  getParentRoute: () => policy,
  path: '/settings',
  validateSearch: historySearch,
  staticData: {
    page: async (): Page =>
      (await import('@portcullis/features/settings/console/PolicySettingsPage.tsx')).PolicySettingsPage,
  },
})
const requests = createRoute({
  getParentRoute: () => policy,
  path: '/requests',
  staticData: {
    page: async (): Page =>
      (await import('@portcullis/features/change-requests/console/RequestsPage.tsx')).RequestsPage,
  },
})
const reports = createRoute({
  getParentRoute: () => inside,
  path: '/reports',
  staticData: {
    page: async (): Page => (await import('@portcullis/features/reports/console/ReportsPage.tsx')).ReportsPage,
  },
})
const reportHistory = createRoute({
  getParentRoute: () => inside,
  path: '/reports/history',
  validateSearch: listSearch<NamesOf<typeof runFilters> | 'run'>(),
  staticData: {
    page: async (): Page => (await import('@portcullis/features/reports/console/HistoryPage.tsx')).HistoryPage,
  },
})
const report = createRoute({
  getParentRoute: () => inside,
  path: '/reports/$id',
  validateSearch: textSearch<ScheduleName>(),
  staticData: {
    page: async (): Page =>
      (await import('@portcullis/features/reports/console/ReportEditorPage.tsx')).ReportEditorPage,
  },
})
const events = createRoute({
  getParentRoute: () => inside,
  path: '/events',
  validateSearch: listSearch<OfferedFilter<typeof eventList>>(),
  staticData: {
    page: async (): Page => (await import('@portcullis/features/events/console/EventsPage.tsx')).EventsPage,
  },
})
const event = createRoute({
  getParentRoute: () => inside,
  path: '/events/$eventId',
  staticData: { page: async (): Page => (await import('@portcullis/features/events/console/EventPage.tsx')).EventPage },
})
const notices = createRoute({
  getParentRoute: () => inside,
  path: '/notices',
  validateSearch: listSearch<NamesOf<typeof riskFilters>>(),
  staticData: {
    page: async (): Page => (await import('@portcullis/features/alerts/console/inbox/NoticesPage.tsx')).NoticesPage,
  },
})
const settingsStart = createRoute({
  getParentRoute: () => settings,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/settings/profile', replace: true })
  },
})
const profile = createRoute({
  getParentRoute: () => settings,
  path: '/profile',
  staticData: {
    page: async (): Page =>
      (await import('@portcullis/features/identity/console/accounts/ProfilePage.tsx')).ProfilePage,
  },
})
const sessions = createRoute({
  getParentRoute: () => settings,
  path: '/sessions',
  staticData: {
    page: async (): Page =>
      (await import('@portcullis/features/identity/console/accounts/SessionsPage.tsx')).SessionsPage,
  },
})
const tokens = createRoute({
  getParentRoute: () => settings,
  path: '/tokens',
  staticData: {
    page: async (): Page =>
      (await import('@portcullis/features/identity/console/accounts/ApiTokensPage.tsx')).ApiTokensPage,
  },
})
const accounts = createRoute({
  getParentRoute: () => settings,
  path: '/accounts',
  validateSearch: textSearch<'open'>(),
  staticData: {
    page: async (): Page =>
      (await import('@portcullis/features/identity/console/accounts/AccountsPage.tsx')).AccountsPage,
  },
})
const enrolment = createRoute({
  getParentRoute: () => settings,
  path: '/enrolment',
  staticData: {
    page: async (): Page => (await import('@portcullis/features/agents/console/EnrolmentPage.tsx')).EnrolmentPage,
  },
})
const tags = createRoute({
  getParentRoute: () => settings,
  path: '/tags',
  validateSearch: textSearch<'q'>(),
  staticData: { page: async (): Page => (await import('@portcullis/features/tags/console/TagsPage.tsx')).TagsPage },
})
const packages = createRoute({
  getParentRoute: () => settings,
  path: '/packages',
  staticData: {
    page: async (): Page => (await import('@portcullis/features/builds/console/PackagesPage.tsx')).PackagesPage,
  },
})
const knowledge = createRoute({
  getParentRoute: () => settings,
  path: '/knowledge',
  staticData: {
    page: async (): Page => (await import('@portcullis/features/knowledge/console/KnowledgePage.tsx')).KnowledgePage,
  },
})
const assets = createRoute({
  getParentRoute: () => settings,
  path: '/assets',
  validateSearch: textSearch<'message'>(),
  staticData: {
    page: async (): Page => (await import('@portcullis/features/assets/console/AssetStreamPage.tsx')).AssetStreamPage,
  },
})
const health = createRoute({
  getParentRoute: () => settings,
  path: '/health',
  validateSearch: choiceSearch({ days: ['1', '7', '30', '90'] }),
  staticData: {
    page: async (): Page => (await import('@portcullis/features/health/console/HealthPage.tsx')).HealthPage,
  },
})
const healthHistory = createRoute({
  getParentRoute: () => settings,
  path: '/health/history',
  validateSearch: listSearch<NamesOf<typeof changeFilters>>(),
  staticData: {
    page: async (): Page =>
      (await import('@portcullis/features/health/console/HealthHistoryPage.tsx')).HealthHistoryPage,
  },
})
const audit = createRoute({
  getParentRoute: () => settings,
  path: '/audit',
  validateSearch: listSearch<OfferedFilter<typeof auditList>>(),
  staticData: { page: async (): Page => (await import('@portcullis/features/audit/console/AuditPage.tsx')).AuditPage },
})
const deliveries = createRoute({
  getParentRoute: () => settings,
  path: '/deliveries',
  validateSearch: listSearch<NamesOf<typeof deliveryFilters>>(),
  staticData: {
    page: async (): Page => (await import('@portcullis/features/deliveries/console/DeliveriesPage.tsx')).DeliveriesPage,
  },
})
const notifications = createRoute({
  getParentRoute: () => settings,
  path: '/notifications',
  staticData: {
    page: async (): Page => (await import('@portcullis/features/alerts/console/groups/GroupsPage.tsx')).GroupsPage,
  },
})
const notificationGroup = createRoute({
  getParentRoute: () => settings,
  path: '/notifications/$group',
  staticData: {
    page: async (): Page => (await import('@portcullis/features/alerts/console/groups/GroupPage.tsx')).GroupPage,
  },
})
const settingPage = createRoute({
  getParentRoute: () => settings,
  path: '/$page',
  validateSearch: historySearch,
  beforeLoad: ({ params: { page } }) => {
    if (page === 'policy') throw redirect({ to: '/policy/settings', replace: true })
  },
  staticData: {
    page: async (): Page => (await import('@portcullis/features/settings/console/SettingPage.tsx')).SettingPage,
  },
})

/** All addresses of the console with their search parameters and pages. */
export const routeTree = root.addChildren([
  signIn,
  setPassword,
  identityConfirmed,
  inside.addChildren([
    overview,
    unknownPage,
    hostsAlias,
    devicesAlias,
    alertsAlias,
    agents,
    agent,
    agentless,
    quarantines,
    peripherals,
    models,
    peripheral,
    insights,
    rollouts,
    newRollout,
    rollout,
    commands,
    approvals,
    policy.addChildren([rules, grants, simulator, policyHistory, policySettings, requests]),
    reports,
    reportHistory,
    report,
    events,
    event,
    notices,
    settings.addChildren([
      settingsStart,
      profile,
      sessions,
      tokens,
      accounts,
      enrolment,
      tags,
      packages,
      knowledge,
      assets,
      health,
      healthHistory,
      audit,
      deliveries,
      notifications,
      notificationGroup,
      settingPage,
    ]),
  ]),
])
