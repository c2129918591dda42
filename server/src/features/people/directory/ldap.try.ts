import type { PeerCertificate } from 'node:tls'
import { type ConfigTested, profileNames } from '@portcullis/contract'
import { cleanText } from '@portcullis/domain'
import { connectionOn, type LdapConnection } from './ldap.client.ts'
import type { LdapConfig } from './ldap.config.ts'
import { faultOf, LdapFault } from './ldap.fault.ts'
import { grantOf } from './ldap.groups.ts'
import { findPerson, type LdapPerson } from './ldap.person.ts'
import { certificateName, type LdapSocket, type LdapSocketStage, openLdapSocket } from './ldap.socket.ts'
import { inSteps, StepFailure, type Steps } from './test-steps.ts'

/** Milliseconds of the whole test; a request may take 28 s. */
const wholeMs = 22_000
const day = 86_400_000
/** A certificate with less left is worth a word. */
const soonDays = 30

export interface LdapTrial {
  /** Empty: nobody is looked up. */
  userName: string
  /** Empty: nobody is signed in. */
  password: string
}

const quoted = (text: string): string => `"${cleanText(text, 200)}"`

const certificateWords = (certificate: PeerCertificate, now: number): string => {
  const left = Math.floor((new Date(certificate.valid_to).getTime() - now) / day)
  const soon = left < soonDays ? ` It ends in ${left} days: renew it.` : ''
  return `${certificateName(certificate)} is accepted.${soon}`
}

/** Tries every address, and goes on with the first that answers. */
const connectAll = async (steps: Steps, config: LdapConfig, signal: AbortSignal, now: number): Promise<LdapSocket> => {
  const outcomes = await Promise.all(
    config.urls.map(async (url) => {
      let stage: LdapSocketStage = 'connect'
      try {
        const socket = await openLdapSocket({ ...config, url, signal }, (reached) => {
          stage = reached
        })
        return { url, socket, stage, fault: null }
      } catch (error) {
        return { url, socket: null, stage, fault: faultOf(error) }
      }
    }),
  )
  let used: LdapSocket | null = null
  for (const { url, socket, stage, fault } of outcomes) {
    if (socket === null && stage === 'connect') {
      steps.fail('Connect', `${url}: ${fault.message}`)
      continue
    }
    steps.done('Connect', `${url}: ${socket === null ? 'it answers.' : `connected to ${socket.where}.`}`)
    if (socket === null) steps.fail('TLS', `${url}: ${fault.message}`)
    else if (socket.certificate !== null) steps.done('TLS', certificateWords(socket.certificate, now))
    else steps.done('TLS', 'None: passwords are sent in the clear.')
    if (socket !== null && used === null) used = socket
    else socket?.socket.destroy()
  }
  if (used === null) throw new StepFailure()
  return used
}

const find = async (
  steps: Steps,
  connection: LdapConnection,
  config: LdapConfig,
  userName: string,
  now: number,
): Promise<LdapPerson> => {
  let person: LdapPerson | null = null
  await steps.run('Find the person', async () => {
    const found = await findPerson(connection, config, userName, now)
    if (found.kind === 'none')
      throw new StepFailure(
        `Nobody of the name ${quoted(userName)} is found: check base DN, filter of people and name attribute.`,
      )
    if (found.kind === 'many')
      throw new StepFailure('More than one entry is found: narrow the filter of people or the base DN.')
    if (found.kind === 'unusable')
      throw new StepFailure(`The entry has no usable ${config.nameAttribute}: check the name attribute.`)
    person = found.person
    if (person.disabled !== null) throw new StepFailure(`${quoted(person.dn)} may not sign in: ${person.disabled}.`)
    return `${quoted(person.dn)} is found, as account ${quoted(person.userName)}.`
  })
  if (person === null) throw new StepFailure()
  return person
}

const checkGroups = async (connection: LdapConnection, config: LdapConfig): Promise<string> => {
  const missing: string[] = []
  for (const { dn } of config.groups)
    if ((await connection.entry(dn, null, ['1.1'])) === undefined) missing.push(quoted(dn))
  if (config.groups.length === 0) throw new StepFailure('No group is configured: nobody could sign in.')
  if (missing.length > 0)
    throw new StepFailure(
      `The directory does not show ${missing.join(' and ')}: check the DN, and what the bind account may read.`,
    )
  return `${config.groups.length === 1 ? 'The configured group is' : 'The configured groups are'} there.`
}

/** Tries a directory as it would be used. Nothing that it says gets into the answer but names, DNs and certificates. */
export const tryLdap = async (config: LdapConfig, trial: LdapTrial, now: number): Promise<ConfigTested> => {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), wholeMs)
  const opened: LdapConnection[] = []
  function words(error: unknown): string {
    if (limit.signal.aborted) return 'The directory did not answer in time.'
    if (error instanceof Error && error.name === 'AppError') throw error
    return faultOf(error).message
  }
  try {
    return await inSteps(words, async (steps) => {
      const connection = connectionOn(config, await connectAll(steps, config, limit.signal, now))
      opened.push(connection)
      await steps.run('Bind', async () => {
        await connection.bindAsService()
        return config.bindDn === '' ? 'People may be looked up anonymously.' : `Bound as ${quoted(config.bindDn)}.`
      })
      await steps.run('Base DN', async () => {
        if ((await connection.entry(config.baseDn, null, ['1.1'])) === undefined)
          throw new LdapFault('noSuchBase', `The directory does not show ${quoted(config.baseDn)}: check the base DN.`)
        return `${quoted(config.baseDn)} is there.`
      })
      if (trial.userName === '') {
        await steps.run('Groups', () => checkGroups(connection, config))
        return
      }
      const person = await find(steps, connection, config, trial.userName, now)
      if (trial.password !== '')
        await steps.run('Sign in', async () => {
          if (!(await connection.bindAs(person.dn, trial.password)))
            throw new StepFailure('The directory refuses this password, or the account may not sign in now.')
          await connection.bindAsService()
          return 'The directory accepts the password.'
        })
      await steps.run('Groups', async () => {
        const grant = await grantOf(connection, config, person)
        if (grant === null) {
          await checkGroups(connection, config)
          throw new StepFailure(
            `The person is in none of the configured groups, also not by other groups: check the groups and the group attribute (${config.groupAttribute}).`,
          )
        }
        return `${quoted(grant.group)} makes the person ${profileNames[grant.profile]}.`
      })
    })
  } finally {
    clearTimeout(timer)
    for (const connection of opened) connection.close()
  }
}
