/** The private key on disk, sealed for the account of the service. */
import type { Dpapi } from './dpapi.ts'

const PURPOSE = 'portcullis-agent private key 1'
const PREFIX = 'portcullis-dpapi-1:'

/** Seals the private key. A copy of the file is useless on another machine and for other users of this one. */
export const createSecrets = (dpapi: Dpapi) => ({
  /** Returns the text to store. */
  seal: (secret: string): string =>
    `${PREFIX}${Buffer.from(dpapi.seal(Buffer.from(secret), PURPOSE)).toString('base64')}\n`,
  /**
   * @throws if the text was changed, or belongs to another account or machine. The message does not contain the text.
   */
  open(stored: string): string {
    if (!stored.startsWith(PREFIX)) throw new Error('it is not sealed by this agent')
    const plain = dpapi.unseal(Buffer.from(stored.slice(PREFIX.length), 'base64'), PURPOSE)
    if (plain === undefined) throw new Error('it was changed, or sealed by another account or on another machine')
    return Buffer.from(plain).toString()
  },
})
