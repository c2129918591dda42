import { randomBytes } from 'node:crypto'
import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import { newId } from '@portcullis/platform/server/ids.ts'
import { signedInSource } from '@portcullis/platform/server/limiters/fair-queue.ts'
import type { Secret } from '@portcullis/platform/server/secret.ts'
import { StartError } from '@portcullis/platform/server/start-error.ts'
import { profiles } from '#features/contract.ts'
import { nameKey, passwordFault } from './accounts.rules.ts'
import { createAccountsStore } from './accounts.store.ts'
import type { AccountsContext } from './context.ts'

const userName = 'admin'

/** Returns five groups of four characters without lookalikes: 100 bits. */
const generated = (): string =>
  [...randomBytes(20)]
    .map((byte, i) => `${i > 0 && i % 4 === 0 ? '-' : ''}${'abcdefghijkmnpqrstuvwxyz23456789'[byte % 32]}`)
    .join('')

/**
 * Creates the account `admin` if no account exists. Uses the given password. Without one, it generates a password,
 * returns it once for the entry to print, and requires a change at the first sign-in.
 */
export const createFirstAdministrator =
  ({ db, clock, audit, passwords }: AccountsContext) =>
  async (given: Secret | null): Promise<{ userName: string; password: string } | null> => {
    // Hashing takes 30 ms, and only the first start needs it.
    if (!(await createAccountsStore(db).isEmpty())) return null
    const fault = given === null ? null : passwordFault(given.reveal(), userName)
    if (fault !== null) throw new StartError(`PORTCULLIS_ADMIN_PASSWORD cannot be used. ${fault}`)
    const password = given?.reveal() ?? generated()
    const hash = await passwords.turn(signedInSource(''), (work) => work.hash(password))
    const isMade = await db.transaction(async (tx) => {
      await createAccountsStore(tx).lockAll()
      if (!(await createAccountsStore(tx).isEmpty())) return false
      await createAccountsStore(tx).insert({
        account_id: newId(clock.now()),
        user_name: userName,
        name_key: nameKey(userName),
        password_hash: hash,
        user_profile: profiles.administrator,
        first_name: '',
        last_name: '',
        email: '',
        phone: null,
        image: '',
        auth_source: 'Local',
        is_enabled: true,
        must_change_password: given === null,
        created_at: new Date(clock.now()),
      })
      await audit.write(tx, systemActor('system'), {
        action: 'account.created',
        entity: userName,
        details: 'first Administrator',
      })
      return true
    })
    return isMade && given === null ? { userName, password } : null
  }
