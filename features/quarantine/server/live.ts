import { cleanText } from '@portcullis/domain'
import { notFound } from '@portcullis/platform/server/app-error.ts'
import { isId } from '@portcullis/platform/server/ids.ts'
import { createTurns } from '@portcullis/platform/server/limiters/turns.ts'
import type { NacEndpoint } from '#features/contract.ts'
import type { QuarantineContext } from './context.ts'
import { NacFault } from './fault.ts'
import type { IseSession } from './ise.client.ts'
import { createNacStore } from './nac.store.ts'
import type { Systems } from './systems.ts'

/** Time that a person waits for one system, in milliseconds, and number of addresses queried. */
const waitMs = 8_000
const mostMacs = 4
/** Limits of what is shown: custom attributes per endpoint, and code points per text. */
const mostAttributes = 64
const longestText = 256

const clean = (text: string): string => cleanText(text, longestText)
const cleanAll = (attributes: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(attributes)
      .slice(0, mostAttributes)
      .map(([name, value]) => [clean(name), clean(value)]),
  )

const shown = (session: IseSession | null | 'unreadable'): IseEnd['session'] => {
  if (session === null || session === 'unreadable') return null
  const { userName, address, nasAddress, nasPort, server } = session
  return { userName, address, nasAddress, nasPort, server }
}

type IseEnd = NacEndpoint['ise']['endpoints'][number]
type CactEnd = NacEndpoint['cact']['endpoints'][number]

/** Reads what both systems know about a host while a person waits. */
export const createNacLive = ({ db }: QuarantineContext, systems: Systems) => {
  const store = createNacStore()
  // A view may take eight seconds of requests: four run at once, and others get a retry time instead of waiting.
  const turns = createTurns({ atOnce: 4, waiting: 0, waitMs: 0, retryAfter: 3, spread: 5 })
  const manner = () => ({ signal: AbortSignal.timeout(waitMs), isLive: true })
  async function asked<E>(isOn: boolean, work: () => Promise<E[]>) {
    if (!isOn) return { status: 'off' as const, message: '', endpoints: [] }
    try {
      return { status: 'ok' as const, message: '', endpoints: await work() }
    } catch (error) {
      if (!(error instanceof NacFault)) throw error
      return { status: 'failed' as const, message: cleanText(error.message, 500), endpoints: [] }
    }
  }

  async function ise(macs: readonly string[]) {
    const values = await systems.values.ise()
    return asked(values.flag('ISE_ENABLED'), async () => {
      const client = systems.iseOf(values, manner())
      const policies = await client.policiesOf(macs)
      const ends: IseEnd[] = []
      for (const mac of macs) {
        const endpoint = await client.endpoint(mac)
        ends.push({
          mac,
          isKnown: endpoint !== null,
          groupId: clean(endpoint?.groupId ?? ''),
          ancPolicy: clean(policies.get(mac) ?? ''),
          attributes: cleanAll(endpoint?.attributes ?? {}),
          session: shown(await client.session(mac)),
        })
      }
      return ends
    })
  }

  async function cact(macs: readonly string[]) {
    const values = await systems.values.cact()
    return asked(values.flag('CACT_ENABLED'), async () => {
      const client = systems.cactOf(values, manner())
      const ends: CactEnd[] = []
      for (const mac of macs) {
        const host = await client.host(mac)
        ends.push({ mac, isKnown: host !== null, address: clean(host?.address ?? ''), property: host?.property ?? '' })
      }
      return ends
    })
  }

  return async (agentId: string): Promise<NacEndpoint> => {
    const [host] = isId(agentId) ? await store.hosts(db, [agentId]) : []
    if (host === undefined) throw notFound(`Host ${agentId} does not exist.`)
    const macs = host.macs.slice(0, mostMacs)
    const [fromIse, fromCact] = await turns.run(() => Promise.all([ise(macs), cact(macs)]))
    return { ise: fromIse, cact: fromCact }
  }
}
