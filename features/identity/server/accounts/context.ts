import type { OpaqueTokens } from '@portcullis/platform/server/opaque-tokens.ts'
import type { Passwords } from '@portcullis/platform/server/passwords.ts'
import type { IdentityContext } from '../context.ts'
import type { AccessTokens } from './access-tokens.ts'
import type { CredentialsService } from './credentials.service.ts'
import type { DirectoryPort } from './directory-port.ts'

/** What the parts of accounts share. */
export interface AccountsContext extends IdentityContext {
  directory: DirectoryPort
  passwords: Passwords
  accessTokens: AccessTokens
  opaqueTokens: OpaqueTokens
  credentials: CredentialsService
  /** Returns the address of this server for people: the domain name, else its own address. Without a trailing slash. */
  baseUrl(): Promise<string>
}
