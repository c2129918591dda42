/** The commands of the Windows installer. They write the settings and remove the files and values of the agent. */
import { spawnSync } from 'node:child_process'
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfigFile } from '../../config-file.ts'
import { cannotStart, messageOf } from '../../exit.ts'
import { readIfThere } from '../../files.ts'
import { sha256Hex } from '../../keys.ts'
import { parseProxy } from '../../proxy-config.ts'
import { BOOT_KEY } from './boot.ts'
import { restoreBefore } from './enforcement/restrictions.ts'
import { createReportEvent, registerEventSource, removeEventSource } from './event-log.ts'
import { loadKoffi } from './koffi.ts'
import { createPrepareStateDir } from './prepare-state-dir.ts'
import { createRegistry } from './registry.ts'
import { createRegistryApi } from './registry-api.ts'
import { relatedProducts } from './related-products.ts'
import { setUpService } from './service-setup.ts'
import { defaultStateDir } from './state-dir.ts'

type Environment = Readonly<Record<string, string | undefined>>

export const SERVICE_NAME = 'PortcullisAgent'

/** Start of an empty slot in the package. */
const EMPTY_SLOT = 'PORTCULLIS-SLOT-'
/** Number of values that the package passes, in the order of `parse`. */
const VALUES = 7

const isEnrolled = (stateDir: string): boolean => existsSync(join(stateDir, 'identity.json'))

const tokenFileOf = (stateDir: string): string => join(stateDir, 'token')

/** Deletes the token of an enrolled host, which no longer needs it. */
export const forgetToken = (stateDir: string): void => {
  const identity = readIfThere(join(stateDir, 'identity.json'))
  const token = readIfThere(tokenFileOf(stateDir))?.trim()
  if (identity === undefined || token === undefined) return
  // A different token is for a new enrolment, for example of a copied or removed host.
  if (identity.includes(sha256Hex(token))) rmSync(tokenFileOf(stateDir), { force: true })
}

/** Returns the value without the padding of a slot; undefined for an empty one. */
const given = (value: string | undefined): string | undefined => {
  const text = value?.trim() ?? ''
  return text === '' || text.startsWith(EMPTY_SLOT) ? undefined : text
}

const parseServer = (text: string | undefined): string | undefined => {
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || !['http:', 'https:'].includes(url.protocol) || url.hostname === '')
    throw cannotStart('SERVERURL is not an address. Use an address such as https://portcullis.example.org:8443.')
  if (url.username !== '' || url.password !== '' || url.search !== '' || url.hash !== '')
    throw cannotStart('SERVERURL may contain only scheme, host, port and path.')
  return text
}

const parseToken = (text: string | undefined): string | undefined => {
  if (text === undefined || (text.length <= 512 && /^pce_[\w.-]+$/.test(text))) return text
  throw cannotStart('TOKEN is not an enrolment token. Copy it again from the console.')
}

const parse = (values: readonly string[]) => {
  // A value that ends with a backslash or contains a quotation mark would shift the other values.
  if (values.length !== VALUES)
    throw cannotStart('An installer value contains a quotation mark or ends with a backslash. Correct the value.')
  const [server, token, presetServer, presetToken, proxy, noProxy, credentials] = values.map(given)
  // Values of a command line take precedence. A token belongs to its server.
  const source = server === undefined ? { server: presetServer, token: token ?? presetToken } : { server, token }
  // The agent reads the credentials when it starts.
  parseProxy({ url: proxy, credentialsFile: undefined, exceptions: noProxy, isPrivate: () => true })
  return {
    server: parseServer(source.server),
    token: parseToken(source.token),
    proxy,
    noProxy,
    credentials,
  }
}

type Settings = ReturnType<typeof parse>

/** Completes the settings of an installation. Returns undefined if those of the previous installation stay. */
const complete = (settings: Settings, stateDir: string): (Settings & { server: string }) | undefined => {
  const { server, token } = settings
  if (server === undefined) {
    if (existsSync(join(stateDir, 'agent.env'))) return undefined
    throw cannotStart('The address of the server is missing. Add SERVERURL=https://... to the command line of msiexec.')
  }
  if (token === undefined && !isEnrolled(stateDir))
    throw cannotStart('The enrolment token is missing. Add TOKEN=pce_... to the command line of msiexec.')
  return { ...settings, server }
}

/** Writes the settings. Keeps existing settings that the installer does not set. */
const write = ({ server, token, proxy, noProxy, credentials }: Settings, stateDir: string): void => {
  const file = join(stateDir, 'agent.env')
  const tokenFile = tokenFileOf(stateDir)
  const needsToken = token !== undefined && !isEnrolled(stateDir)
  const changes: Readonly<Record<string, string | undefined>> = {
    STATE_DIR: stateDir,
    SERVER: server,
    TOKEN_FILE: needsToken ? tokenFile : undefined,
    PROXY: proxy,
    NO_PROXY: noProxy,
    PROXY_CREDENTIALS_FILE: credentials,
  }
  const settings = new Map(Object.entries(readConfigFile(file)))
  for (const [name, value] of Object.entries(changes))
    if (value !== undefined) settings.set(`PORTCULLIS_AGENT_${name}`, value)
  if (needsToken) writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 })
  writeFileSync(file, [...settings].map(([name, value]) => `${name}=${value}\r\n`).join(''), { mode: 0o600 })
}

/** The changes of an installation to Windows, apart from its own files. */
export interface SetupDeps {
  /** Creates the state directory with access for SYSTEM and Administrators only. */
  prepareStateDir(dir: string): void
  /** Completes the service and registers the source of its events. */
  setUpService(): void
  /**
   * Frees the host, and removes what the agent wrote to the registry: restrictions, the source of its events.
   *
   * @param hasState whether the agent can use its state directory
   */
  cleanRegistry(hasState: boolean): void
  /** Returns the product codes of the installed versions. */
  relatedProducts(upgradeCode: string): string[]
  /** Writes an error to the event log. Windows Installer discards the output of programs. */
  reportError(message: string): void
}

/** EVENTLOG_ERROR_TYPE, and the number of the event in the documentation. */
const ERROR_TYPE = 1
const REFUSED_EVENT = 80
/** Time limit for freeing the host. Windows Installer waits for it. */
const RELEASE_MS = 60_000

const systemDeps = (): SetupDeps => {
  const koffi = loadKoffi()
  const registry = createRegistry(createRegistryApi(koffi))
  return {
    prepareStateDir: createPrepareStateDir(koffi),
    setUpService() {
      setUpService(koffi, registry, SERVICE_NAME, process.execPath)
      registerEventSource(registry)
    },
    cleanRegistry(hasState) {
      // The command of the agent also enables the devices that it disabled.
      const [, script = ''] = process.argv
      const args = [...process.execArgv, script, 'release']
      if (hasState) spawnSync(process.execPath, args, { stdio: 'ignore', timeout: RELEASE_MS })
      restoreBefore(registry)
      removeEventSource(registry)
      registry.removeTree(BOOT_KEY)
    },
    relatedProducts: (upgradeCode) => relatedProducts(koffi, upgradeCode),
    reportError: (message) => void createReportEvent(koffi)(ERROR_TYPE, REFUSED_EVENT, message),
  }
}

const configure = (values: readonly string[], stateDir: string, deps: SetupDeps): void => {
  try {
    const settings = complete(parse(values), stateDir)
    deps.setUpService()
    if (settings === undefined) return
    try {
      deps.prepareStateDir(stateDir)
    } catch (error) {
      throw cannotStart(`The state directory ${stateDir} cannot be used: ${messageOf(error)}.`)
    }
    write(settings, stateDir)
  } catch (error) {
    deps.reportError(`The installation was refused. ${messageOf(error)}`)
    throw error
  }
}

/**
 * Removes everything that the agent wrote. Does not touch a directory of another user, which could redirect it to other
 * files.
 */
const removeAll = (stateDir: string, deps: SetupDeps): void => {
  let isOurs = existsSync(stateDir)
  try {
    if (isOurs) deps.prepareStateDir(stateDir)
  } catch (error) {
    isOurs = false
    deps.reportError(`The state directory ${stateDir} was not removed: ${messageOf(error)}.`)
  }
  // Before the state is removed, because the agent needs it to free the host.
  deps.cleanRegistry(isOurs)
  if (isOurs) rmSync(stateDir, { recursive: true, force: true, maxRetries: 10 })
}

/**
 * Runs a command of the Windows installer. Returns false for other commands.
 *
 * - `configure` and values: writes the settings. A refusal changes no setting.
 * - `roll-back` and the upgrade code: removes the settings of an installation that failed, unless another version uses them.
 * - `purge` and the upgrade code: removes everything that the agent wrote, unless another version replaces this one.
 *
 * @throws AgentExit(1) with the reason, so that the installation is rolled back. It never contains a secret.
 */
export const runSetup = ([command, ...values]: readonly string[], env: Environment, create = systemDeps): boolean => {
  const stateDir = defaultStateDir(env)
  const [upgradeCode = ''] = values
  if (command === 'configure') configure(values, stateDir, create())
  else if (command === 'roll-back' || command === 'purge') {
    const deps = create()
    // Windows Installer registers a new version before it removes the old one.
    const remaining = deps.relatedProducts(upgradeCode).length - (command === 'purge' ? 1 : 0)
    if (remaining > 0) return true
    removeAll(stateDir, deps)
  } else return false
  return true
}
