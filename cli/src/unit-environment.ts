import { readdirSync, readFileSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'

type Environment = Readonly<Record<string, string | undefined>>

/** Directories of units, the most important first (systemd.unit(5)). */
const unitDirs = [
  '/etc/systemd/system',
  '/run/systemd/system',
  '/usr/local/lib/systemd/system',
  '/usr/lib/systemd/system',
]
const taken =
  /^(?:PORTCULLIS_[A-Z0-9_]+|OTEL_[A-Z0-9_]+|DATABASE_URL|DATABASE_URL_FILE|NATS_URL|NATS_URL_FILE|KAFKA_BROKERS)$/

export interface UnitEnvironment {
  variables: Record<string, string>
  /** Existing files that this user cannot read. */
  unread: string[]
}

interface Settings {
  environment: Map<string, string>
  files: string[]
  credentials: Map<string, string>
}

/** Returns the lines of the section [Service], with continued lines joined. */
const serviceLines = (text: string): [name: string, value: string][] => {
  const lines: [string, string][] = []
  let section = ''
  let open = ''
  for (const line of text.split('\n')) {
    const trimmed = line.trim()
    if (trimmed.startsWith('#') || trimmed.startsWith(';')) continue
    if (trimmed.endsWith('\\')) {
      open += `${trimmed.slice(0, -1)} `
      continue
    }
    const full = (open + trimmed).trim()
    open = ''
    if (full.startsWith('[')) section = full
    const at = full.indexOf('=')
    if (section === '[Service]' && at > 0) lines.push([full.slice(0, at).trim(), full.slice(at + 1).trim()])
  }
  return lines
}

/** Splits a setting into words. Quotes may surround a word or its value. */
const wordsOf = (text: string): string[] =>
  (text.match(/(?:"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|\\.|[^\s"'\\])+/g) ?? []).map((word) =>
    word.replace(/"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|\\(.)/g, (_all, double, single, escaped) =>
      (double ?? single ?? escaped).replace(/\\(.)/g, '$1'),
    ),
  )

/** Expands specifiers. Returns null if the text has one whose value only systemd knows. */
const expanded = (text: string, unit: string): string | null => {
  const name = unit.replace(/\.[^.]+$/, '')
  const known: Record<string, string> = {
    '%': '%',
    d: `/run/credentials/${unit}`,
    n: unit,
    N: name,
    p: name.split('@', 1)[0] ?? '',
    t: '/run',
    S: '/var/lib',
    C: '/var/cache',
    L: '/var/log',
    E: '/etc',
  }
  let isKnown = true
  const result = text.replace(/%(.?)/g, (_all, letter: string) => {
    isKnown &&= letter in known
    return known[letter] ?? ''
  })
  return isKnown ? result : null
}

const isReadable = (path: string): boolean => {
  try {
    readFileSync(path)
    return true
  } catch {
    return false
  }
}

/** Returns the variables of an environment file (systemd.exec(5), EnvironmentFile). Nothing in it is executed. */
const variablesIn = (text: string): [name: string, value: string][] =>
  text.split('\n').flatMap((line): [string, string][] => {
    const [, name, value = ''] = /^\s*([A-Z0-9_]+)=(.*)$/.exec(line) ?? []
    const trimmed = value.trim()
    return name === undefined ? [] : [[name, /^"(.*)"$|^'(.*)'$/.exec(trimmed)?.slice(1).find(Boolean) ?? trimmed]]
  })

/**
 * Returns the environment that systemd gives a service, from its unit, drop-ins and environment files. Reads the files
 * instead of asking systemd, because containers and recovery systems have no systemd.
 *
 * @param unit name such as `portcullis.service`, or the path of a unit file whose drop-ins are beside it
 */
export const unitEnvironment = (unit: string): UnitEnvironment => {
  const name = basename(unit)
  const dirs = isAbsolute(unit) ? [dirname(unit)] : unitDirs
  const unread: string[] = []
  const read = (path: string): string | null => {
    try {
      return readFileSync(path, 'utf8')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') unread.push(path)
      return null
    }
  }
  const dropIns = new Map<string, string>()
  for (const dir of dirs)
    for (const file of filesIn(join(dir, `${name}.d`), unread))
      if (file.endsWith('.conf') && !dropIns.has(file)) dropIns.set(file, join(dir, `${name}.d`, file))
  const settings: Settings = { environment: new Map(), files: [], credentials: new Map() }
  for (const dir of dirs) {
    const text = read(join(dir, name))
    if (text === null) continue
    apply(settings, text, name)
    break
  }
  for (const [, path] of [...dropIns].sort(([a], [b]) => (a < b ? -1 : 1))) apply(settings, read(path) ?? '', name)
  for (const file of settings.files)
    for (const [key, value] of variablesIn(read(file) ?? '')) settings.environment.set(key, value)
  const variables: Record<string, string> = {}
  for (const [key, value] of settings.environment) {
    // The directory of credentials exists only while the service runs.
    const credential = value.startsWith(`/run/credentials/${name}/`)
      ? settings.credentials.get(basename(value))
      : undefined
    if (taken.test(key)) variables[key] = credential !== undefined && !isReadable(value) ? credential : value
  }
  return { variables, unread }
}

const filesIn = (dir: string, unread: string[]): string[] => {
  try {
    return readdirSync(dir)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') unread.push(dir)
    return []
  }
}

/** Applies the settings of one file. An empty value removes the earlier ones. */
function apply({ environment, files, credentials }: Settings, text: string, unit: string): void {
  for (const [name, value] of serviceLines(text)) {
    if (name === 'Environment') {
      if (value === '') environment.clear()
      for (const word of wordsOf(value)) {
        const [, key, given] = /^([A-Za-z0-9_]+)=(.*)$/s.exec(word) ?? []
        const result = key === undefined ? null : expanded(given ?? '', unit)
        if (key !== undefined && result !== null) environment.set(key, result)
      }
    } else if (name === 'EnvironmentFile') {
      if (value === '') files.length = 0
      const path = expanded(value.replace(/^-/, ''), unit)
      if (path !== null && isAbsolute(path)) files.push(path)
    } else if (name === 'LoadCredential') {
      if (value === '') credentials.clear()
      const [, id, path] = /^([^:]+):(\/.*)$/.exec(value) ?? []
      const result = path === undefined ? null : expanded(path, unit)
      if (id !== undefined && result !== null) credentials.set(id, result)
    }
  }
}

/**
 * Returns the variables of the service that the caller has not set. A variable of the caller also takes precedence over
 * the file of the same secret.
 */
export const missingVariables = (
  env: Environment,
  variables: Readonly<Record<string, string>>,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(variables).filter(([name]) => {
      const other = name.endsWith('_FILE') ? name.slice(0, -'_FILE'.length) : `${name}_FILE`
      return env[name] === undefined && env[other] === undefined
    }),
  )
