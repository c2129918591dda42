import {
  approveQuarantines,
  clearQuarantines,
  dismissQuarantines,
  listQuarantines,
  type NacSystem,
  quarantineHosts,
  readNacEndpoint,
  testCact,
  testIse,
} from '@portcullis/contract'
import { assertDestination } from '@portcullis/platform/server/assert-destination.ts'
import type { Clock } from '@portcullis/platform/server/clock.ts'
import type { Bus } from '@portcullis/platform/server/db/bus.ts'
import type { Db } from '@portcullis/platform/server/db/db.ts'
import type { ResolveDestination } from '@portcullis/platform/server/destinations.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createList } from '@portcullis/platform/server/list/list.ts'
import type { Announce } from '@portcullis/platform/server/live.ts'
import type { Log } from '@portcullis/platform/server/log.ts'
import type { Audit } from '#features/audit/server/index.ts'
import type { EventsApi } from '#features/events/server/index.ts'
import type { SettingsApi } from '#features/settings/server/index.ts'
import { assertAddresses } from './addresses.ts'
import { createConnectionTests } from './connection-tests.ts'
import { createNacLive } from './live.ts'
import { quarantinesList } from './nac.read.ts'
import { createNacStore } from './nac.store.ts'
import { createQuarantines, nacTopic } from './quarantines.service.ts'
import { createRunner } from './runner.ts'
import { createSystems } from './systems.ts'
import { createWatch } from './watch.ts'

export interface NacDeps {
  db: Db
  exportDb: Db
  clock: Clock
  log: Log
  bus: Bus
  audit: Audit
  events: Pick<EventsApi, 'append'>
  settings: Pick<SettingsApi, 'values' | 'noteUse' | 'onChange' | 'guard'>
  resolve: ResolveDestination
  announce: Announce
}

/** Wires quarantines of hosts by Cisco ISE and Forescout CounterACT. */
export const nacFeature = (app: HttpApp, deps: NacDeps) => {
  const { db, log, bus, settings } = deps
  const store = createNacStore()
  const systems = createSystems(deps)
  const quarantines = createQuarantines({ ...deps, store, systems })
  const run = createRunner({ ...deps, store, systems, quarantines })
  const watch = createWatch({ ...deps, store, systems, quarantines })
  const connectionTests = createConnectionTests({ ...deps, systems })
  const live = createNacLive({ db, store, systems })
  const list = createList(quarantinesList, deps)

  bus.on(nacTopic, () => {
    run().catch((error: unknown) => log.warn({ err: error }, 'cannot carry out quarantines'))
  })
  settings.onChange((names) => {
    for (const system of ['ise', 'cact'] as const)
      if (names === null || names.some((name) => name.startsWith(`${system.toUpperCase()}_`))) {
        systems.forget(system)
        connectionTests.forget(system)
      }
  })

  app.register(listQuarantines, ({ query }) => list.page(query))
  app.register(quarantineHosts, ({ actor, body }) => quarantines.ask(actor, body))
  app.register(clearQuarantines, ({ actor, body }) => quarantines.clear(actor, body.ids))
  app.register(approveQuarantines, ({ actor, body }) => quarantines.approve(actor, body.ids))
  app.register(dismissQuarantines, ({ actor, body }) => quarantines.dismiss(actor, body.ids))
  app.register(readNacEndpoint, ({ params }) => live(params.agentId))
  app.register(testIse, ({ actor, body }) => connectionTests.ise(actor, body ?? {}))
  app.register(testCact, ({ actor, body }) => connectionTests.cact(actor, body ?? {}))

  const assertPlace = (url: string) => assertDestination(url === '' ? '' : new URL(url).hostname, deps.resolve)
  settings.guard('ise', async (_actor, next) => {
    assertAddresses('ISE_NEVER_ADDRESSES', next.get('ISE_NEVER_ADDRESSES') ?? '')
    await assertPlace(next.get('ISE_URL') ?? '')
  })
  settings.guard('cact', async (_actor, next) => {
    assertAddresses('CACT_NEVER_ADDRESSES', next.get('CACT_NEVER_ADDRESSES') ?? '')
    await assertPlace(next.get('CACT_URL') ?? '')
  })

  return {
    /** Carries out everything that is due. */
    run,
    /** Quarantines hosts with attack tools, and releases those whose cause ended. */
    watch,
    health: (system: NacSystem) => (): ReturnType<typeof connectionTests.health> => connectionTests.health(system),
  }
}
