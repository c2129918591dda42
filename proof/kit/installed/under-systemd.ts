import { eventually, type Vm } from '../kernel/vm.ts'

/**
 * Shell functions that talk to the server. They start no program: emulated, each start of Node takes seconds.
 *
 * http METHOD PATH [TOKEN [BODY]] prints the head and the body of the answer.
 */
const HTTP = `http() {
  exec 3<>/dev/tcp/127.0.0.1/8080 || return 1
  printf '%s %s HTTP/1.0\\r\\nHost: localhost\\r\\nAuthorization: Bearer %s\\r\\nContent-Type: application/json\\r\\nContent-Length: %s\\r\\n\\r\\n%s' \\
    "$1" "$2" "\${3-}" "\${#4}" "\${4-}" >&3
  cat <&3
  exec 3<&-
}
`

/** Time limit for a state of a service. An emulated server takes one to two minutes to start, and longer under load. */
const STATE_MS = 400_000

export const UNITS = ['portcullis.service', 'portcullis-agent.service'] as const
export type Unit = (typeof UNITS)[number]

const linesOf = (text: string): string[] => text.split('\n').filter((line) => line.trim() !== '')

/** Returns functions that ask the systemd of a booted system about the units of the packages. */
export const servicesOf = (vm: Vm) => {
  const property = async (unit: Unit, name: string): Promise<string> =>
    vm.run(`systemctl show --property=${name} --value ${unit}`)
  const isReady = async (): Promise<boolean> => {
    const { code, output } = await vm.attempt(`${HTTP}http GET /readyz 2>/dev/null | head -n 1`)
    return code === 0 && output.includes(' 200 ')
  }
  /** Signs in as the administrator. */
  const signIn = async (): Promise<string> => {
    const body = '{"username":"admin","password":"correct horse battery staple"}'
    const answer = await vm.run(`${HTTP}http POST /prime/webui/Auth/LocalLogin '' '${body}'`)
    const token = /"token":"([^"]+)"/.exec(answer)?.[1]
    if (token === undefined) throw new Error(`cannot sign in: ${answer}`)
    return token
  }
  return {
    property,
    /** Waits until both units are active, and returns the time since the start of the kernel in seconds. */
    bothActive: async (): Promise<number> => {
      await eventually(
        'both units are active',
        async () => (await vm.attempt(`systemctl is-active ${UNITS.join(' ')}`)).output === 'active\nactive\n',
        STATE_MS,
      )
      return Number((await vm.run('cat /proc/uptime')).split(' ')[0])
    },
    /** Waits until the server serves, and returns the milliseconds. */
    ready: async (): Promise<number> => (await eventually('the server is ready', isReady, STATE_MS)).ms,
    signIn,
    /** Returns the time of the last check-in of the only host. */
    lastCheckIn: async (token: string): Promise<string> => {
      const answer = await vm.run(`${HTTP}http GET /prime/webui/agents '${token}'`)
      return /"lastUpdated":"([^"]+)"/.exec(answer)?.[1] ?? `none: ${answer}`
    },
    /** Returns true when systemd has started the killed unit again. */
    restarted: async (unit: Unit): Promise<boolean> => {
      const isOver = async (): Promise<boolean> => {
        const state = await property(unit, 'ActiveState')
        return state === 'failed' || (state === 'active' && (await property(unit, 'NRestarts')) !== '0')
      }
      await eventually(`${unit} runs again or has failed`, isOver, STATE_MS)
      return (await property(unit, 'ActiveState')) === 'active'
    },
    /** Returns the number of lines that `systemd-analyze verify` prints for the units. */
    complaints: async (): Promise<number> =>
      linesOf((await vm.attempt(`systemd-analyze verify ${UNITS.join(' ')}`)).output).length,
    /** Returns the exposure of the unit, from 0 (closed) to 10 (open). */
    exposure: async (unit: Unit): Promise<number> => {
      const report = await vm.run(`systemd-analyze security --no-pager ${unit} | tail -n 1`)
      return Number(/: ([0-9.]+) /.exec(report)?.[1] ?? Number.NaN)
    },
    /** Returns the number of errors that the units logged. */
    errors: async (): Promise<number> => {
      const units = UNITS.map((unit) => `-u ${unit}`).join(' ')
      const pattern = `"level":([56]0|"(error|fatal)")`
      return linesOf(await vm.run(`journalctl --no-pager -o cat ${units} | grep -E '${pattern}' || true`)).length
    },
    /** Stops the units, and returns the number of those that did not end in time or by themselves. */
    failedStops: async (): Promise<number> => {
      await vm.run(`systemctl stop ${UNITS.join(' ')}`, STATE_MS)
      return linesOf(await vm.run(`systemctl list-units --failed --no-legend ${UNITS.join(' ')}`)).length
    },
  }
}
