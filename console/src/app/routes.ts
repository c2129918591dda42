import type {
  agentList,
  alertList,
  approvalList,
  auditList,
  commandList,
  connectionStatusList,
  deliveryList,
  eventList,
  grantList,
  healthChangeList,
  hostFindingList,
  modelList,
  OfferedFilter,
  peripheralList,
  quarantineList,
  reportRunList,
  ruleList,
} from '@portcullis/features/contract.ts'
import { identityConfirmedPage } from '@portcullis/features/contract.ts'
import type { DraftName } from '@portcullis/features/policy/console/shared/rule-draft.ts'
import type { ScheduleName } from '@portcullis/features/reports/console/shared/schedule-address.ts'
import { choiceSearch, listSearch, textSearch } from '@portcullis/platform/console/lib/search.ts'
import { createRootRoute, createRoute, redirect } from '@tanstack/react-router'
import type { ComponentType } from 'react'

declare module '@tanstack/react-router' {
  interface StaticDataRouteOption {
    /** Loads the module of the page on the first visit. The page is its only export. Absent: the route redirects. */
    page?: () => Page
  }
}

/** Annotated, because pages use the types of the addresses. */
type Page = Promise<Record<string, ComponentType>>

const root = createRootRoute()

/** All routes that need a session. */
const inside = createRoute({ getParentRoute: () => root, id: 'inside' })
const policy = createRoute({
  getParentRoute: () => inside,
  path: '/policy',
  staticData: { page: (): Page => import('./PolicyFrame.tsx') },
})
const settings = createRoute({
  getParentRoute: () => inside,
  path: '/settings',
  staticData: { page: (): Page => import('./SettingsFrame.tsx') },
})

/** Search parameters of a settings page: one tab for the settings, one for their history. */
const historySearch = textSearch<'tab' | 'from' | 'version'>()

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: textSearch<'next' | 'ended' | 'problem'>(),
  staticData: { page: (): Page => import('@portcullis/features/identity/console/sign-in/SignInPage.tsx') },
})
const setPassword = createRoute({
  getParentRoute: () => root,
  path: '/set-password',
  staticData: { page: (): Page => import('@portcullis/features/identity/console/sign-in/SetPasswordPage.tsx') },
})
const identityConfirmed = createRoute({
  getParentRoute: () => root,
  path: identityConfirmedPage,
  staticData: { page: (): Page => import('@portcullis/features/identity/console/sign-in/IdentityConfirmedPage.tsx') },
})
/** Outside the gate: it reads with an API token if no session exists, and has no navigation. */
const wall = createRoute({
  getParentRoute: () => root,
  path: '/wall',
  staticData: { page: (): Page => import('@portcullis/features/overview/console/WallPage.tsx') },
})
const overview = createRoute({
  getParentRoute: () => inside,
  path: '/',
  validateSearch: choiceSearch({
    chart: ['attachments', 'coverage', 'attackTools', 'vulnerable', 'unapproved', 'newModels'],
    days: ['14', '30', '90'],
  }),
  staticData: { page: (): Page => import('./OverviewScreen.tsx') },
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
/** The earlier address of the alerts. Messages link to it, because the previous release has no `/alerts`. */
const noticesAlias = createRoute({
  getParentRoute: () => inside,
  path: '/notices',
  validateSearch: listSearch<OfferedFilter<typeof alertList>>(),
  beforeLoad: ({ search }) => {
    throw redirect({ to: '/alerts', search, replace: true })
  },
})
const agents = createRoute({
  getParentRoute: () => inside,
  path: '/agents',
  validateSearch: listSearch<OfferedFilter<typeof agentList>>(),
  staticData: { page: (): Page => import('./AgentsScreen.tsx') },
})
const agent = createRoute({
  getParentRoute: () => inside,
  path: '/agents/$agentId',
  validateSearch: textSearch<'tab' | 'from' | 'to' | 'lanes' | 'with'>(),
  staticData: { page: (): Page => import('@portcullis/features/hosts/console/AgentPage.tsx') },
})
const agentless = createRoute({
  getParentRoute: () => inside,
  path: '/agentless',
  validateSearch: listSearch<OfferedFilter<typeof connectionStatusList>>(),
  staticData: { page: (): Page => import('@portcullis/features/agentless/console/AgentlessPage.tsx') },
})
const quarantines = createRoute({
  getParentRoute: () => inside,
  path: '/quarantines',
  validateSearch: listSearch<OfferedFilter<typeof quarantineList>>(),
  staticData: { page: (): Page => import('@portcullis/features/quarantine/console/QuarantinesPage.tsx') },
})
const peripherals = createRoute({
  getParentRoute: () => inside,
  path: '/peripherals',
  validateSearch: listSearch<OfferedFilter<typeof peripheralList>>(),
  staticData: { page: (): Page => import('@portcullis/features/devices/console/PeripheralsPage.tsx') },
})
const models = createRoute({
  getParentRoute: () => inside,
  path: '/peripherals/models',
  validateSearch: listSearch<OfferedFilter<typeof modelList>>(),
  staticData: { page: (): Page => import('@portcullis/features/devices/console/ModelsPage.tsx') },
})
const model = createRoute({
  getParentRoute: () => inside,
  path: '/peripherals/models/$model',
  staticData: { page: (): Page => import('@portcullis/features/devices/console/model/ModelPage.tsx') },
})
const peripheral = createRoute({
  getParentRoute: () => inside,
  path: '/peripherals/$uuid',
  validateSearch: textSearch<'device'>(),
  staticData: { page: (): Page => import('@portcullis/features/devices/console/PeripheralPage.tsx') },
})
const findings = createRoute({
  getParentRoute: () => inside,
  path: '/findings',
  validateSearch: listSearch<OfferedFilter<typeof hostFindingList>>(),
  staticData: { page: (): Page => import('@portcullis/features/devices/console/findings/FindingsPage.tsx') },
})
const insights = createRoute({
  getParentRoute: () => inside,
  path: '/insights',
  validateSearch: listSearch<'vendor'>(),
  staticData: { page: (): Page => import('@portcullis/features/devices/console/insights/InsightsPage.tsx') },
})
const rollouts = createRoute({
  getParentRoute: () => inside,
  path: '/rollouts',
  staticData: { page: (): Page => import('@portcullis/features/rollouts/console/RolloutsPage.tsx') },
})
const newRollout = createRoute({
  getParentRoute: () => inside,
  path: '/rollouts/new',
  validateSearch: choiceSearch({ kind: ['arm', 'update'] }),
  staticData: { page: (): Page => import('@portcullis/features/rollouts/console/NewRolloutPage.tsx') },
})
const rollout = createRoute({
  getParentRoute: () => inside,
  path: '/rollouts/$id',
  validateSearch: listSearch<'ring' | 'state'>(),
  staticData: { page: (): Page => import('@portcullis/features/rollouts/console/RolloutPage.tsx') },
})
const commands = createRoute({
  getParentRoute: () => inside,
  path: '/commands',
  validateSearch: listSearch<OfferedFilter<typeof commandList>>(),
  staticData: { page: (): Page => import('@portcullis/features/commands/console/CommandsPage.tsx') },
})
const approvals = createRoute({
  getParentRoute: () => inside,
  path: '/approvals',
  validateSearch: listSearch<OfferedFilter<typeof approvalList>>(),
  staticData: { page: (): Page => import('@portcullis/features/policy/console/approvals/ApprovalsPage.tsx') },
})
const rules = createRoute({
  getParentRoute: () => policy,
  path: '/',
  validateSearch: listSearch<OfferedFilter<typeof ruleList> | DraftName>(),
  staticData: { page: (): Page => import('@portcullis/features/policy/console/RulesPage.tsx') },
})
const grants = createRoute({
  getParentRoute: () => policy,
  path: '/grants',
  validateSearch: listSearch<OfferedFilter<typeof grantList> | DraftName>(),
  staticData: { page: (): Page => import('@portcullis/features/policy/console/GrantsPage.tsx') },
})
const simulator = createRoute({
  getParentRoute: () => policy,
  path: '/simulator',
  validateSearch: listSearch<'days' | 'hashtags' | 'hostUuid' | 'decision'>(),
  staticData: { page: (): Page => import('@portcullis/features/policy/console/SimulatorPage.tsx') },
})
const policyTests = createRoute({
  getParentRoute: () => policy,
  path: '/tests',
  validateSearch: textSearch<'open' | 'onHost' | 'deviceOf'>(),
  staticData: { page: (): Page => import('@portcullis/features/policy/console/tests/TestsPage.tsx') },
})
const policyHistory = createRoute({
  getParentRoute: () => policy,
  path: '/history',
  validateSearch: textSearch<'page' | 'version'>(),
  staticData: { page: (): Page => import('@portcullis/features/policy/console/HistoryPage.tsx') },
})
const policySettings = createRoute({
  getParentRoute: () => policy,
  path: '/settings',
  validateSearch: historySearch,
  staticData: { page: (): Page => import('@portcullis/features/settings/console/PolicySettingsPage.tsx') },
})
const requests = createRoute({
  getParentRoute: () => policy,
  path: '/requests',
  staticData: { page: (): Page => import('@portcullis/features/change-requests/console/RequestsPage.tsx') },
})
const reports = createRoute({
  getParentRoute: () => inside,
  path: '/reports',
  staticData: { page: (): Page => import('@portcullis/features/reports/console/ReportsPage.tsx') },
})
const reportHistory = createRoute({
  getParentRoute: () => inside,
  path: '/reports/history',
  validateSearch: listSearch<OfferedFilter<typeof reportRunList> | 'run'>(),
  staticData: { page: (): Page => import('@portcullis/features/reports/console/HistoryPage.tsx') },
})
const report = createRoute({
  getParentRoute: () => inside,
  path: '/reports/$id',
  validateSearch: textSearch<ScheduleName>(),
  staticData: { page: (): Page => import('@portcullis/features/reports/console/ReportEditorPage.tsx') },
})
const events = createRoute({
  getParentRoute: () => inside,
  path: '/events',
  validateSearch: listSearch<OfferedFilter<typeof eventList>>(),
  staticData: { page: (): Page => import('@portcullis/features/events/console/EventsPage.tsx') },
})
const event = createRoute({
  getParentRoute: () => inside,
  path: '/events/$eventId',
  staticData: { page: (): Page => import('@portcullis/features/events/console/EventPage.tsx') },
})
const alerts = createRoute({
  getParentRoute: () => inside,
  path: '/alerts',
  validateSearch: listSearch<OfferedFilter<typeof alertList>>(),
  staticData: { page: (): Page => import('@portcullis/features/alerts/console/inbox/AlertsPage.tsx') },
})
const alert = createRoute({
  getParentRoute: () => inside,
  path: '/alerts/$alertId',
  staticData: { page: (): Page => import('@portcullis/features/alerts/console/inbox/AlertPage.tsx') },
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
  staticData: { page: (): Page => import('@portcullis/features/identity/console/accounts/ProfilePage.tsx') },
})
const sessions = createRoute({
  getParentRoute: () => settings,
  path: '/sessions',
  staticData: { page: (): Page => import('@portcullis/features/identity/console/accounts/SessionsPage.tsx') },
})
const tokens = createRoute({
  getParentRoute: () => settings,
  path: '/tokens',
  staticData: { page: (): Page => import('@portcullis/features/identity/console/accounts/ApiTokensPage.tsx') },
})
const accounts = createRoute({
  getParentRoute: () => settings,
  path: '/accounts',
  validateSearch: textSearch<'open'>(),
  staticData: { page: (): Page => import('@portcullis/features/identity/console/accounts/AccountsPage.tsx') },
})
const enrolment = createRoute({
  getParentRoute: () => settings,
  path: '/enrolment',
  staticData: { page: (): Page => import('@portcullis/features/agents/console/EnrolmentPage.tsx') },
})
const tags = createRoute({
  getParentRoute: () => settings,
  path: '/tags',
  validateSearch: textSearch<'q'>(),
  staticData: { page: (): Page => import('@portcullis/features/tags/console/TagsPage.tsx') },
})
const packages = createRoute({
  getParentRoute: () => settings,
  path: '/packages',
  staticData: { page: (): Page => import('@portcullis/features/builds/console/PackagesPage.tsx') },
})
const knowledge = createRoute({
  getParentRoute: () => settings,
  path: '/knowledge',
  staticData: { page: (): Page => import('@portcullis/features/knowledge/console/KnowledgePage.tsx') },
})
const assets = createRoute({
  getParentRoute: () => settings,
  path: '/assets',
  validateSearch: textSearch<'message'>(),
  staticData: { page: (): Page => import('@portcullis/features/assets/console/AssetStreamPage.tsx') },
})
const setUp = createRoute({
  getParentRoute: () => settings,
  path: '/set-up',
  staticData: { page: (): Page => import('@portcullis/features/overview/console/SetUpPage.tsx') },
})
const health = createRoute({
  getParentRoute: () => settings,
  path: '/health',
  validateSearch: choiceSearch({ days: ['1', '7', '30', '90'] }),
  staticData: { page: (): Page => import('@portcullis/features/health/console/HealthPage.tsx') },
})
const healthHistory = createRoute({
  getParentRoute: () => settings,
  path: '/health/history',
  validateSearch: listSearch<OfferedFilter<typeof healthChangeList>>(),
  staticData: { page: (): Page => import('@portcullis/features/health/console/HealthHistoryPage.tsx') },
})
const audit = createRoute({
  getParentRoute: () => settings,
  path: '/audit',
  validateSearch: listSearch<OfferedFilter<typeof auditList>>(),
  staticData: { page: (): Page => import('@portcullis/features/audit/console/AuditPage.tsx') },
})
const deliveries = createRoute({
  getParentRoute: () => settings,
  path: '/deliveries',
  validateSearch: listSearch<OfferedFilter<typeof deliveryList>>(),
  staticData: { page: (): Page => import('@portcullis/features/deliveries/console/DeliveriesPage.tsx') },
})
const notifications = createRoute({
  getParentRoute: () => settings,
  path: '/notifications',
  staticData: { page: (): Page => import('@portcullis/features/alerts/console/groups/GroupsPage.tsx') },
})
const notificationGroup = createRoute({
  getParentRoute: () => settings,
  path: '/notifications/$group',
  staticData: { page: (): Page => import('@portcullis/features/alerts/console/groups/GroupPage.tsx') },
})
const settingPage = createRoute({
  getParentRoute: () => settings,
  path: '/$page',
  validateSearch: historySearch,
  beforeLoad: ({ params: { page } }) => {
    if (page === 'policy') throw redirect({ to: '/policy/settings', replace: true })
  },
  staticData: {
    page: async (): Page => ({
      page: (await import('@portcullis/features/settings/console/SettingPage.tsx')).SettingPage,
    }),
  },
})

/** All addresses of the console with their search parameters and pages. */
export const routeTree = root.addChildren([
  signIn,
  setPassword,
  identityConfirmed,
  wall,
  inside.addChildren([
    overview,
    unknownPage,
    hostsAlias,
    devicesAlias,
    noticesAlias,
    agents,
    agent,
    agentless,
    quarantines,
    peripherals,
    models,
    model,
    peripheral,
    findings,
    insights,
    rollouts,
    newRollout,
    rollout,
    commands,
    approvals,
    policy.addChildren([rules, grants, simulator, policyTests, policyHistory, policySettings, requests]),
    reports,
    reportHistory,
    report,
    events,
    event,
    alerts,
    alert,
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
      setUp,
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
