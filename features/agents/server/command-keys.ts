import { publicKeyHash } from '@portcullis/domain'
import type { CommandKeys } from '@portcullis/platform/server/command-keys.ts'
import type { Queryable } from '@portcullis/platform/server/db/db.ts'
import type { CommandKeyOverview } from '#features/contract.ts'
import { readKeyHolders } from './key-holders.read.ts'

/** Returns the public command keys, and the number of hosts that hold each. */
export const createCommandKeyOverview = (db: Queryable, keys: CommandKeys) => async (): Promise<CommandKeyOverview> => {
  const holders = await readKeyHolders(db)
  const hostsOf = (number: number) => holders.find((row) => row.command_key === number)
  return {
    keys: keys.list().map(({ number, publicKey, createdAt, privateKey, retiresAt }) => ({
      number,
      fingerprint: publicKeyHash(publicKey),
      createdAt,
      state: privateKey === null ? 'Retired' : retiresAt === null ? 'In force' : 'Retiring',
      retiresAt,
      hosts: hostsOf(number)?.hosts ?? 0,
      hostsThatDoNotFollow: hostsOf(number)?.cannot_follow ?? 0,
    })),
    hostsWithUnknownKey: hostsOf(-1)?.hosts ?? 0,
  }
}
