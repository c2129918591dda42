import type { KeyObject } from 'node:crypto'
import type { HealthStatus, LicenceDetails, LicenseSummary } from '@portcullis/contract'
import { type Licence, licenceStateAt, readLicence } from '@portcullis/domain'
import { type HostLicences, type LicenceNumber, licenceNumbers } from '#features/fleet/agents/index.ts'
import type { SettingsApi } from '#features/system/settings/index.ts'
import { AppError } from '#platform/app-error.ts'
import type { Clock } from '#platform/clock.ts'
import type { Db } from '#platform/db/db.ts'
import type { LicenceStore } from './licence.store.ts'

export interface LicenceDeps {
  db: Db
  clock: Clock
  settings: Pick<SettingsApi, 'values'>
  store: LicenceStore
  hosts: HostLicences
  /** Public keys of issuers, read anew each time: a key file is put there while the server runs. */
  keys(): readonly KeyObject[]
  /** Days ahead on which it is said that the licence ends. */
  warnDays(): number
}

const keptMs = 5_000

/** The licence: what it says, how it stands, and what hosts are told of it. Nothing stops working for any of them. */
export const createLicence = ({ db, clock, settings, store, hosts, keys, warnDays }: LicenceDeps) => {
  let known: { text: string; at: number } | null = null
  let assigned = ''

  async function text(): Promise<string> {
    if (known === null || clock.now() - known.at >= keptMs || clock.now() < known.at)
      known = { text: (await settings.values(db, 'license')).text('LICENSE_KEY'), at: clock.now() }
    return known.text
  }

  async function read(): Promise<Licence | string | null> {
    const stored = await text()
    return stored === '' ? null : readLicence(stored, keys())
  }

  function stateOf(licence: Licence | string | null) {
    if (licence === null) return { status: 'Community' as const, daysLeft: null }
    if (typeof licence === 'string') return { status: 'Invalid' as const, daysLeft: null }
    const { state, daysLeft } = licenceStateAt(licence, clock.now())
    return { status: state, daysLeft }
  }

  const numberOf = (status: LicenceDetails['status']): LicenceNumber =>
    status === 'Expired'
      ? licenceNumbers.Expired
      : status === 'Invalid'
        ? licenceNumbers.Invalid
        : licenceNumbers.Activated

  const plusDays = (day: string, days: number): string =>
    new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)

  async function details(): Promise<LicenceDetails> {
    const [licence, counts] = [await read(), await store.counts()]
    const said = licence === null || typeof licence === 'string' ? null : licence
    const { status, daysLeft } = stateOf(licence)
    return {
      status,
      accountId: said?.accountId ?? '',
      accountName: said?.accountName ?? (status === 'Community' ? 'Community' : ''),
      agents: said?.agents ?? null,
      ...counts,
      expires: said?.expires ?? null,
      daysLeft,
      graceUntil: said === null || said.expires === null ? null : plusDays(said.expires, said.graceDays),
      features: [...(said?.features ?? [])],
      trustedKeys: keys().length,
    }
  }

  return {
    details,

    /** Refuses a key that is no licence of this product by a trusted issuer. */
    guard: async (_actor: unknown, next: ReadonlyMap<string, string>): Promise<void> => {
      const key = next.get('LICENSE_KEY') ?? ''
      if (key === '') return
      const licence = readLicence(key, keys())
      if (typeof licence !== 'string') return
      throw new AppError('licence_invalid', {
        detail: keys().length === 0 ? `${licence} It trusts none: there is no key file.` : licence,
      })
    },

    /** What clients are told at sign-in. */
    summary: async (): Promise<LicenseSummary> => {
      const licence = await read()
      const { status } = stateOf(licence)
      return {
        primeAccountName: licence === null || typeof licence === 'string' ? 'Community' : licence.accountName,
        licenseStatus: status === 'Expired' || status === 'Invalid' ? status : 'Activated',
      }
    },

    /** Forgets what was read: it changed. */
    forget: (): void => {
      known = null
      assigned = ''
    },

    /** Gives hosts the state that follows; every few seconds, and at once after a change. */
    apply: async (): Promise<void> => {
      const licence = await read()
      const { status } = stateOf(licence)
      const said = licence === null || typeof licence === 'string' ? null : licence
      const { used } = await store.counts()
      // Without a limit only a change matters; within one, every host that comes or goes moves the line.
      const wanted = JSON.stringify([
        status,
        said?.accountId,
        said?.accountName,
        said?.expires,
        said?.agents,
        said?.agents ? used : 0,
      ])
      if (wanted === assigned) return
      await store.account(said?.accountId ?? '', said?.accountName ?? 'Community')
      while ((await hosts.assign(numberOf(status), said?.expires ?? null, said?.agents ?? null)) === hosts.atOnce);
      assigned = wanted
    },

    health: async (): Promise<{ status: HealthStatus; description: string }> => {
      const { status, expires, daysLeft, graceUntil, agents, used, pending } = await details()
      if (status === 'Community') return { status: 'OK', description: 'Community, without limits.' }
      if (status === 'Invalid')
        return {
          status: 'Error',
          description:
            'The stored licence is not signed by a key this server trusts: enter it again, or put the key of its issuer back.',
        }
      if (status === 'Expired')
        return {
          status: 'Error',
          description: `The licence ended on ${expires}; nothing stops working. Enter a new one.`,
        }
      if (status === 'Grace')
        return {
          status: 'Warning',
          description: `The licence ended on ${expires}; until ${graceUntil} nothing changes. Enter a new one.`,
        }
      if (pending > 0)
        return {
          status: 'Warning',
          description: `${used} hosts are known, the licence covers ${agents}: ${pending} are Pending.`,
        }
      if (daysLeft !== null && daysLeft <= warnDays())
        return {
          status: 'Warning',
          description: `The licence ends on ${expires}, in ${daysLeft} ${daysLeft === 1 ? 'day' : 'days'}.`,
        }
      return { status: 'OK', description: `${used} of ${agents ?? 'any number of'} hosts.` }
    },
  }
}
