import { assertDestination } from '@portcullis/platform/server/assert-destination.ts'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import { createList } from '@portcullis/platform/server/list/list.ts'
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
} from '#features/contract.ts'
import { assertAddresses } from './addresses.ts'
import { createConnectionTests } from './connection-tests.ts'
import type { QuarantineContext } from './context.ts'
import { createNacLive } from './live.ts'
import { quarantinesList } from './nac.read.ts'
import { createQuarantines, nacTopic } from './quarantines.service.ts'
import { createRunner } from './runner.ts'
import { createSystems } from './systems.ts'
import { createWatch } from './watch.ts'

/** Wires quarantines of hosts by Cisco ISE and Forescout CounterACT. */
export const quarantineFeature = (app: HttpApp, context: QuarantineContext) => {
  const { log, bus, settings } = context
  const systems = createSystems(context)
  const quarantines = createQuarantines(context, systems)
  const run = createRunner(context, systems, quarantines)
  const watch = createWatch(context, systems, quarantines)
  const connectionTests = createConnectionTests(context, systems)
  const live = createNacLive(context, systems)
  const list = createList(quarantinesList, context)

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

  const assertPlace = (url: string) => assertDestination(url === '' ? '' : new URL(url).hostname, context.resolve)
  settings.addValidator('ise', async (_actor, next) => {
    assertAddresses('ISE_NEVER_ADDRESSES', next.get('ISE_NEVER_ADDRESSES') ?? '')
    await assertPlace(next.get('ISE_URL') ?? '')
  })
  settings.addValidator('cact', async (_actor, next) => {
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
