import type { authProviders, ResponseOf } from '#features/contract.ts'
import type { ExternalVerdict } from './external.ts'

/**
 * The directories and providers that sign-in uses; a higher capability implements them. Calls run outside transactions
 * and throw `directory_unavailable` if the directory does not answer.
 */
export interface DirectoryPort {
  isOn(): Promise<boolean>
  /**
   * Checks a name and password. Calls `beforeBind` with the entry's own name, which can differ from the typed one,
   * before it tries the password. A decoy does the same work for no entry, so that refusals of local accounts take as
   * long.
   */
  signIn(
    given: { userName: string; password: string; isDecoy: boolean },
    beforeBind: (userName: string) => Promise<void>,
  ): Promise<ExternalVerdict>
  /** Checks accounts without their passwords, in the given order. Returns nothing while the directory is off. */
  standings(known: readonly { userName: string; id: string | null }[]): Promise<ExternalVerdict[]>
  /** Returns the sign-in methods other than local accounts, for the sign-in page. */
  providers(): Promise<Pick<ResponseOf<typeof authProviders>, 'ldap' | 'oidc'>>
}
