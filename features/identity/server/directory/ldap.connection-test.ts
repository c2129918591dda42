import type { PeerCertificate } from 'node:tls'
import { cleanText } from '@portcullis/domain'
import { type ConfigTested, profileNames, type UserProfile } from '#features/contract.ts'
import { connectionOn, type LdapConnection } from './ldap.client.ts'
import type { LdapConfig } from './ldap.config.ts'
import { faultOf, isUseless, LdapFault } from './ldap.fault.ts'
import { grantOf } from './ldap.groups.ts'
import { findPerson, type LdapPerson } from './ldap.person.ts'
import { certificateName, type LdapSocket, type LdapSocketStage, openLdapSocket } from './ldap.socket.ts'
import { inSteps, StepFailure, type StepFault, type Steps } from './test-steps.ts'

/** Time limit of the whole test in milliseconds. A request may take 28 s. */
const totalMs = 22_000
const day = 86_400_000
/** Days before expiry at which the test warns. */
const soonDays = 30

export interface LdapTestPerson {
  /** Empty: the test searches for nobody. */
  userName: string
  /** Empty: the test does not sign in. */
  password: string
}

const quoted = (text: string): string => `"${cleanText(text, 200)}"`

const describeCertificate = (certificate: PeerCertificate, now: number): string => {
  const left = Math.floor((new Date(certificate.valid_to).getTime() - now) / day)
  const soon = left < soonDays ? ` It expires in ${left} days. Renew it.` : ''
  return `${certificateName(certificate)} is valid.${soon}`
}

/** Tests every address, and continues with the first that answers. */
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
      steps.fail('Connect', { message: `${url}: ${fault.message}`, field: fault.field })
      continue
    }
    steps.done('Connect', `${url}: ${socket === null ? 'the server answers.' : `connected to ${socket.where}.`}`)
    if (socket === null) steps.fail('TLS', { message: `${url}: ${fault.message}`, field: fault.field })
    else if (socket.certificate !== null) steps.done('TLS', describeCertificate(socket.certificate, now))
    else steps.done('TLS', 'Off. Passwords are sent in clear text.')
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
        `No entry matches ${quoted(userName)}. Check the base DN, the user filter and the name attribute.`,
        'LDAP_TEST_USER',
      )
    if (found.kind === 'many')
      throw new StepFailure('More than one entry matches. Narrow the user filter or the base DN.', 'LDAP_USER_FILTER')
    if (found.kind === 'unusable')
      throw new StepFailure(
        `The entry has no usable ${config.nameAttribute}. Check the name attribute.`,
        'LDAP_USERNAME_ATTRIBUTE',
      )
    person = found.person
    if (person.disabled !== null)
      throw new StepFailure(`${quoted(person.dn)} cannot sign in: ${person.disabled}.`, 'LDAP_TEST_USER')
    return `Found ${quoted(person.dn)}, account ${quoted(person.userName)}.`
  })
  if (person === null) throw new StepFailure()
  return person
}

const fieldOfGroup: Readonly<Record<UserProfile, string>> = {
  10: 'LDAP_ADMINISTRATOR_GROUP',
  20: 'LDAP_MANAGER_GROUP',
  30: 'LDAP_USER_GROUP',
}

const checkGroups = async (connection: LdapConnection, config: LdapConfig): Promise<string> => {
  const missing: LdapConfig['groups'][number][] = []
  for (const group of config.groups) {
    const found = await connection.entry(group.dn, null, ['1.1']).catch((error: unknown) => {
      const fault = faultOf(error)
      if (isUseless(fault)) throw fault
      throw new StepFailure(
        `The directory refused to read ${quoted(group.dn)}. Check the DN, and the read access of the bind account.`,
        fieldOfGroup[group.profile],
      )
    })
    if (found === undefined) missing.push(group)
  }
  if (config.groups.length === 0)
    throw new StepFailure('No group is configured, so nobody can sign in. Configure a group.', 'LDAP_USER_GROUP')
  const [first] = missing
  if (first !== undefined)
    throw new StepFailure(
      `The directory does not return ${missing.map(({ dn }) => quoted(dn)).join(' and ')}. Check the DN, and the read access of the bind account.`,
      fieldOfGroup[first.profile],
    )
  return `${config.groups.length === 1 ? 'The configured group exists' : 'All configured groups exist'}.`
}

/**
 * Tests a directory the way sign-in uses it. Of the directory's data, answers contain only names, DNs and certificates.
 */
export const testLdapConnection = async (
  config: LdapConfig,
  subject: LdapTestPerson,
  now: number,
): Promise<ConfigTested> => {
  const limit = new AbortController()
  const timer = setTimeout(() => limit.abort(), totalMs)
  const opened: LdapConnection[] = []
  function stepFaultOf(error: unknown): StepFault {
    if (limit.signal.aborted) return { message: 'The directory did not answer in time.', field: 'LDAP_URL' }
    if (error instanceof Error && error.name === 'AppError') throw error
    return faultOf(error)
  }
  try {
    return await inSteps(stepFaultOf, async (steps) => {
      const connection = connectionOn(config, await connectAll(steps, config, limit.signal, now))
      opened.push(connection)
      await steps.run('Bind', async () => {
        await connection.bindAsService()
        return config.bindDn === '' ? 'Anonymous searches are allowed.' : `Bound as ${quoted(config.bindDn)}.`
      })
      await steps.run('Base DN', async () => {
        if ((await connection.entry(config.baseDn, null, ['1.1'])) === undefined)
          throw new LdapFault(
            'noSuchBase',
            `The directory does not return ${quoted(config.baseDn)}. Check the base DN.`,
          )
        return `${quoted(config.baseDn)} exists.`
      })
      if (subject.userName === '') {
        await steps.run('Groups', () => checkGroups(connection, config))
        return
      }
      const person = await find(steps, connection, config, subject.userName, now)
      if (subject.password !== '')
        await steps.run('Sign in', async () => {
          const refusal = await connection.bindAs(person.dn, subject.password)
          if (refusal !== null)
            throw new StepFailure(
              refusal.isGuess
                ? 'The directory rejected this password.'
                : `The directory refused the sign-in: ${refusal.why}.`,
              refusal.isGuess ? 'LDAP_TEST_PASSWORD' : 'LDAP_TEST_USER',
            )
          await connection.bindAsService()
          return 'The directory accepted the password.'
        })
      await steps.run('Groups', async () => {
        const grant = await grantOf(connection, config, person)
        if (grant === null) {
          await checkGroups(connection, config)
          throw new StepFailure(
            `The person is not in any configured group, directly or through nested groups. Check the groups and the group attribute (${config.groupAttribute}).`,
            'LDAP_GROUP_ATTRIBUTE',
          )
        }
        return `${quoted(grant.group)} gives the person the profile ${profileNames[grant.profile]}.`
      })
    })
  } finally {
    clearTimeout(timer)
    for (const connection of opened) connection.close()
  }
}
