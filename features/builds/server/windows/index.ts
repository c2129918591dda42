import { unknownBuild, windowsRefusals } from '@portcullis/domain'
import type { HttpApp } from '@portcullis/platform/server/http/http-app.ts'
import {
  getWindowsEnforcement,
  importWindowsVerification,
  type ResponseOf,
  removeWindowsVerification,
  windowsHostsUnverified,
} from '#features/contract.ts'
import type { BuildsContext } from '../context.ts'
import { createWindowsGate, windowsSetting } from './arming-limit.ts'
import { createVerifications } from './verifications.ts'
import { createWindowsStore } from './windows.store.ts'

type Overview = ResponseOf<typeof getWindowsEnforcement>

export type WindowsApi = ReturnType<typeof windowsFeature>

/** Limits how many Windows hosts can be armed: none without the setting, five of a build without its verification. */
export const windowsFeature = (app: HttpApp, context: BuildsContext) => {
  const { db, clock, log, settings, commands } = context
  const store = createWindowsStore()
  const verifications = createVerifications(context)
  const gate = createWindowsGate(context, verifications)

  commands.addArmingCheck(async (tx, agentIds) => {
    const refused = await gate.refusedAgents(tx, agentIds)
    return new Map([...refused].map(([agentId, code]) => [agentId, { code, reason: windowsRefusals[code] }]))
  })

  async function overview(): Promise<Overview> {
    const now = new Date(clock.now())
    const [{ isEnabled, verified }, counts, armed, imported] = await Promise.all([
      gate.state(db, now),
      store.counts(db, now),
      store.armed(db, now, windowsHostsUnverified),
      verifications.list(),
    ])
    return {
      enabled: isEnabled,
      hostsUnverified: windowsHostsUnverified,
      builds: counts.slice(0, 100).map(({ build, agents, counted }) => ({
        build: build === unknownBuild ? null : build,
        agents,
        armed: counted,
        isVerified: verified.has(build),
        hosts: armed
          .filter((host) => host.build === build)
          .map(({ uuid, hostIdentifier }) => ({ uuid, hostIdentifier })),
      })),
      verifications: imported,
    }
  }

  /** Cancels pending orders to arm. A host that was offline would otherwise arm itself later. */
  async function withdraw(): Promise<void> {
    if ((await settings.values(db, 'vendorA')).flag(windowsSetting)) return
    const agentIds = await store.ordered(db)
    if (agentIds.length > 0) await commands.cancelArming(agentIds, 'Windows enforcement (preview) was turned off.')
  }
  settings.onChange((names) => {
    if (names !== null && !names.includes(windowsSetting)) return
    withdraw().catch((error: unknown) => log.warn({ err: error }, 'cannot cancel the orders to arm Windows hosts'))
  })

  app.register(getWindowsEnforcement, () => overview())
  app.register(importWindowsVerification, ({ actor, body }) => verifications.take(actor, body))
  app.register(removeWindowsVerification, ({ actor, params }) => verifications.remove(actor, params.build))
  return { refused: gate.refused }
}
