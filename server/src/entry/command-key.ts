/** Runs `portcullis command-key show` and `rotate`, for operators who can read the key file of the server. */
import { userInfo } from 'node:os'
import { parseArgs } from 'node:util'
import { countText, publicKeyHash } from '@portcullis/domain'
import { readKeyHolders } from '@portcullis/features/agents/server/index.ts'
import { auditWriter } from '@portcullis/features/audit/server/index.ts'
import { systemClock } from '@portcullis/platform/server/clock.ts'
import type { CommandKeys } from '@portcullis/platform/server/command-keys.ts'
import type { Db } from '@portcullis/platform/server/db/db.ts'
import { systemActor } from '@portcullis/platform/server/http/actor.ts'
import { loadKeys } from '@portcullis/platform/server/keys.ts'
import { StartError } from '@portcullis/platform/server/start-error.ts'
import { assertKeyFile, ownConfig, runCommand, withDatabase } from './local.ts'

const dayMs = 86_400_000

const daysOf = (text: string): number => {
  const days = Number(text)
  if (!/^\d{1,3}$/.test(text) || days > 365) throw new StartError('--keep-days must be a whole number from 0 to 365.')
  return days
}

const rotate = async (db: Db, keys: CommandKeys, keepDays: number): Promise<void> => {
  const before = keys.newest()
  // The file is written last: if the audit record cannot be stored, nothing is rotated.
  await db.transaction(async (tx) => {
    await auditWriter(systemClock).write(tx, systemActor('command line'), {
      action: 'command_key.rotated',
      entity: `command key ${before.number + 1}`,
      details: `on the command line of the server, by ${userInfo().username}; key ${before.number} (${before.id}) signs for another ${keepDays} days for hosts that hold it`,
      severity: 4,
    })
    keys.rotate(systemClock.now(), keepDays * dayMs)
  })
}

interface Row {
  number: number
  fingerprint: string
  createdAt: string
  retiresAt: string | null
  isRetired: boolean
  hosts: number
  cannotFollow: number
}

const rowsOf = async (db: Db, keys: CommandKeys): Promise<Row[]> => {
  const holders = await readKeyHolders(db)
  return keys.list().map(({ number, publicKey, createdAt, retiresAt, privateKey }) => ({
    number,
    fingerprint: publicKeyHash(publicKey),
    createdAt,
    retiresAt,
    isRetired: privateKey === null,
    hosts: holders.find((row) => row.command_key === number)?.hosts ?? 0,
    cannotFollow: holders.find((row) => row.command_key === number)?.cannot_follow ?? 0,
  }))
}

const textOf = ({ number, fingerprint, retiresAt, isRetired, hosts, cannotFollow }: Row): string => {
  const state = isRetired ? 'retired' : retiresAt === null ? 'in force' : `signs until ${retiresAt}`
  const follow = cannotFollow === 0 ? '' : ` (${cannotFollow} have not followed a rotation yet)`
  return `key ${number}  ${state}\n  SHA-256 ${fingerprint}\n  held by ${countText(hosts, 'host')}${follow}`
}

const run = async (): Promise<void> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { 'keep-days': { type: 'string', default: '30' }, json: { type: 'boolean', default: false } },
  })
  const [verb] = positionals
  if (verb !== 'show' && verb !== 'rotate') throw new StartError('Unknown command. Use show or rotate.')
  const keepDays = daysOf(values['keep-days'])
  const config = ownConfig()
  assertKeyFile(config)
  const keys = loadKeys(config.keyFile).command
  const rows = await withDatabase(config, { name: 'command-key' }, async (db) => {
    if (verb === 'rotate') await rotate(db, keys, keepDays)
    return rowsOf(db, keys)
  })
  const next =
    'Copy the key file to every replica and to your backups. Hosts that follow this rotation do not trust older copies.'
  process.stdout.write(
    values.json
      ? `${JSON.stringify({ keys: rows })}\n`
      : `${rows.map(textOf).join('\n')}\n${verb === 'rotate' ? `${next}\n` : ''}`,
  )
}

runCommand(run)
