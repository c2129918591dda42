/** The command line `portcullis <noun> <verb>`, run with `npm run cli`. */
import { readFileSync } from 'node:fs'
import type { Agent, Subsystem, SystemStatus } from '@portcullis/features/contract.ts'
import {
  agentFilters,
  createEnrollmentToken,
  getAgents,
  subsystemHealth,
  systemStatus,
} from '@portcullis/features/contract.ts'
import { Command, type OptionValues } from 'commander'
import packageFile from '../../package.json' with { type: 'json' }
import { registerAuditCommands } from './audit-commands.ts'
import { registerBackupCommands } from './backup-commands.ts'
import { CliError, createClient, readText, type Terminal, WaitsForApprover, waitingExitCode } from './client.ts'
import { registerCommandKeyCommands } from './command-key-commands.ts'
import { registerConfigCommands } from './config-commands.ts'
import { registerDatabaseCommands } from './database-commands.ts'
import { adoptUnit, variable } from './environment.ts'
import { registerKeysCommands } from './keys-commands.ts'
import { registerKnowledgeCommands } from './knowledge-commands.ts'
import { registerLicenceCommands } from './licence-commands.ts'
import { registerPackageCommands } from './package-commands.ts'
import { registerReleaseKeyCommands } from './release-key-commands.ts'
import { argumentsOf, recover, runEntry } from './run-entry.ts'
import { signIn } from './sign-in.ts'
import { plain, table } from './table.ts'

adoptUnit()

const print = (text: string): void => {
  process.stdout.write(`${text}\n`)
}

const tokenOf = ({ token, tokenFile }: OptionValues): string => {
  if (typeof token === 'string') return token
  if (typeof tokenFile !== 'string')
    throw new CliError(
      'This command needs an API token. Create one in the console under Settings, API tokens, and set --token-file. Or sign in with --user.',
    )
  return readText(tokenFile, 'the token file').trim()
}

/** The session of `--user`, opened when a command first needs it. */
let session: ReturnType<typeof signIn> | null = null

const clientOf = (options: OptionValues) => {
  const { server, user, passwordFile, code } = options
  if (typeof user !== 'string') return createClient({ server, token: tokenOf(options) })
  if (options.token !== undefined || options.tokenFile !== undefined)
    throw new CliError('Use either --user or a token, not both.')
  return createClient({
    server,
    token: async () => {
      session ??= signIn({ server, user, passwordFile, code })
      return (await session).token
    },
  })
}

const program = new Command('portcullis')
  .description('Command line of Portcullis')
  .option('--server <url>', 'address of the server', `http://127.0.0.1:${variable('PORTCULLIS_PORT') || 8080}`)
  .option('--token-file <path>', 'file that contains an API token')
  .option('--token <token>', 'API token; other users of this machine can see it while the command runs')
  .option('--user <name>', 'account to sign in with, for operations that API tokens cannot perform')
  .option(
    '--password-file <path>',
    'file that contains the password of --user, or - for standard input (default: prompt)',
  )
  .option('--code <code>', 'verification code from the authenticator app of --user (default: prompt)')
  .option('--json', 'print the response as JSON')

const show = (answer: unknown, text: () => string): void => {
  print(program.opts().json ? JSON.stringify(answer) : text())
}

program
  .command('status')
  .description('shows the status of the server and its parts')
  .action(async () => {
    const client = clientOf(program.opts())
    const [status, parts] = await Promise.all([
      client.get<SystemStatus>(systemStatus.path),
      client.get<Subsystem[]>(subsystemHealth.path),
    ])
    show({ ...status, subsystems: parts }, () =>
      [
        `${status.status}: version ${status.version}, ${status.agents.connected} of ${status.agents.total} hosts connected, ${status.checkInsPerSecond} check-ins/s`,
        table(
          ['part', 'status', 'details'],
          parts.map((part) => [part.name, part.status, part.description]),
        ),
        ...parts
          .filter((part) => part.status === 'Warning' || part.status === 'Error')
          .map((part) => `${part.name}: ${part.whatToDo}`),
      ].join('\n'),
    )
  })

const agents = program.command('agents').description('hosts')
agents
  .command('list')
  .description(`lists hosts; filters: ${Object.keys(agentFilters).join(', ')}`)
  .option('--filter <name=value...>', 'filters, for example Status=Disconnected')
  .option('--search <text>', 'text in names, addresses, systems, versions and tags')
  .option('--sort <column>', 'sort order, for example riskScore_desc')
  .option('--page <number>', 'number of the page', '1')
  .option('--size <number>', 'rows per page', '50')
  .action(async (options: OptionValues) => {
    const filters = ((options.filter ?? []) as string[]).map((text): [string, string] => {
      const at = text.indexOf('=')
      if (at < 1) throw new CliError(`--filter must have the form name=value, not "${text}".`)
      return [text.slice(0, at), text.slice(at + 1)]
    })
    const answer = await clientOf(program.opts()).get<{ recordsFiltered: number; recordsTotal: number; data: Agent[] }>(
      getAgents.path,
      {
        ...Object.fromEntries(filters),
        GlobalSearch: options.search,
        SortBy: options.sort,
        PageNumber: options.page,
        PageSize: options.size,
      },
    )
    show(answer, () =>
      [
        table(
          ['host', 'address', 'status', 'severity', 'risk', 'system', 'tags', 'uuid'],
          answer.data.map((a) => [
            a.hostIdentifier,
            a.localIpAddress,
            a.displayStatusCombined === a.operationalStatus
              ? a.displayStatusCombined
              : `${a.displayStatusCombined}, ${a.operationalStatus.toLowerCase()}`,
            a.severity,
            a.riskScore,
            a.osVersion,
            a.hashtags,
            a.uuid,
          ]),
        ),
        `${answer.data.length} of ${answer.recordsFiltered} matching hosts (${answer.recordsTotal} in total)`,
      ].join('\n'),
    )
  })

/** Returns the names in a file, one a line, without empty lines and comments. */
const namesIn = (path: string): string[] =>
  readFileSync(path, 'utf8')
    .split('\n')
    .map((line) => line.replace(/#.*/, '').trim())
    .filter((line) => line !== '')

const enrolment = program.command('enrolment').description('enrolment of hosts')
enrolment
  .command('create-token')
  .description('creates an enrolment token and prints the command to run on a host')
  .requiredOption('--name <name>', 'name of the token')
  .option('--hours <number>', 'hours until it expires', '1')
  .option('--uses <number>', 'number of hosts that it can enrol (default: 1, or the number of names in the file)')
  .option('--tag <name...>', 'tags of the hosts that it enrols')
  .option('--hosts-file <file>', 'file with the host names that can enrol, one a line, each once')
  .action(async (options: OptionValues) => {
    const hosts = options.hostsFile === undefined ? undefined : namesIn(options.hostsFile as string)
    const answer = await clientOf(program.opts()).post<{ token: string; command: string; expiresAt: string }>(
      createEnrollmentToken.path,
      {
        name: options.name,
        expiresInHours: Number(options.hours),
        ...(hosts === undefined || options.uses !== undefined ? { maxUses: Number(options.uses ?? 1) } : {}),
        hashtags: options.tag ?? [],
        ...(hosts === undefined ? {} : { hostIdentifiers: hosts }),
      },
    )
    show(
      answer,
      () =>
        `Token    ${plain(answer.token)}\nExpires  ${plain(answer.expiresAt)}\n\nRun this command as root on the host, and enter the token when asked:\n${answer.command}`,
    )
  })

const terminal: Terminal = { client: () => clientOf(program.opts()), show }
registerAuditCommands(program, terminal)
registerKnowledgeCommands(program, terminal)
registerPackageCommands(program, terminal)
registerReleaseKeyCommands(program, terminal)
registerKeysCommands(program, terminal)
registerConfigCommands(program, terminal)
registerBackupCommands(program, terminal)
registerCommandKeyCommands(program)
registerDatabaseCommands(program)
registerLicenceCommands(program, terminal)

program
  .command('doctor')
  .description('checks this installation, even if the server is stopped; runs on the server and sends no secrets')
  .option('--bundle <file>', 'also write a support bundle (.tar.gz) without secrets, names and addresses')
  .option('--include-personal-data', 'keep names and addresses in the bundle; secrets are removed in any case')
  .action(({ bundle, includePersonalData }: OptionValues) =>
    runEntry(
      'doctor',
      argumentsOf({ json: program.opts().json, bundle, 'include-personal-data': includePersonalData }),
    ),
  )

const onServer = program.command('admin').description('recovery commands that run on the server')
/** Returns the account of a command. `--user` is an option of the program, which parses it before any command. */
const accountOr = (fallback?: string): string => {
  const user: unknown = program.opts().user ?? fallback
  if (typeof user !== 'string') throw new CliError('Set the account with --user <name>.')
  return user
}
onServer
  .command('reset-password')
  .description(
    'enables the account --user (default: admin) and creates a link to set its new password; stop the server first',
  )
  .option('--revoke-tokens', 'revoke all API tokens of the account; without it, they keep working')
  .action((options: OptionValues) =>
    recover('reset-password', { user: accountOr('admin'), 'revoke-tokens': options.revokeTokens }),
  )
onServer
  .command('lift-suspension')
  .description('lifts the suspension of the account --user; the server can keep running')
  .action(() => recover('lift-suspension', { user: accountOr() }))
onServer
  .command('reset-second-factor')
  .description(
    'removes the authenticator app, passkeys and recovery codes of the account --user; ends its sessions; the server can keep running',
  )
  .action(() => recover('reset-second-factor', { user: accountOr() }))
onServer
  .command('exempt-second-factor')
  .description(
    'lets the account --user sign in without a required second factor for a limited time; the server can keep running',
  )
  .option('--hours <n>', 'number of hours, 1 to 168', '24')
  .action((options: OptionValues) => recover('exempt-second-factor', { user: accountOr(), hours: options.hours }))

onServer
  .command('lift-second-approver')
  .description(
    'lets one person act without a second approver for a limited time, if no second approver exists; stop the server first',
  )
  .option('--minutes <n>', 'number of minutes, 1 to 1440', '60')
  .action((options: OptionValues) => recover('lift-second-approver', { minutes: options.minutes }))

onServer
  .command('accept-rules')
  .description(
    'lists rules that were changed in the database, and with --yes accepts the rules as they are stored; stop the server first',
  )
  .option('--yes', 'accept the rules')
  .action((options: OptionValues) => recover('accept-rules', { yes: options.yes }))

const fail = (error: unknown): void => {
  process.stderr.write(`${error instanceof CliError ? error.message : String((error as Error).stack ?? error)}\n`)
  process.exitCode = error instanceof WaitsForApprover ? waitingExitCode : 1
}

// Not commander's version option, because that would take the option --version away from `package sign`.
const asksVersion = process.argv.length === 3 && process.argv[2] === '--version'
if (asksVersion) print(packageFile.version)
else
  program
    .parseAsync()
    .catch(fail)
    // Signs out if the command opened a session.
    .then(async () => (await session?.catch(() => null))?.signOut())
    .catch(fail)
