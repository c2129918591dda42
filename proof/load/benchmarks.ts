/** Lists all benchmarks by name. */
import { benchAgentless } from './agentless.ts'
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
import { benchNotices } from './notices.ts'
import { benchPage } from './page.ts'
import { benchPlatforms } from './platforms.ts'
import { benchReevaluation } from './reevaluation.ts'
import { benchReplicas } from './replicas.ts'
import type { BenchResult } from './result.ts'
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

export interface Settings {
  isQuick: boolean
  databaseUrl: string | undefined
}

/** Benchmarks that do not depend on the fleet size. */
export const alone: Readonly<Record<string, (settings: Settings) => Promise<BenchResult>>> = {
  agentless: ({ isQuick, databaseUrl }) =>
    benchAgentless({ databaseUrl, hosts: isQuick ? 500 : 10_000, peers: isQuick ? 10 : 50 }),
  feeds: ({ isQuick, databaseUrl }) =>
    benchFeeds({ databaseUrl, hosts: isQuick ? 500 : 5_000, rounds: isQuick ? 5 : 30 }),
  platforms: ({ isQuick, databaseUrl }) =>
    benchPlatforms({ databaseUrl, hosts: isQuick ? 200 : 1_000, rounds: isQuick ? 4 : 10 }),
  windows: ({ isQuick, databaseUrl }) =>
    benchWindows({ databaseUrl, devices: 31, arrivals: isQuick ? 5 : 20, idleSeconds: isQuick ? 20 : 60 }),
  memory: ({ isQuick }) => benchMemory({ hosts: 1_000, idleSeconds: isQuick ? 60 : 300 }),
  strangers: ({ isQuick }) => benchStrangers({ hosts: 200, consoles: 20, clients: 10_000, seconds: isQuick ? 60 : 90 }),
  start: ({ isQuick }) => benchStart({ hosts: isQuick ? 10_000 : 100_000, rounds: isQuick ? 3 : 5 }),
  notices: ({ isQuick, databaseUrl }) => benchNotices({ databaseUrl, events: isQuick ? 50_000 : 500_000 }),
}
