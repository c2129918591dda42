import type { authProviders, ResponseOf } from '@portcullis/contract'
import type { ExternalVerdict } from './external.ts'

/**
 * What sign-in needs of directories and providers, which are a higher feature. Calls are made outside of transactions, and
 * throw `directory_unavailable` when the directory cannot be asked.
 */
export interface DirectoryPort {
  /** Whether people may sign in by the directory now. */
  isOn(): Promise<boolean>
  /**
   * Judges a name and password. `beforeBind` hears the name the entry has, which may differ from the typed one, before the
   * password is tried. A decoy does the same work on nobody: refusals of local accounts have to take as long.
   */
  signIn(
    given: { userName: string; password: string; isDecoy: boolean },
    beforeBind: (userName: string) => Promise<void>,
  ): Promise<ExternalVerdict>
  /** Judges accounts without their passwords, in their order; none while the directory is off. */
  standings(known: readonly { userName: string; id: string | null }[]): Promise<ExternalVerdict[]>
  /** Sign-ins beside local accounts, for the login page. */
  providers(): Promise<Pick<ResponseOf<typeof authProviders>, 'ldap' | 'oidc'>>
}
