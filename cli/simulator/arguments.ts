import { parseArgs } from 'node:util'

/** What a run is asked to do. */
export interface SimulatorArguments {
  server: URL
  /** Enrolment tokens by department; `''` is for every other host. */
  tokens: ReadonlyMap<string, string>
  agents: number
  intervalSeconds: number
  /** Infinity: until it is stopped. */
  durationSeconds: number
  json: boolean
  /** Devices plugged in or taken away per second over the fleet; undefined: one per host in ten minutes. */
  plugRate: number | undefined
  seed: number
  /** Hosts that hold a wake socket, so that commands reach them at once. */
  wakeSockets: number
  /** File that keeps the identities of the fleet; undefined: they end with the run. */
  stateFile: string | undefined
}

/** The command line is not usable; the message is for the person who typed it. */
export class UsageError extends Error {}

export const usage = `Usage: npm run simulate -- --server URL --token T --agents N --interval S --duration S [options]

  --server URL       address of the server
  --token T          enrolment token; again as --token NAME=T for the hosts of one department
                     (office, engineering, sales, finance, kiosk, lab, server)
  --agents N         hosts to simulate
  --interval S       seconds between check-ins of a host, whatever the server names
  --duration S       seconds to run once all hosts are enrolled; 0: until it is stopped
  --plug-rate R      devices plugged in or taken away per second, over all hosts (default: agents / 600)
  --wake N           hosts that hold a wake socket and take commands at once (default 1000)
  --seed N           another fleet (default 1)
  --state FILE       keep the identities: the next run with this file is the same fleet
  --json             last line of output: the result as one JSON object`

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

const tokensOf = (given: readonly string[]): Map<string, string> => {
  const tokens = new Map<string, string>()
  for (const text of given) {
    const named = /^([a-z]+)=(.+)$/.exec(text)
    tokens.set(named?.[1] ?? '', named?.[2] ?? text)
  }
  if (tokens.size === 0) throw new UsageError('--token is missing.')
  return tokens
}

/** Reads the command line. @throws UsageError */
export const readArguments = (args: readonly string[]): SimulatorArguments => {
  const string = { type: 'string' } as const
  const read = () =>
    parseArgs({
      args: [...args],
      options: {
        server: string,
        token: { type: 'string', multiple: true },
        agents: string,
        interval: string,
        duration: string,
        'plug-rate': string,
        wake: string,
        seed: string,
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
    tokens: tokensOf(values.token ?? []),
    agents: whole('agents', values.agents, 1, 1_000_000),
    intervalSeconds: number('interval', values.interval ?? '60', 0.01, 86_400),
    durationSeconds: duration === 0 ? Number.POSITIVE_INFINITY : duration,
    json: values.json === true,
    plugRate: values['plug-rate'] === undefined ? undefined : number('plug-rate', values['plug-rate'], 0, 100_000),
    wakeSockets: whole('wake', values.wake ?? '1000', 0, 1_000_000),
    seed: whole('seed', values.seed ?? '1', 0, 4_294_967_295),
    stateFile: values.state,
  }
}
