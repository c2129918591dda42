import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isLoopbackNetwork } from '@portcullis/domain'
import { dataDirOf } from './data-dir.ts'
import { nearest } from './http/names.ts'
import { isNetwork } from './networks.ts'
import { type OutboundProxy, parseOutboundProxy } from './outbound-proxy.ts'
import { Secret } from './secret.ts'
import { StartError } from './start-error.ts'
import { type TracingConfig, tracingConfig } from './tracing/index.ts'

/** All settings from the environment, read once. */
export interface Config {
  host: string
  port: number
  dataDir: string
  /** URL of an external PostgreSQL; null: the embedded one. */
  databaseUrl: Secret | null
  /** Password of the first administrator; null: generated and shown once. */
  adminPassword: Secret | null
  tls: { certFile: string; keyFile: string } | null
  keyFile: string
  /** Creates a missing key file even if the database was used with another one. */
  allowNewKey: boolean
  /** PEM file with the public keys of licence issuers. */
  licenceKeysFile: string
  /** Public key file for agent builds; null: the key in this server's agent build. */
  releaseKeyFile: string | null
  /** Root of the report folders, one per schedule. */
  reportsDir: string
  /** Folder for checkpoints of the audit trail, outside the database. */
  auditDir: string
  /** Whether it was configured; then it must exist. */
  isAuditDirGiven: boolean
  trustedProxies: string[]
  proxyProtocolFrom: string[]
  /** Loopback networks that configured destinations may use. */
  outboundAllow: string[]
  /** HTTP proxy for https connections; null: none. */
  outboundProxy: OutboundProxy | null
  /** NATS JetStream for assets, with credentials; null: none. */
  natsUrl: Secret | null
  kafkaBrokers: string[]
  /** Null: the default depends on the log's destination. */
  logLevel: string | null
  /** Checks every JSON response against the contract before it is sent. */
  validateResponses: boolean
  /** How long a stopping server keeps serving after it reports not ready. */
  drainSeconds: number
  /** Destination of traces; null: none. */
  tracing: TracingConfig | null
}

const known = [
  'PORTCULLIS_HOST',
  'PORTCULLIS_PORT',
  'PORTCULLIS_DATA_DIR',
  'PORTCULLIS_ADMIN_PASSWORD',
  'PORTCULLIS_ADMIN_PASSWORD_FILE',
  'PORTCULLIS_TLS_CERT',
  'PORTCULLIS_TLS_KEY',
  'PORTCULLIS_KEY_FILE',
  'PORTCULLIS_ALLOW_NEW_KEY',
  'PORTCULLIS_LICENSE_KEYS',
  'PORTCULLIS_RELEASE_KEY_FILE',
  'PORTCULLIS_REPORTS_DIR',
  'PORTCULLIS_AUDIT_DIR',
  'PORTCULLIS_TRUSTED_PROXIES',
  'PORTCULLIS_PROXY_PROTOCOL_FROM',
  'PORTCULLIS_OUTBOUND_ALLOW',
  'PORTCULLIS_OUTBOUND_PROXY',
  'PORTCULLIS_OUTBOUND_PROXY_FILE',
  'PORTCULLIS_OUTBOUND_PROXY_EXCEPTIONS',
  'PORTCULLIS_LOG_LEVEL',
  'PORTCULLIS_VALIDATE_RESPONSES',
  'PORTCULLIS_DRAIN_SECONDS',
  'PORTCULLIS_NO_NODE_DOWNLOAD',
  // Only the command line uses it, and removes it.
  'PORTCULLIS_UNIT',
  'PORTCULLIS_CHROMIUM',
] as const

/** systemd kills a service 90 s after the stop request. */
const maxDrainSeconds = 60

/** Variables whose value may come from a file named by `<name>_FILE`, so that secrets stay out of the process list. */
export const secretVariables = [
  'DATABASE_URL',
  'PORTCULLIS_ADMIN_PASSWORD',
  'NATS_URL',
  'PORTCULLIS_OUTBOUND_PROXY',
] as const

export type Environment = Readonly<Record<string, string | undefined>>

/** Returns the names that start with PORTCULLIS_ and are unknown to the server. */
export const unknownVariables = (env: Environment): string[] =>
  Object.keys(env).filter(
    (name) =>
      name.startsWith('PORTCULLIS_') &&
      !name.startsWith('PORTCULLIS_AGENT_') &&
      !known.includes(name as (typeof known)[number]),
  )

const secretOf = (env: Environment, name: (typeof secretVariables)[number]): string | undefined => {
  const file = env[`${name}_FILE`]
  if (file === undefined || file === '') return env[name]
  if (env[name]) throw new StartError(`${name} and ${name}_FILE are both set. Set only one of them.`)
  let text: string
  try {
    text = readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new StartError(`${name}_FILE cannot be read: ${(error as Error).message}.`)
  }
  if (text === '') throw new StartError(`The file ${file}, named by ${name}_FILE, is empty.`)
  return text
}

const list = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '')

const loopbackList = (text: string | undefined): string[] => {
  const networks = list(text)
  const bad = networks.find((network) => !isLoopbackNetwork(network))
  if (bad !== undefined)
    throw new StartError(
      `PORTCULLIS_OUTBOUND_ALLOW takes addresses and networks on loopback (127.0.0.0/8, ::1), separated by commas, not "${bad}".`,
    )
  return networks
}

const networkList = (text: string | undefined): string[] => {
  const networks = list(text)
  const bad = networks.find((network) => !isNetwork(network))
  if (bad !== undefined)
    throw new StartError(
      `PORTCULLIS_PROXY_PROTOCOL_FROM takes addresses and networks such as 192.0.2.10 or 192.0.2.0/28, separated by commas, not "${bad}".`,
    )
  return networks
}

const allVariables = 'Correct or remove it. docs/reference/configuration.md lists all variables.'

const withNearest = (name: string): string => {
  const near = nearest(name, known)
  return near === undefined ? name : `${name} (did you mean ${near}?)`
}

/** Reads and checks the environment. Throws a StartError that names the first problem. */
export const loadConfig = (env: Environment, isRoot: boolean): Config => {
  const unknown = unknownVariables(env)
  if (unknown.length > 0)
    throw new StartError(`Unknown environment variable ${unknown.map(withNearest).join(', ')}. ${allVariables}`)
  const portText = env.PORTCULLIS_PORT ?? '8080'
  const port = /^\d{1,5}$/.test(portText) ? Number(portText) : Number.NaN
  if (!(port >= 0 && port <= 65_535))
    throw new StartError(`PORTCULLIS_PORT must be a number from 0 to 65535, not "${portText}".`)
  const drainText = env.PORTCULLIS_DRAIN_SECONDS ?? '0'
  if (!/^\d{1,2}$/.test(drainText) || Number(drainText) > maxDrainSeconds)
    throw new StartError(`PORTCULLIS_DRAIN_SECONDS must be a number from 0 to ${maxDrainSeconds}, not "${drainText}".`)
  const certFile = env.PORTCULLIS_TLS_CERT
  const keyFile = env.PORTCULLIS_TLS_KEY
  if ((certFile === undefined) !== (keyFile === undefined))
    throw new StartError('PORTCULLIS_TLS_CERT and PORTCULLIS_TLS_KEY must be set together.')
  const password = secretOf(env, 'PORTCULLIS_ADMIN_PASSWORD')
  if (password !== undefined && (password.length < 12 || password.length > 128))
    throw new StartError('PORTCULLIS_ADMIN_PASSWORD must have 12 to 128 characters.')
  const databaseUrl = secretOf(env, 'DATABASE_URL')
  const natsUrl = secretOf(env, 'NATS_URL')
  const validate = env.PORTCULLIS_VALIDATE_RESPONSES ?? '0'
  if (validate !== '0' && validate !== '1')
    throw new StartError(`PORTCULLIS_VALIDATE_RESPONSES must be 0 or 1, not "${validate}".`)
  const allowNewKey = env.PORTCULLIS_ALLOW_NEW_KEY ?? '0'
  if (allowNewKey !== '0' && allowNewKey !== '1')
    throw new StartError(`PORTCULLIS_ALLOW_NEW_KEY must be 0 or 1, not "${allowNewKey}".`)
  const dataDir = dataDirOf(env, isRoot)
  return {
    host: env.PORTCULLIS_HOST ?? '127.0.0.1',
    port,
    dataDir,
    databaseUrl: databaseUrl ? new Secret(databaseUrl) : null,
    adminPassword: password === undefined ? null : new Secret(password),
    tls: certFile !== undefined && keyFile !== undefined ? { certFile, keyFile } : null,
    keyFile: env.PORTCULLIS_KEY_FILE ?? join(dataDir, 'portcullis.key'),
    allowNewKey: allowNewKey === '1',
    licenceKeysFile: env.PORTCULLIS_LICENSE_KEYS ?? join(dataDir, 'licence-keys.pem'),
    releaseKeyFile: env.PORTCULLIS_RELEASE_KEY_FILE || null,
    reportsDir: env.PORTCULLIS_REPORTS_DIR ?? join(dataDir, 'reports'),
    auditDir: env.PORTCULLIS_AUDIT_DIR ?? join(dataDir, 'audit-checkpoints'),
    isAuditDirGiven: env.PORTCULLIS_AUDIT_DIR !== undefined,
    trustedProxies: list(env.PORTCULLIS_TRUSTED_PROXIES),
    proxyProtocolFrom: networkList(env.PORTCULLIS_PROXY_PROTOCOL_FROM),
    outboundAllow: loopbackList(env.PORTCULLIS_OUTBOUND_ALLOW),
    outboundProxy: parseOutboundProxy(
      secretOf(env, 'PORTCULLIS_OUTBOUND_PROXY'),
      env.PORTCULLIS_OUTBOUND_PROXY_EXCEPTIONS,
    ),
    natsUrl: natsUrl ? new Secret(natsUrl) : null,
    kafkaBrokers: list(env.KAFKA_BROKERS),
    logLevel: env.PORTCULLIS_LOG_LEVEL ?? null,
    validateResponses: validate === '1',
    drainSeconds: Number(drainText),
    tracing: tracingConfig(env),
  }
}
