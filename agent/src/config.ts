import { existsSync, readFileSync, readSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { cannotStart, messageOf } from './exit.ts'
import { type LogLevel, logLevels } from './log.ts'

const commandNames = ['run', 'status', 'restore', 'release'] as const
type AgentCommandName = (typeof commandNames)[number]

/** What the agent was told at its start. */
export interface AgentConfig {
  command: AgentCommandName | 'version' | 'help'
  /** Base address of the server; undefined: the one of the enrolment. */
  server: URL | undefined
  /** Enrolment token; needed only by a host that is not enrolled. */
  token: string | undefined
  stateDir: string
  /** Stands for `/sys`. */
  sysfsRoot: string
  /** Stands for `/proc`. */
  procRoot: string
  /** Stands for `/etc` (machine-id, os-release, hostname). */
  etcRoot: string
  once: boolean
  /** Program and arguments of the kernel event monitor; undefined: poll only. */
  monitorCommand: readonly string[] | undefined
  /** Program and arguments that show the text on standard input to the user of the host; undefined: nobody is told. */
  notifyCommand: readonly string[] | undefined
  /** Where users of the host may read what is blocked, when the directory is there. */
  publicDir: string | undefined
  /** The installed executable, which an update replaces; undefined: this very program when it is one. */
  executable: string | undefined
  allowInsecureHttp: boolean
  logLevel: LogLevel
}

export const usage = `portcullis-agent: tells a Portcullis server which USB devices this host has.

  portcullis-agent [options]          run
  portcullis-agent status [options]   print the state of the agent, and what it keeps from working
  portcullis-agent release [options]  free this host: lift every block (root)
  portcullis-agent restore [options]  after a crash: new devices work again, as before arming
  portcullis-agent --version

  --server URL             address of the server (needed until the host is enrolled)
  --token-file FILE        file with the enrolment token (needed until the host is enrolled); "-": asks for it, or reads
                           it from standard input
  --token TOKEN            the token itself; for tests only, because every user of the host can read arguments
  --state-dir DIR          keys, spool, log (default /var/lib/portcullis-agent)
  --once                   one complete exchange, then exit 0
  --sysfs-root DIR         stands for /sys
  --proc-root DIR          stands for /proc
  --etc-root DIR           stands for /etc
  --monitor-command CMD    kernel event monitor, run without a shell; "none": poll only
  --notify-command CMD     shows the text on its standard input to the user when a device is blocked, run without a
                           shell (default: wall, where there is one); "none": nobody is told
  --public-dir DIR         where users may read what is blocked (default /run/portcullis-agent, when it is there)
  --executable FILE        what an update replaces (default: the agent itself, when it is an executable)
  --insecure-http          allow http to another machine
  --log-level LEVEL        debug, info (default), warn, error

Every option but --once can be given as PORTCULLIS_AGENT_<OPTION>, for example PORTCULLIS_AGENT_STATE_DIR.
Exit codes: 0 done, 1 cannot start, 2 enrolment refused, 3 revoked by the server.
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
  'insecure-http': { type: 'boolean' },
  once: { type: 'boolean' },
  version: { type: 'boolean' },
  help: { type: 'boolean' },
} as const

const PREFIX = 'PORTCULLIS_AGENT_'
const envNames = [
  'server',
  'token',
  'token-file',
  'state-dir',
  'sysfs-root',
  'etc-root',
  'proc-root',
  'notify-command',
  'executable',
  'public-dir',
  'monitor-command',
  'log-level',
  'insecure-http',
] as const
type EnvName = (typeof envNames)[number]

const envKey = (name: EnvName): string => PREFIX + name.toUpperCase().replaceAll('-', '_')

const parseServer = (value: string): URL => {
  const url = URL.canParse(value) ? new URL(value) : undefined
  if (url === undefined || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw cannotStart(
      `The server address has to be like https://portcullis.example.org:8443, not ${JSON.stringify(value)}.`,
    )
  }
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '') {
    throw cannotStart('The server address holds more than scheme, host, port and path.')
  }
  return url
}

/** The first line of standard input. */
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

const readToken = (path: string): string => {
  try {
    return (path === '-' ? readLine() : readFileSync(path, 'utf8')).trim()
  } catch (error) {
    throw cannotStart(`The token file cannot be read: ${messageOf(error)}.`)
  }
}

const parseToken = (value: string | undefined): string | undefined => {
  if (value === undefined || value === '') return undefined
  // The protocol's bound; anything but printable ASCII is a slip of copy and paste.
  if (value.length > 512 || !/^[!-~]+$/.test(value))
    throw cannotStart('The enrolment token is not whole: copy it anew from the console.')
  return value
}

const isTrue = (value: string | undefined): boolean => value === '1' || value === 'true' || value === 'yes'

const parseWords = (value: string): readonly string[] | undefined => {
  const words = value.split(/\s+/).filter((word) => word !== '')
  return words.length === 0 || value.trim() === 'none' ? undefined : words
}

/** Kernel events describe the running kernel's `/sys`; another tree is polled unless a command was named for it. */
const parseMonitor = (value: string | undefined, sysfsRoot: string): readonly string[] | undefined =>
  value === undefined
    ? sysfsRoot === '/sys'
      ? ['udevadm', 'monitor', '--kernel', '--subsystem-match=usb', '--subsystem-match=hid']
      : undefined
    : parseWords(value)

/** Another tree than /sys is a test or an experiment: nobody at the terminals is to hear of it unasked. */
const parseNotify = (value: string | undefined, sysfsRoot: string): readonly string[] | undefined => {
  if (value !== undefined) return parseWords(value)
  const wall = ['/usr/bin/wall', '/bin/wall'].find((path) => existsSync(path))
  return sysfsRoot !== '/sys' || wall === undefined ? undefined : [wall]
}

const parse = (argv: readonly string[]) => {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true })
  } catch (error) {
    throw cannotStart(`${messageOf(error)} See --help.`)
  }
}

/**
 * Reads arguments, then the environment for what they do not say.
 *
 * @throws AgentExit(1) with one sentence on what is wrong
 */
export const loadConfig = (argv: readonly string[], env: Readonly<Record<string, string | undefined>>): AgentConfig => {
  const { values, positionals } = parse(argv)
  const known = new Set(envNames.map(envKey))
  const unknown = Object.keys(env).find((key) => key.startsWith(PREFIX) && !known.has(key))
  if (unknown !== undefined) throw cannotStart(`${unknown} is not a setting of the agent.`)
  const [word = 'run', ...more] = positionals
  const command = commandNames.find((name) => name === word)
  if (command === undefined || more.length > 0)
    throw cannotStart(`Unknown command ${JSON.stringify(positionals.join(' '))}. See --help.`)

  const setting = (name: Exclude<EnvName, 'insecure-http'>): string | undefined =>
    values[name] ?? (env[envKey(name)] || undefined)
  const tokenFile = setting('token-file')
  const server = setting('server')
  const sysfsRoot = setting('sysfs-root') ?? '/sys'
  const logLevel = logLevels.find((level) => level === (setting('log-level') ?? 'info'))
  if (logLevel === undefined) throw cannotStart(`The log level is one of ${logLevels.join(', ')}.`)
  return {
    command: values.help ? 'help' : values.version ? 'version' : command,
    server: server === undefined ? undefined : parseServer(server),
    token: parseToken(setting('token') ?? (tokenFile === undefined ? undefined : readToken(tokenFile))),
    stateDir: setting('state-dir') ?? '/var/lib/portcullis-agent',
    sysfsRoot,
    procRoot: setting('proc-root') ?? '/proc',
    etcRoot: setting('etc-root') ?? '/etc',
    once: values.once ?? false,
    monitorCommand: parseMonitor(setting('monitor-command'), sysfsRoot),
    notifyCommand: parseNotify(setting('notify-command'), sysfsRoot),
    publicDir: setting('public-dir') ?? (sysfsRoot === '/sys' ? '/run/portcullis-agent' : undefined),
    executable: setting('executable'),
    allowInsecureHttp: values['insecure-http'] ?? isTrue(env[envKey('insecure-http')]),
    logLevel,
  }
}
