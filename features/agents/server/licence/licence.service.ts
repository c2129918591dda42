import type { KeyObject } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { type Licence, licenceKeysOf, licenceStateAt, readLicence } from '@portcullis/domain'
import { AppError } from '@portcullis/platform/server/app-error.ts'
import type { LicenceDetails, LicenseSummary } from '#features/contract.ts'
import type { AgentsContext } from '../context.ts'
import { createHostLicences, type LicenceNumber, licenceNumbers } from '../host-licences.store.ts'
import { createLicenceStore } from './licence.store.ts'

const keptMs = 5_000

/** Reads and applies the licence. Nothing stops working without a valid one. */
export const createLicence = ({ db, clock, log, config, settings }: AgentsContext) => {
  const store = createLicenceStore(db)
  const hosts = createHostLicences(db)
  let known: { text: string; at: number } | null = null
  let assigned = ''

  /** Returns public keys of issuers. Reads them each time, because a key file may be added while the server runs. */
  function keys(): readonly KeyObject[] {
    const keysFile = config.licenceKeysFile
    try {
      return existsSync(keysFile) ? licenceKeysOf(readFileSync(keysFile, 'utf8')) : []
    } catch (error) {
      // Without a readable file, no key is trusted. The licence is then Invalid, which the health page shows.
      log.error({ err: error, keysFile }, 'cannot read the file of licence keys')
      return []
    }
  }

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

  /** Returns the state of the licence for the health page and the licence page. */
  function healthOf(licence: Omit<LicenceDetails, 'health'>): LicenceDetails['health'] {
    const { status, expires, daysLeft, graceUntil, agents, used, pending } = licence
    if (status === 'Community') return { status: 'OK', description: 'Community, without limits.' }
    if (status === 'Invalid')
      return {
        status: 'Error',
        description:
          'The stored licence is not signed by a trusted key. Enter a new licence, or restore the key of its issuer.',
      }
    if (status === 'Expired')
      return {
        status: 'Error',
        description: `The licence expired on ${expires}. Nothing stops working. Enter a new one.`,
      }
    if (status === 'Grace')
      return {
        status: 'Warning',
        description: `The licence expired on ${expires}. Nothing changes until ${graceUntil}. Enter a new one.`,
      }
    if (pending > 0)
      return {
        status: 'Warning',
        description: `The licence covers ${agents} of ${used} hosts. ${pending} ${pending === 1 ? 'is' : 'are'} Pending.`,
      }
    if (daysLeft !== null && daysLeft <= settings.threshold('LICENCE_DAYS'))
      return {
        status: 'Warning',
        description: `The licence expires on ${expires}, in ${daysLeft} ${daysLeft === 1 ? 'day' : 'days'}.`,
      }
    return { status: 'OK', description: `${used} of ${agents ?? 'any number of'} hosts.` }
  }

  async function details(): Promise<LicenceDetails> {
    const [licence, counts] = [await read(), await store.counts()]
    const valid = licence === null || typeof licence === 'string' ? null : licence
    const { status, daysLeft } = stateOf(licence)
    const current = {
      status,
      accountId: valid?.accountId ?? '',
      accountName: valid?.accountName ?? (status === 'Community' ? 'Community' : ''),
      agents: valid?.agents ?? null,
      ...counts,
      expires: valid?.expires ?? null,
      daysLeft,
      graceUntil: valid === null || valid.expires === null ? null : plusDays(valid.expires, valid.graceDays),
      features: [...(valid?.features ?? [])],
      trustedKeys: keys().length,
    }
    return { ...current, health: healthOf(current) }
  }

  return {
    details,

    /** Refuses a key that is not a licence for this product from a trusted issuer. */
    validate: async (_actor: unknown, next: ReadonlyMap<string, string>): Promise<void> => {
      const key = next.get('LICENSE_KEY') ?? ''
      if (key === '') return
      const licence = readLicence(key, keys())
      if (typeof licence !== 'string') return
      throw new AppError('licence_invalid', {
        detail:
          keys().length === 0 ? `${licence} The server trusts no keys because the key file does not exist.` : licence,
      })
    },

    /** Returns the licence as clients see it at sign-in. */
    summary: async (): Promise<LicenseSummary> => {
      const licence = await read()
      const { status } = stateOf(licence)
      return {
        primeAccountName: licence === null || typeof licence === 'string' ? 'Community' : licence.accountName,
        licenseStatus: status === 'Expired' || status === 'Invalid' ? status : 'Activated',
      }
    },

    /** Drops the cached licence after a change. */
    forget: (): void => {
      known = null
      assigned = ''
    },

    /** Applies the licence state to hosts. Runs every few seconds, and immediately after a change. */
    apply: async (): Promise<void> => {
      const licence = await read()
      const { status } = stateOf(licence)
      const valid = licence === null || typeof licence === 'string' ? null : licence
      const { used } = await store.counts()
      // Without a limit, only a changed licence matters. With one, every added or removed host matters too.
      const wanted = JSON.stringify([
        status,
        valid?.accountId,
        valid?.accountName,
        valid?.expires,
        valid?.agents,
        valid?.agents ? used : 0,
      ])
      if (wanted === assigned) return
      await store.account(valid?.accountId ?? '', valid?.accountName ?? 'Community')
      while ((await hosts.assign(numberOf(status), valid?.expires ?? null, valid?.agents ?? null)) === hosts.atOnce);
      assigned = wanted
    },

    health: async (): Promise<LicenceDetails['health']> => (await details()).health,
  }
}
