import { randomBytes } from 'node:crypto'
import type { NacSystem, Quarantine } from '@portcullis/features/contract.ts'
import { startTestApp, type TestApp, type TestAppOptions } from './app.ts'
import { type EnrolOptions, enrolAgent, pageOf, type TestAgent } from './builders.ts'
import { createAuthority } from './certificates.ts'
import { type CounterActOptions, startCounterAct } from './peers/counteract.ts'
import { type IseOptions, startIse } from './peers/ise.ts'

/** Starts the server with a Cisco ISE and a CounterACT. Neither is configured yet. */
export const startNac = async (
  options: {
    app?: TestAppOptions
    ise?: Omit<IseOptions, 'certificate'>
    cact?: Omit<CounterActOptions, 'certificate'>
  } = {},
) => {
  const authority = await createAuthority()
  const certificate = await authority.issue(['localhost'])
  const t = await startTestApp({ listen: true, trustedProxies: ['127.0.0.1'], ...options.app })
  const ise = await startIse({ certificate, ...options.ise })
  const cact = await startCounterAct({ certificate, ...options.cact })

  const post = async (path: string, body: unknown) => (await t.admin()).post(`/prime/webui/${path}`, body)
  const ok = async <T>(path: string, body: unknown): Promise<T> => {
    const answer = await post(path, body)
    if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${answer.body}`)
    return answer.json() as T
  }
  const iseItems = (more: Record<string, string> = {}): Record<string, string> => ({
    ISE_ENABLED: 'true',
    ISE_URL: ise.url,
    ISE_USER: ise.user,
    ISE_PASSWORD: ise.password,
    ISE_CA: authority.pem,
    ISE_ANC_POLICY: 'Quarantine',
    ...more,
  })
  const cactItems = (more: Record<string, string> = {}): Record<string, string> => ({
    CACT_ENABLED: 'true',
    CACT_URL: cact.url,
    CACT_USER: cact.user,
    CACT_PASSWORD: cact.password,
    CACT_DEX_ACCOUNT: cact.dexAccount,
    CACT_DEX_PASSWORD: cact.dexPassword,
    CACT_CA: authority.pem,
    ...more,
  })
  const all = async (filter = ''): Promise<Quarantine[]> =>
    (await pageOf<Quarantine>(t, `nac/quarantines?PageSize=1000${filter}`)).data
  return {
    t,
    authority,
    ise,
    cact,
    post,
    ok,
    iseItems,
    cactItems,
    /** Makes ISE and CounterACT see a host at the address that it connects from. */
    seen: (agent: TestAgent, mac = macsOf(agent)[0] as string): void => {
      ise.see(mac, agent.state.from ?? '')
      cact.addHost(mac, agent.state.from ?? '')
    },
    useIse: (more: Record<string, string> = {}) => ok('generalconfig/AddOrUpdateISEServer', iseItems(more)),
    useCact: (more: Record<string, string> = {}) => ok('generalconfig/AddOrUpdateCACTServer', cactItems(more)),
    /** Reads quarantines as the list shows them, newest first. */
    all,
    /** Reads the newest quarantine of a host. */
    quarantineOf: async (agent: Pick<TestAgent, 'agentId'>, system: NacSystem = 'ise'): Promise<Quarantine> => {
      const [first] = await all(`&uuid=${agent.agentId}&system=${system}`)
      if (first === undefined) throw new Error(`no quarantine of ${agent.agentId} by ${system}`)
      return first
    },
    ask: (agents: readonly Pick<TestAgent, 'agentId'>[], more: Record<string, unknown> = {}) =>
      ok<{
        accepted: { id: string; uuid: string }[]
        existing: { id: string; uuid: string }[]
        notFound: string[]
      }>('nac/quarantines', {
        agentIds: agents.map((agent) => agent.agentId),
        system: 'ise',
        reason: 'looks bad',
        ...more,
      }),
    run: () => t.server.quarantine.run(),
    /** Runs the timers of this period: probes every 5 s, then the pending steps. */
    pass: async (milliseconds: number): Promise<void> => {
      for (let left = milliseconds; left > 0; left -= 5_000) {
        t.clock.advance(Math.min(left, 5_000))
        await t.server.quarantine.watch()
      }
      await t.server.quarantine.run()
    },
    close: async (): Promise<void> => {
      await t.close()
      await Promise.all([ise.close(), cact.close()])
    },
  }
}

export type NacTest = Awaited<ReturnType<typeof startNac>>

let hosts = 0

/** Enrols a host with unique MAC addresses, which connects from an address of its own. */
export const nacHost = (t: TestApp, options: EnrolOptions & { nics?: number } = {}): Promise<TestAgent> => {
  const { nics = 1, facts, from = `10.${(++hosts >> 8) & 255}.${hosts & 255}.7`, ...rest } = options
  const mac = (): string => `02${randomBytes(5).toString('hex').replace(/../g, ':$&')}`
  return enrolAgent(t, {
    ...rest,
    from,
    facts: {
      nics: Array.from({ length: nics }, (_, i) => ({
        name: `eth${i}`,
        mac: mac(),
        addresses: [from],
        isUp: true,
      })),
      ...facts,
    },
  })
}

export const macsOf = (agent: TestAgent): string[] => agent.facts.nics.map((nic) => nic.mac.toUpperCase())

export const stepsOf = (quarantine: Quarantine): string[] => quarantine.timeline.map(({ step }) => step)
