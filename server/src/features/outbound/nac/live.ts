import type { NacEndpoint } from '@portcullis/contract'
import { cleanText } from '@portcullis/domain'
import { notFound } from '#platform/app-error.ts'
import type { Db } from '#platform/db/db.ts'
import { isId } from '#platform/ids.ts'
import { createSemaphore } from '#platform/semaphore.ts'
import { NacFault } from './fault.ts'
import type { NacStore } from './nac.store.ts'
import type { Systems } from './systems.ts'

/** Milliseconds a person waits for one system, and addresses that are asked about. */
const waitMs = 8_000
const mostMacs = 4
/** Custom attributes of one endpoint, and code points of what the systems say. */
const mostAttributes = 64
const longestText = 256

const said = (text: string): string => cleanText(text, longestText)
const saidAll = (attributes: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(attributes)
      .slice(0, mostAttributes)
      .map(([name, value]) => [said(name), said(value)]),
  )

type IseEnd = NacEndpoint['ise']['endpoints'][number]
type CactEnd = NacEndpoint['cact']['endpoints'][number]

/** What both systems know of a host, asked while somebody waits. */
export const createNacLive = ({ db, store, systems }: { db: Db; store: NacStore; systems: Systems }) => {
  // Each may be eight seconds of requests: four at once, the others are told to come back rather than wait for that.
  const semaphore = createSemaphore({ atOnce: 4, waiting: 0, waitMs: 0, comeBack: { after: 3, spread: 5 } })
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
          groupId: said(endpoint?.groupId ?? ''),
          ancPolicy: said(policies.get(mac) ?? ''),
          attributes: saidAll(endpoint?.attributes ?? {}),
          session: await client.session(mac),
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
        ends.push({ mac, isKnown: host !== null, address: said(host?.address ?? ''), property: host?.property ?? '' })
      }
      return ends
    })
  }

  return async (agentId: string): Promise<NacEndpoint> => {
    const [host] = isId(agentId) ? await store.hosts(db, [agentId]) : []
    if (host === undefined) throw notFound(`There is no host ${agentId}.`)
    const macs = host.macs.slice(0, mostMacs)
    await semaphore.enter()
    try {
      const [fromIse, fromCact] = await Promise.all([ise(macs), cact(macs)])
      return { ise: fromIse, cact: fromCact }
    } finally {
      semaphore.leave()
    }
  }
}
