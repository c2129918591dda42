import { existsSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { readConfigFile } from './config-file.ts'
import { cannotStart, messageOf } from './exit.ts'
import { type LogLevel, logLevels } from './log.ts'
import { type System, type SystemSetting, type SystemSettings, systemSettings } from './platform/platform.ts'
import { parseProxy } from './proxy-config.ts'
import { readSecretFile } from './secret-file.ts'
import type { ProxySettings } from './transport/proxy.ts'

const commandNames = ['run', 'status', 'restore', 'release', 'select'] as const
type AgentCommandName = (typeof commandNames)[number]

/** Help for the settings that exist only on some operating systems. */
const systemUsage: Readonly<Record<SystemSetting, string>> = {
  'sysfs-root': '  --sysfs-root DIR         directory to use instead of /sys\n',
  'proc-root': '  --proc-root DIR          directory to use instead of /proc\n',
  'etc-root': '  --etc-root DIR           directory to use instead of /etc\n',
  'monitor-command': '  --monitor-command CMD    kernel event monitor, run without a shell; "none" polls instead\n',
  'notify-command': `\
  --notify-command CMD     program that shows the text on its standard input to the user when a device is blocked,
                           run without a shell (default: wall, if installed); "none" notifies no user
`,
  'public-dir': `\
  --public-dir DIR         where users can read which devices are blocked
                           (default /run/portcullis-agent, if it exists)
`,
}

/** Settings from the command line and the environment. */
export interface AgentConfig {
  command: AgentCommandName | 'version' | 'help'
  /** Base address of the server. If undefined, the agent uses the address of its enrolment. */
  server: URL | undefined
  /** Enrolment token. Only a host that is not enrolled needs it. */
  token: string | undefined
  stateDir: string
  /** Settings that only this operating system has, as given. */
  system: SystemSettings
  once: boolean
  /** The executable that an update replaces. If undefined, an update replaces the running executable. */
  executable: string | undefined
  /** Program of a package that starts the newest version. Updates are then stored beside the version of the package. */
  launcher: string | undefined
  /** Select a version to restore the defaults after another version ended. */
  isEnded: boolean
  allowInsecureHttp: boolean
  /** Proxy for connections to the server. If undefined, the agent connects directly. */
  proxy: ProxySettings | undefined
  logLevel: LogLevel
}

/** Returns the help text for an operating system. */
export const usage = ({
  stateDir,
  settings,
  commands = '',
}: System): string => `portcullis-agent: reports the USB devices of this host to a Portcullis server.

  portcullis-agent [options]          run the agent
  portcullis-agent status [options]   print the state of the agent and the devices it blocks
  portcullis-agent release [options]  free this host: unblock all devices (needs root)
  portcullis-agent restore [options]  after a crash: restore the kernel's defaults, so that new devices work
  portcullis-agent select [options]   print the path of the newest verified version, for the launcher of a package
${commands}  portcullis-agent --version          print the version

  --server URL             address of the server (required until the host is enrolled)
  --token-file FILE        file that contains the enrolment token (required until the host is enrolled);
                           "-" prompts for the token or reads it from standard input
  --token TOKEN            the enrolment token; for tests only, because every user of the host can read arguments
  --state-dir DIR          keys, spool, log (default ${stateDir})
  --proxy URL              HTTP proxy for connections to the server, for example http://proxy.example.org:3128
  --proxy-credentials-file FILE
                           file that contains user:password for basic authentication at the proxy
  --no-proxy LIST          hosts, .domains, addresses and networks to connect to without the proxy
  --once                   check in once, then exit with code 0
${settings.map((name) => systemUsage[name]).join('')}  --executable FILE        executable that an update replaces (default: the running executable)
  --launcher FILE          program that starts the newest version; the launcher of a package sets it
  --ended                  select the version that restores the defaults after another version ended
  --config FILE            configuration file: lines such as PORTCULLIS_AGENT_SERVER=https://portcullis.example.org
  --insecure-http          allow unencrypted http to another machine
  --log-level LEVEL        debug, info (default), warn or error

You can set every option except --once and --ended as PORTCULLIS_AGENT_<OPTION>, for example PORTCULLIS_AGENT_STATE_DIR,
in the environment or in the configuration file. Arguments take precedence, then the environment.
The agent ignores HTTPS_PROXY and NO_PROXY. The install script copies them to /etc/portcullis-agent/agent.env.
Exit codes: 0 success, 1 cannot start, 2 enrolment refused, 3 revoked by the server.
`

const options = {
  server: { type: 'string' },
  token: { type: 'string' },
  'token-file': { type: 'string' },
  'state-dir': { type: 'string' },
  'sysfs-root': { type: 'string' },
  'etc-root': { type: 'string' },
  'proc-root': { type: 'string' },
  'notify-command': { type: 'string' },
  executable: { type: 'string' },
  'public-dir': { type: 'string' },
  'monitor-command': { type: 'string' },
  'log-level': { type: 'string' },
  proxy: { type: 'string' },
  'proxy-credentials-file': { type: 'string' },
  'no-proxy': { type: 'string' },
  'insecure-http': { type: 'boolean' },
  launcher: { type: 'string' },
  config: { type: 'string' },
  ended: { type: 'boolean' },
  once: { type: 'boolean' },
  version: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

const PREFIX = 'PORTCULLIS_AGENT_'
type EnvName = Exclude<keyof typeof options, 'ended' | 'once' | 'version' | 'help'>
const envNames = Object.keys(options).filter(
  (name): name is EnvName => !['ended', 'once', 'version', 'help'].includes(name),
)

const envKey = (name: EnvName): string => PREFIX + name.toUpperCase().replaceAll('-', '_')

const parseServer = (value: string): URL => {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw cannotStart(
      `The server address ${JSON.stringify(value)} is invalid. Use an address such as https://portcullis.example.org:8443.`,
    )
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw cannotStart(
      'The server address may contain only scheme, host, port and path. Remove user name, password, query and fragment.',
    )
  }
  return url
}

/** Returns the first line of standard input. */
const readLine = (): string => {
  if (process.stdin.isTTY) process.stderr.write('Enrolment token: ')
  const chunk = Buffer.alloc(1024)
  let text = ''
  while (!text.includes('\n') && text.length <= 1024) {
    const size = readSync(0, chunk, 0, chunk.length, null)
    if (size === 0) break
    text += chunk.toString('latin1', 0, size)
  }
  return text.split('\n')[0] ?? ''
}

const readStandardInput = (): string => {
  try {
    return readLine()
  } catch (error) {
    throw cannotStart(`Cannot read the token from standard input: ${messageOf(error)}.`)
  }
}

/** Returns the token. A host that is enrolled does not need it, so it keeps running with a token file that is refused. */
const readToken = (path: string, stateDir: string, isPrivate: System['isPrivate']): string | undefined => {
  if (path === '-') return readStandardInput().trim()
  try {
    return readSecretFile(path, 'token file', isPrivate).trim()
  } catch (error) {
    if (!existsSync(join(stateDir, 'identity.json'))) throw error
    return undefined
  }
}

const parseToken = (value: string | undefined): string | undefined => {
  if (value === undefined || value === '') return undefined
  // The limit of the protocol. Other characters than printable ASCII come from copy and paste.
  if (value.length > 512 || !/^[!-~]+$/.test(value))
    throw cannotStart('The enrolment token is invalid or incomplete. Copy it again from the console.')
  return value
}

const isTrue = (value: string | undefined): boolean => value === '1' || value === 'true' || value === 'yes'

const parse = (argv: readonly string[]) => {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true })
  } catch (error) {
    // The second sentence of Node explains how to pass a positional argument, which no command has.
    const [reason] = messageOf(error).split('. ')
    throw cannotStart(`${reason?.replace(/\.$/, '')}. Run with --help for a list of options.`)
  }
}

/**
 * Reads the settings from the arguments, the environment and the configuration file. The first one takes precedence.
 *
 * @throws AgentExit(1) with the reason
 */
export const loadConfig = (
  argv: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
  system: System,
): AgentConfig => {
  const { values, positionals } = parse(argv)
  const configFile = values.config ?? environment[envKey('config')]
  const env = configFile === undefined ? environment : { ...readConfigFile(configFile), ...environment }
  const known = new Set(envNames.map(envKey))
  const unknown = Object.keys(env).find((key) => key.startsWith(PREFIX) && !known.has(key))
  if (unknown !== undefined) throw cannotStart(`The agent has no setting ${unknown}. Check its spelling or remove it.`)
  const [word = 'run', ...more] = positionals
  const command = commandNames.find((name) => name === word)
  if (command === undefined || more.length > 0)
    throw cannotStart(
      `Unknown command ${JSON.stringify(positionals.join(' '))}. Run with --help for a list of commands.`,
    )

  const foreign = systemSettings.find((name) => !system.settings.includes(name) && (values[name] ?? env[envKey(name)]))
  if (foreign !== undefined)
    throw cannotStart(`The setting --${foreign} does not exist on this operating system. Remove it.`)

  const setting = (name: Exclude<EnvName, 'insecure-http'>): string | undefined =>
    values[name] ?? (env[envKey(name)] || undefined)
  // Other commands connect to no server, and users who cannot read these files may run them.
  const connects = command === 'run'
  const tokenFile = connects ? setting('token-file') : undefined
  const server = setting('server')
  const stateDir = setting('state-dir') ?? system.stateDir
  const logLevel = logLevels.find((level) => level === (setting('log-level') ?? 'info'))
  if (logLevel === undefined) throw cannotStart(`Unknown log level. Use one of ${logLevels.join(', ')}.`)
  return {
    command: values.help ? 'help' : values.version ? 'version' : command,
    server: server === undefined ? undefined : parseServer(server),
    token: parseToken(
      setting('token') ?? (tokenFile === undefined ? undefined : readToken(tokenFile, stateDir, system.isPrivate)),
    ),
    stateDir,
    system: Object.fromEntries(
      systemSettings.flatMap((name) => {
        const value = setting(name)
        return value === undefined ? [] : [[name, value]]
      }),
    ),
    once: values.once ?? false,
    executable: setting('executable'),
    launcher: setting('launcher'),
    isEnded: values.ended ?? false,
    allowInsecureHttp: values['insecure-http'] ?? isTrue(env[envKey('insecure-http')]),
    proxy: parseProxy({
      url: setting('proxy'),
      credentialsFile: connects ? setting('proxy-credentials-file') : undefined,
      exceptions: setting('no-proxy'),
      isPrivate: system.isPrivate,
    }),
    logLevel,
  }
}
