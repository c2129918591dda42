import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { defaultMix, type Mix, type Platform, platforms } from './platforms.ts'

/** Parsed command line of the simulator. */
export interface SimulatorArguments {
  server: URL
  /** Enrolment tokens by department; `''` is for all other hosts. */
  tokens: ReadonlyMap<string, string>
  agents: number
  intervalSeconds: number
  /** Infinity runs until the simulator is stopped. */
  durationSeconds: number
  json: boolean
  /** Devices attached or removed per second in the fleet. If undefined, one per host in ten minutes. */
  plugRate: number | undefined
  seed: number
  /** Shares of the platforms. */
  mix: Mix
  /** Share of hosts that are offline from time to time, and report their changes afterwards. */
  offlineShare: number
  /** Number of hosts with a wake socket, which get commands at once. */
  wakeSockets: number
  /** File that stores the identities of the fleet. If undefined, they are not stored. */
  stateFile: string | undefined
}

/** The command line is invalid. The message is for the operator. */
export class UsageError extends Error {}

export const usage = `Usage: npm run simulate -- --server URL --token-file FILE --agents N --interval S --duration S [options]

  --server URL       address of the server
  --token-file FILE  file with the enrolment token; repeat as --token-file NAME=FILE for the hosts of one department
                     (office, engineering, sales, finance, kiosk, lab, server)
  --token T          the token itself, or NAME=T; npm prints it, and other users see it in the list of processes
  --agents N         number of hosts to simulate
  --interval S       seconds between check-ins of a host; overrides the interval of the server
  --duration S       seconds to run after all hosts are enrolled; 0 runs until stopped
  --plug-rate R      devices attached or removed per second over all hosts (default: agents / 600)
  --wake N           number of hosts with a wake socket, which get commands at once (default: 1000)
  --mix LIST         shares of the platforms (default: windows=20,linux=70,macos=10); absent ones have none
  --offline SHARE    share of hosts that are offline for a quarter of the time and report their changes afterwards,
                     0 to 1 (default: 0.02)
  --seed N           seed of the fleet; another seed gives another fleet (default: 1)
  --state FILE       file for the identities; the next run with this file is the same fleet
  --json             print the result as one JSON object in the last line`

const number = (name: string, text: string | undefined, min: number, max: number): number => {
  const value = Number(text)
  if (text === undefined || text.trim() === '' || !(value >= min && value <= max))
    throw new UsageError(`--${name} must be a number from ${min} to ${max}.`)
  return value
}

const whole = (name: string, text: string | undefined, min: number, max: number): number => {
  const value = number(name, text, min, max)
  if (!Number.isInteger(value)) throw new UsageError(`--${name} must be a whole number.`)
  return value
}

const readToken = (file: string): string => {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new UsageError(`The file of --token-file cannot be read: ${(error as Error).message}`)
  }
}

const tokensOf = (given: readonly string[], files: readonly string[]): Map<string, string> => {
  const tokens = new Map<string, string>()
  for (const [texts, read] of [
    [given, (text: string) => text],
    [files, readToken],
  ] as const)
    for (const text of texts) {
      const named = /^([a-z]+)=(.+)$/.exec(text)
      tokens.set(named?.[1] ?? '', read(named?.[2] ?? text))
    }
  if (tokens.size === 0)
    throw new UsageError('--token-file is missing. Create an enrolment token in the console and save it in a file.')
  return tokens
}

const mixOf = (text: string | undefined): Mix => {
  if (text === undefined) return defaultMix
  const mix: Record<Platform, number> = { windows: 0, linux: 0, macos: 0 }
  for (const part of text.split(',')) {
    const [name = '', share] = part.split('=')
    const platform = platforms.find((one) => one === name.trim())
    if (platform === undefined)
      throw new UsageError(`Unknown platform "${name}" in --mix. Use ${platforms.join(', ')}.`)
    mix[platform] = number('mix', share, 0, 1_000_000)
  }
  if (mix.windows + mix.linux + mix.macos === 0) throw new UsageError('--mix needs a platform with a share above 0.')
  return mix
}

/** Parses the command line. @throws UsageError */
export const readArguments = (args: readonly string[]): SimulatorArguments => {
  const string = { type: 'string' } as const
  const read = () =>
    parseArgs({
      args: [...args],
      options: {
        server: string,
        token: { type: 'string', multiple: true },
        'token-file': { type: 'string', multiple: true },
        agents: string,
        interval: string,
        duration: string,
        'plug-rate': string,
        wake: string,
        seed: string,
        mix: string,
        offline: string,
        state: string,
        json: { type: 'boolean' },
      },
    }).values
  let values: ReturnType<typeof read>
  try {
    values = read()
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
  if (!URL.canParse(values.server ?? ''))
    throw new UsageError('--server must be an address like http://127.0.0.1:8080.')
  const server = new URL(values.server as string)
  if (!/^https?:$/.test(server.protocol)) throw new UsageError('--server must start with http:// or https://.')
  const duration = number('duration', values.duration ?? '0', 0, 31_536_000)
  return {
    server,
    tokens: tokensOf(values.token ?? [], values['token-file'] ?? []),
    agents: whole('agents', values.agents, 1, 1_000_000),
    intervalSeconds: number('interval', values.interval ?? '60', 0.01, 86_400),
    durationSeconds: duration === 0 ? Number.POSITIVE_INFINITY : duration,
    json: values.json === true,
    plugRate: values['plug-rate'] === undefined ? undefined : number('plug-rate', values['plug-rate'], 0, 100_000),
    wakeSockets: whole('wake', values.wake ?? '1000', 0, 1_000_000),
    seed: whole('seed', values.seed ?? '1', 0, 4_294_967_295),
    mix: mixOf(values.mix),
    offlineShare: number('offline', values.offline ?? '0.02', 0, 1),
    stateFile: values.state,
  }
}
