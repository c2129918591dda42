/** Runs `portcullis database status` and `promote`, from any machine that reaches the servers of the database. */
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { type DatabaseHost, databaseHosts } from '@portcullis/platform/server/db/hosts.ts'
import { PromotionFailed, PromotionRefused, promote } from '@portcullis/platform/server/failover/promote.ts'
import { clusterStatus, statusText } from '@portcullis/platform/server/failover/status.ts'
import { StartError } from '@portcullis/platform/server/start-error.ts'
import { problemOf } from './local.ts'

/** Exit code if a promotion is refused: nothing was changed. */
const refusedCode = 2

const hostsOf = (file: string | undefined): DatabaseHost[] => {
  if (file === undefined) throw new StartError('Set --url-file to a file with the address of all database servers.')
  let address: string
  try {
    address = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new StartError(`Cannot read ${file}: ${(error as Error).message}.`)
  }
  const hosts = databaseHosts(address)
  if (hosts === null)
    throw new StartError(
      `The address in ${file} names a single server. List all, such as postgres://failover@db-a,db-b,db-c/portcullis.`,
    )
  return hosts
}

const run = async (): Promise<void> => {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      'url-file': { type: 'string' },
      to: { type: 'string' },
      'stop-command': { type: 'string' },
      'accept-loss': { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
    },
  })
  const hosts = hostsOf(values['url-file'])
  if (positionals[0] === 'status') {
    const status = await clusterStatus(hosts)
    process.stdout.write(`${values.json ? JSON.stringify(status) : statusText(status)}\n`)
    return
  }
  const startedAt = performance.now()
  await promote({
    hosts,
    to: values.to,
    stopCommand: values['stop-command'],
    acceptsLoss: values['accept-loss'],
    isDryRun: values['dry-run'],
    say: (line) =>
      process.stdout.write(`${((performance.now() - startedAt) / 1_000).toFixed(1).padStart(5)} s  ${line}\n`),
  })
}

run().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${problemOf(error, PromotionRefused, PromotionFailed)}\n`)
    // Connections to servers that hang keep the process alive.
    process.exit(error instanceof PromotionRefused ? refusedCode : 1)
  },
)
