import type { HealthStatus } from '@portcullis/contract'
import type { Clock } from '#platform/clock.ts'
import type { LdapConfig } from './ldap.config.ts'
import { faultOf } from './ldap.fault.ts'
import { withLdap } from './ldap.service.ts'

/** A directory is bound to no more often than this; the health page shows nothing older than 30 s, and keeps for 20. */
const everyMs = 8_000
/** The health page waits 5 s for a probe. */
const probeMs = 4_500

export interface LdapHealthDeps {
  clock: Clock
  config: () => Promise<LdapConfig>
  noteUse: (name: string, failure: string | null) => Promise<void>
}

interface Seen {
  status: HealthStatus
  description: string
}

/** How the directory is, by a bind of the account that looks people up. */
export const createLdapHealth = ({ clock, config: read, noteUse }: LdapHealthDeps) => {
  let last: { at: number; seen: Promise<Seen> } | null = null

  async function look(config: LdapConfig): Promise<Seen> {
    const failure = await withLdap(config, probeMs, (connection) => connection.bindAsService()).then(
      () => null,
      (error: unknown) => faultOf(error).message,
    )
    await noteUse('ldap', failure)
    return failure === null
      ? { status: 'OK', description: 'The directory answers and accepts the bind account.' }
      : { status: 'Error', description: failure }
  }

  return {
    health: async (): Promise<Seen> => {
      const config = await read()
      if (!config.isOn) return { status: 'Unknown', description: 'Not configured' }
      if (last === null || clock.now() - last.at >= everyMs) last = { at: clock.now(), seen: look(config) }
      return last.seen
    },
    /** Looks again at once: the configuration changed. */
    forget: (): void => {
      last = null
    },
  }
}
