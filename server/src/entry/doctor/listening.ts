import type { Config } from '@portcullis/platform/server/config.ts'
import { askOwnServer, type OwnServerAnswer } from '../own-server.ts'
import { tryToListen } from '../try-to-listen.ts'
import { error, type Finding, ok, reasonOf, warning } from './finding.ts'
import { serverAddress } from './server-environment.ts'

export interface Listening {
  /** The response of the running server; null: none answers. */
  answer: OwnServerAnswer | null
  findings: Finding[]
}

const name = 'port'
const useItsEnvironment =
  'Run this command with the environment of the server that you mean, such as PORTCULLIS_DATA_DIR and PORTCULLIS_PORT.'

/** Returns a finding if the server of this data directory does not listen where this command looks; null: it may. */
const elsewhere = ({ host, port }: Config, pid: number | null): Finding | null => {
  const own = pid === null ? null : serverAddress(pid)
  if (own === null || (own.host === host && own.port === port)) return null
  return warning(
    name,
    `the running server (process ${pid}) listens on ${own.host}:${own.port}, not on ${host}:${port}`,
    useItsEnvironment,
  )
}

/**
 * Checks whether the port is free or used by this product, and whether that server is ready. `pid` is the server that uses the
 * embedded database of this data directory.
 */
export const listening = async (config: Config, pid: number | null): Promise<Listening> => {
  const address = `${config.host}:${config.port}`
  const isElsewhere = elsewhere(config, pid)
  if (isElsewhere !== null) return { answer: null, findings: [isElsewhere] }
  if (config.port === 0) return { answer: null, findings: [ok(name, 'any free port')] }
  const refused = await tryToListen(config)
  const fault = refused === null ? null : (refused.code ?? refused.message)
  if (fault === null) return { answer: null, findings: [ok(name, `${address} is free: the server is stopped`)] }
  if (fault !== 'EADDRINUSE')
    return {
      answer: null,
      findings: [
        error(
          name,
          `cannot listen on ${address}: ${fault}`,
          fault === 'EACCES'
            ? 'Ports below 1024 require a special permission. Choose another port, or put a proxy in front of the server.'
            : 'PORTCULLIS_HOST must be an address of this machine.',
        ),
      ],
    }
  try {
    const answer = await askOwnServer(config)
    if (answer.isOurs && pid === null && config.databaseUrl === null)
      return {
        answer: null,
        findings: [
          warning(
            name,
            `${address}: another Portcullis server uses this port; the server of ${config.dataDir} is stopped`,
            useItsEnvironment,
          ),
        ],
      }
    if (answer.isOurs)
      return {
        answer,
        findings: [
          answer.status === 200
            ? ok(name, `${address}: the server is running and ready`)
            : warning(name, `${address}: the server is running and not ready`, 'See the findings about the database.'),
        ],
      }
    return {
      answer: null,
      findings: [error(name, `${address} is in use by another program`, 'Stop it, or set another PORTCULLIS_PORT.')],
    }
  } catch (reason) {
    return {
      answer: null,
      findings: [
        error(
          name,
          `${address} is in use by a program that does not answer as this product: ${reasonOf(reason)}`,
          'If it is the server, run this command with its environment. Otherwise find the program (ss -ltnp), or set another PORTCULLIS_PORT.',
        ),
      ],
    }
  }
}
