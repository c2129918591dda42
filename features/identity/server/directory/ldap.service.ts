import { randomBytes } from 'node:crypto'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import { createTurns } from '@portcullis/platform/server/limiters/turns.ts'
import type { DirectoryPort, ExternalPerson, ExternalVerdict } from '../accounts/index.ts'
import type { IdentityContext } from '../context.ts'
import { type LdapConnection, openLdap } from './ldap.client.ts'
import type { LdapConfig } from './ldap.config.ts'
import { faultOf, isUseless, LdapFault } from './ldap.fault.ts'
import { grantOf } from './ldap.groups.ts'
import { findPerson, type LdapPerson } from './ldap.person.ts'

/** Time limit in milliseconds for connecting, searching and binding together. */
const totalMs = 12_000
/** How long a failed directory is not asked again: a hanging one would block everyone. */
const pauseMs = 10_000

/** Runs `work` on a connection and closes it afterwards, or after `ms` in any case. */
export const withLdap = async <T>(
  config: LdapConfig,
  ms: number,
  work: (connection: LdapConnection) => Promise<T>,
): Promise<T> => {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), ms)
  let connection: LdapConnection | null = null
  try {
    connection = await openLdap(config, limit.signal)
    return await work(connection)
  } catch (error) {
    if (error instanceof AppError) throw error
    throw limit.signal.aborted
      ? new LdapFault('silent', 'The directory did not answer in time.', error)
      : faultOf(error)
  } finally {
    clearTimeout(timer)
    connection?.close()
  }
}

const externalOf = (person: LdapPerson, profile: ExternalPerson['profile']): ExternalPerson => ({
  source: 'LDAP',
  issuer: null,
  id: person.id,
  userName: person.userName,
  profile,
  firstName: person.firstName,
  lastName: person.lastName,
  email: person.email,
  phone: person.phone,
})

const refused: ExternalVerdict = { person: null, lost: null }

/** Directory sign-in: a service account finds the entry, a bind proves the password, groups give the profile. */
export const createLdap = ({ clock, log }: IdentityContext, read: () => Promise<LdapConfig>) => {
  let pausedUntil = 0
  // 8 at a time use a directory's threads for some milliseconds each. The others wait no longer than one request hangs.
  const turns = createTurns({ atOnce: 8, waiting: 100, waitMs: totalMs, retryAfter: 5, spread: 5 })

  const unavailable = (cause?: unknown): AppError =>
    new AppError('directory_unavailable', {}, { headers: { 'retry-after': '30' }, cause })

  /** Asks the directory. The caller gets the same error for every failure; the log has the reason. */
  async function ask<T>(config: LdapConfig, work: (connection: LdapConnection) => Promise<T>): Promise<T> {
    if (clock.now() < pausedUntil) throw unavailable()
    const leave = await turns.enter()
    try {
      return await withLdap(config, totalMs, async (connection) => {
        await connection.bindAsService()
        return work(connection)
      })
    } catch (error) {
      if (error instanceof AppError) throw error
      const fault = faultOf(error)
      if (isUseless(fault)) pausedUntil = clock.now() + pauseMs
      log.warn({ code: fault.code, reason: fault.message }, 'could not query the directory')
      throw unavailable(fault)
    } finally {
      leave()
    }
  }

  async function verdictOf(
    connection: LdapConnection,
    config: LdapConfig,
    person: LdapPerson,
    isProven: boolean,
  ): Promise<ExternalVerdict> {
    const { userName, disabled } = person
    if (disabled !== null) return { person: null, lost: { userName, why: disabled, isProven } }
    const grant = await grantOf(connection, config, person)
    return grant === null
      ? { person: null, lost: { userName, why: 'it is not in any configured group', isProven } }
      : { person: externalOf(person, grant.profile) }
  }

  const port: Omit<DirectoryPort, 'providers'> = {
    isOn: async () => (await read()).isOn,

    signIn: async ({ userName, password, isDecoy }, beforeBind) => {
      const config = await read()
      return ask(config, async (connection) => {
        const found = await findPerson(connection, config, userName, clock.now())
        const person = found.kind === 'one' && !isDecoy && password !== '' ? found.person : null
        if (person !== null) await beforeBind(person.userName)
        // Unknown names are bound too, so that every refusal takes equally long.
        const refusal = await (person === null
          ? connection.bindAs(
              `${config.nameAttribute}=${randomBytes(12).toString('hex')},${config.baseDn}`,
              randomBytes(12).toString('hex'),
            )
          : connection.bindAs(person.dn, password))
        const isRight = refusal === null
        // Only the log gets the reason: the answer must not show whether the account exists.
        if (person !== null && refusal?.isGuess === false)
          log.warn(
            { cause: refusal.cause, reason: `${person.userName} could not sign in: ${refusal.why}.` },
            'the directory refused a sign-in',
          )
        if (isDecoy || found.kind === 'many' || found.kind === 'unusable') return refused
        if (found.kind === 'none')
          return { person: null, lost: { userName, why: 'the directory has no such entry', isProven: false } }
        if (person === null || (!isRight && person.disabled === null)) return refused
        await connection.bindAsService()
        return verdictOf(connection, config, person, isRight)
      })
    },

    standings: async (known) => {
      const config = await read()
      if (!config.isOn || known.length === 0) return []
      return ask(config, async (connection) => {
        const verdicts: ExternalVerdict[] = []
        for (const { userName, id } of known) {
          const found = await findPerson(connection, config, userName, clock.now())
          // Another entry with the same name is another person.
          const isSame = found.kind === 'one' && (id === null || found.person.id === null || id === found.person.id)
          verdicts.push(
            isSame
              ? await verdictOf(connection, config, found.person, false)
              : { person: null, lost: { userName, why: 'the directory has no such entry', isProven: false } },
          )
        }
        return verdicts
      })
    },
  }
  return {
    port,
    /** Ends the pause after a failure because the configuration changed. */
    resume: (): void => {
      pausedUntil = 0
    },
  }
}
