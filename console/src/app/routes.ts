import type {
  agentList,
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
import type { auditFilters } from '@portcullis/features/audit/console/audit.view.tsx'
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

const root = createRootRoute()

/** All routes that need a session. */
const inside = createRoute({ getParentRoute: () => root, id: 'inside' })
const policy = createRoute({ getParentRoute: () => inside, path: '/policy' })
const settings = createRoute({ getParentRoute: () => inside, path: '/settings' })

/** Search parameters of a settings page: one tab for the settings, one for their history. */
const historySearch = textSearch<'tab' | 'from' | 'version'>()

const signIn = createRoute({
  getParentRoute: () => root,
  path: '/sign-in',
  validateSearch: textSearch<'next' | 'ended' | 'problem'>(),
})
const setPassword = createRoute({ getParentRoute: () => root, path: '/set-password' })
const identityConfirmed = createRoute({ getParentRoute: () => root, path: identityConfirmedPage })
const overview = createRoute({ getParentRoute: () => inside, path: '/' })
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
})
const agent = createRoute({
  getParentRoute: () => inside,
  path: '/agents/$agentId',
  validateSearch: textSearch<'tab'>(),
})
const agentless = createRoute({
  getParentRoute: () => inside,
  path: '/agentless',
  validateSearch: listSearch<OfferedFilter<typeof connectionStatusList>>(),
})
const quarantines = createRoute({
  getParentRoute: () => inside,
  path: '/quarantines',
  validateSearch: listSearch<NamesOf<typeof quarantineFilters>>(),
})
const peripherals = createRoute({
  getParentRoute: () => inside,
  path: '/peripherals',
  validateSearch: listSearch<OfferedFilter<typeof peripheralList>>(),
})
const models = createRoute({
  getParentRoute: () => inside,
  path: '/peripherals/models',
  validateSearch: listSearch<OfferedFilter<typeof modelList>>(),
})
const peripheral = createRoute({
  getParentRoute: () => inside,
  path: '/peripherals/$uuid',
  validateSearch: textSearch<'device'>(),
})
const insights = createRoute({
  getParentRoute: () => inside,
  path: '/insights',
  validateSearch: listSearch<'vendor'>(),
})
const rollouts = createRoute({ getParentRoute: () => inside, path: '/rollouts' })
const newRollout = createRoute({
  getParentRoute: () => inside,
  path: '/rollouts/new',
  validateSearch: choiceSearch({ kind: ['arm', 'update'] }),
})
const rollout = createRoute({
  getParentRoute: () => inside,
  path: '/rollouts/$id',
  validateSearch: listSearch<'ring' | 'state'>(),
})
const commands = createRoute({
  getParentRoute: () => inside,
  path: '/commands',
  validateSearch: listSearch<NamesOf<typeof commandFilters>>(),
})
const approvals = createRoute({
  getParentRoute: () => inside,
  path: '/approvals',
  validateSearch: listSearch<NamesOf<typeof approvalFilters>>(),
})
const rules = createRoute({
  getParentRoute: () => policy,
  path: '/',
  validateSearch: listSearch<OfferedFilter<typeof ruleList> | DraftName>(),
})
const grants = createRoute({
  getParentRoute: () => policy,
  path: '/grants',
  validateSearch: listSearch<OfferedFilter<typeof grantList> | DraftName>(),
})
const simulator = createRoute({
  getParentRoute: () => policy,
  path: '/simulator',
  validateSearch: listSearch<'days' | 'hashtags' | 'hostUuid' | 'decision'>(),
})
const policyHistory = createRoute({
  getParentRoute: () => policy,
  path: '/history',
  validateSearch: textSearch<'page' | 'version'>(),
})
const policySettings = createRoute({ getParentRoute: () => policy, path: '/settings', validateSearch: historySearch })
const requests = createRoute({ getParentRoute: () => policy, path: '/requests' })
const reports = createRoute({ getParentRoute: () => inside, path: '/reports' })
const reportHistory = createRoute({
  getParentRoute: () => inside,
  path: '/reports/history',
  validateSearch: listSearch<NamesOf<typeof runFilters> | 'run'>(),
})
const report = createRoute({
  getParentRoute: () => inside,
  path: '/reports/$id',
  validateSearch: textSearch<ScheduleName>(),
})
const events = createRoute({
  getParentRoute: () => inside,
  path: '/events',
  validateSearch: listSearch<OfferedFilter<typeof eventList>>(),
})
const event = createRoute({ getParentRoute: () => inside, path: '/events/$eventId' })
const notices = createRoute({
  getParentRoute: () => inside,
  path: '/notices',
  validateSearch: listSearch<NamesOf<typeof riskFilters>>(),
})
const settingsStart = createRoute({
  getParentRoute: () => settings,
  path: '/',
  beforeLoad: () => {
    throw redirect({ to: '/settings/profile', replace: true })
  },
})
const profile = createRoute({ getParentRoute: () => settings, path: '/profile' })
const sessions = createRoute({ getParentRoute: () => settings, path: '/sessions' })
const tokens = createRoute({ getParentRoute: () => settings, path: '/tokens' })
const accounts = createRoute({
  getParentRoute: () => settings,
  path: '/accounts',
  validateSearch: textSearch<'open'>(),
})
const enrolment = createRoute({ getParentRoute: () => settings, path: '/enrolment' })
const tags = createRoute({ getParentRoute: () => settings, path: '/tags', validateSearch: textSearch<'q'>() })
const packages = createRoute({ getParentRoute: () => settings, path: '/packages' })
const knowledge = createRoute({ getParentRoute: () => settings, path: '/knowledge' })
const assets = createRoute({ getParentRoute: () => settings, path: '/assets', validateSearch: textSearch<'message'>() })
const health = createRoute({
  getParentRoute: () => settings,
  path: '/health',
  validateSearch: choiceSearch({ days: ['1', '7', '30', '90'] }),
})
const healthHistory = createRoute({
  getParentRoute: () => settings,
  path: '/health/history',
  validateSearch: listSearch<NamesOf<typeof changeFilters>>(),
})
const audit = createRoute({
  getParentRoute: () => settings,
  path: '/audit',
  validateSearch: listSearch<NamesOf<typeof auditFilters>>(),
})
const deliveries = createRoute({
  getParentRoute: () => settings,
  path: '/deliveries',
  validateSearch: listSearch<NamesOf<typeof deliveryFilters>>(),
})
const notifications = createRoute({ getParentRoute: () => settings, path: '/notifications' })
const notificationGroup = createRoute({ getParentRoute: () => settings, path: '/notifications/$group' })
const settingPage = createRoute({
  getParentRoute: () => settings,
  path: '/$page',
  validateSearch: historySearch,
  beforeLoad: ({ params: { page } }) => {
    if (page === 'policy') throw redirect({ to: '/policy/settings', replace: true })
  },
})

/**
 * All addresses of the console with their search parameters. `router.tsx` assigns the pages: the addresses do not import
 * them, so that pages can use their types.
 */
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
