/** Checks the settings that the Windows installer passes, and writes them to the files that the agent reads. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readConfigFile } from '../../config-file.ts'
import { checkAddress } from '../../enrol.ts'
import { cannotStart } from '../../exit.ts'
import { readIfThere } from '../../files.ts'
import { sha256Hex } from '../../keys.ts'
import { parseProxy } from '../../proxy-config.ts'
import { createState, NOT_ENROLLED } from '../../state.ts'

/** Start of an empty slot in the package. */
const EMPTY_SLOT = 'PORTCULLIS-SLOT-'
/** Number of values that the package passes, in the order of `parseSettings`. */
const VALUES = 7

/**
 * Returns whether the host has an identity in use. A new token never replaces it. A revoked host, a host that its
 * server does not know, and a copy of another host need a new token.
 */
const isEnrolled = (stateDir: string): boolean => {
  const state = createState(stateDir)
  try {
    const identity = state.identity()
    if (identity === undefined || identity.revoked !== undefined || identity.unknownSince !== undefined) return false
    return state.status()?.state !== NOT_ENROLLED
  } catch {
    // A damaged identity may still be valid for the server.
    return true
  }
}

const settingsFileOf = (stateDir: string): string => join(stateDir, 'agent.env')
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

/**
 * Checks the values that the installer passes. Does not read the settings of the host.
 *
 * @throws AgentExit(1) with the reason, which never contains a secret
 */
export const parseSettings = (values: readonly string[]) => {
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

type Settings = ReturnType<typeof parseSettings>

/** The settings to write, and whether the host keeps its identity and ignores a token. */
export interface CompleteSettings extends Settings {
  server: string
  isEnrolled: boolean
}

/**
 * Completes the settings with those of the host. Returns undefined if only the host has settings.
 *
 * @throws AgentExit(1) if the address or the token is missing, or if the agent would refuse the address
 */
export const completeSettings = (settings: Settings, stateDir: string): CompleteSettings | undefined => {
  const present = readConfigFile(settingsFileOf(stateDir))
  const server = settings.server ?? present.PORTCULLIS_AGENT_SERVER
  if (server === undefined)
    throw cannotStart('The address of the server is missing. Add SERVERURL=https://... to the command line of msiexec.')
  if (Object.values(settings).every((value) => value === undefined)) return undefined
  const enrolled = isEnrolled(stateDir)
  if (settings.server !== undefined) {
    if (settings.token === undefined && !enrolled)
      throw cannotStart('The enrolment token is missing. Add TOKEN=pce_... to the command line of msiexec.')
    checkAddress(new URL(server), /^(1|true|yes)$/.test(present.PORTCULLIS_AGENT_INSECURE_HTTP ?? ''))
  }
  return { ...settings, server, isEnrolled: enrolled }
}

/** Writes the settings. Keeps existing settings that the installer does not set. */
export const writeSettings = (
  { server, token, isEnrolled: enrolled, proxy, noProxy, credentials }: CompleteSettings,
  stateDir: string,
): void => {
  const file = settingsFileOf(stateDir)
  const needsToken = token !== undefined && !enrolled
  const changes: Readonly<Record<string, string | undefined>> = {
    STATE_DIR: stateDir,
    SERVER: server,
    TOKEN_FILE: needsToken ? tokenFileOf(stateDir) : undefined,
    PROXY: proxy,
    NO_PROXY: noProxy,
    PROXY_CREDENTIALS_FILE: credentials,
  }
  const settings = new Map(Object.entries(readConfigFile(file)))
  for (const [name, value] of Object.entries(changes))
    if (value !== undefined) settings.set(`PORTCULLIS_AGENT_${name}`, value)
  if (needsToken) writeFileSync(tokenFileOf(stateDir), `${token}\n`, { mode: 0o600 })
  writeFileSync(file, [...settings].map(([name, value]) => `${name}=${value}\r\n`).join(''), { mode: 0o600 })
}
