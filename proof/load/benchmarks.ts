/** Lists all benchmarks by name. */
import { benchAgentless } from './agentless.ts'
import { benchAlerts } from './alerts.ts'
import { benchCheckIn } from './check-in.ts'
import { benchCommand } from './command.ts'
import { benchConsole } from './console.ts'
import { benchExport } from './export.ts'
import { benchFeeds } from './feeds.ts'
import type { Prepared } from './fleet.ts'
import { benchInsights } from './insights.ts'
import { benchList } from './list.ts'
import { benchMemory } from './memory.ts'
import { benchMixed } from './mixed.ts'
import { benchPage } from './page.ts'
import { benchPlatforms } from './platforms.ts'
import { benchReevaluation } from './reevaluation.ts'
import { benchReplicas } from './replicas.ts'
import type { BenchResult, Settings } from './result.ts'
import { benchStart } from './start.ts'
import { benchStrangers } from './strangers.ts'
import { benchWindows } from './windows.ts'

/** Benchmarks that depend on the fleet size. The order matters, because the last ones change the fleet. */
export const ofFleet: Readonly<Record<string, (prepared: Prepared) => Promise<BenchResult>>> = {
  list: benchList,
  page: benchPage,
  export: benchExport,
  insights: benchInsights,
  console: benchConsole,
  mixed: benchMixed,
  'check-in': benchCheckIn,
  replicas: benchReplicas,
  command: benchCommand,
  rejudge: benchReevaluation,
}

/** Benchmarks that do not depend on the fleet size. */
export const alone: Readonly<Record<string, (settings: Settings) => Promise<BenchResult>>> = {
  agentless: benchAgentless,
  feeds: benchFeeds,
  platforms: benchPlatforms,
  windows: benchWindows,
  memory: benchMemory,
  strangers: benchStrangers,
  start: benchStart,
  notices: benchAlerts,
}
