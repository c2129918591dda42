import type { HealthStatus } from '#features/contract.ts'
import type { IdentityContext } from '../context.ts'
import type { LdapConfig } from './ldap.config.ts'
import { faultOf } from './ldap.fault.ts'
import { withLdap } from './ldap.service.ts'

/** Minimum time between two binds. The health page shows results up to 30 s old and keeps them for 20 s. */
const everyMs = 8_000
/** The health page waits 5 s for a probe. */
const probeMs = 4_500

interface Probe {
  status: HealthStatus
  description: string
}

/** Probes the directory with a bind of its search account. */
export const createLdapHealth = ({ clock, settings }: IdentityContext, read: () => Promise<LdapConfig>) => {
  let last: { at: number; result: Promise<Probe> } | null = null

  async function probe(config: LdapConfig): Promise<Probe> {
    const failure = await withLdap(config, probeMs, (connection) => connection.bindAsService()).then(
      () => null,
      (error: unknown) => faultOf(error).message,
    )
    await settings.noteUse('ldap', failure)
    return failure === null
      ? { status: 'OK', description: 'The directory answers and accepts the bind account.' }
      : { status: 'Error', description: failure }
  }

  return {
    health: async (): Promise<Probe> => {
      const config = await read()
      if (!config.isOn) return { status: 'Unknown', description: 'Not configured' }
      if (last === null || clock.now() - last.at >= everyMs) last = { at: clock.now(), result: probe(config) }
      return last.result
    },
    /** Drops the last result because the configuration changed. */
    forget: (): void => {
      last = null
    },
  }
}
