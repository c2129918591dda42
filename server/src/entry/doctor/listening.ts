import { createServer } from 'node:net'
import type { Config } from '#platform/config.ts'
import { askOwnServer, type OwnServerAnswer } from '../own-server.ts'
import { error, type Finding, ok, reasonOf, warning } from './finding.ts'

/** Tries to listen as the server would; gives the error code, null when it may. */
const tryToListen = ({ host, port }: Config): Promise<string | null> =>
  new Promise((resolve) => {
    const server = createServer()
    server.once('error', (fault: NodeJS.ErrnoException) => resolve(fault.code ?? fault.message))
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(null)))
  })

export interface Listening {
  /** The server that answers; null when none does. */
  answer: OwnServerAnswer | null
  findings: Finding[]
}

/** Whether the port is free, or this product's, and whether that one is ready. */
export const listening = async (config: Config): Promise<Listening> => {
  const name = 'port'
  const place = `${config.host}:${config.port}`
  if (config.port === 0) return { answer: null, findings: [ok(name, 'any free one')] }
  const fault = await tryToListen(config)
  if (fault === null) return { answer: null, findings: [ok(name, `${place} is free: the server is stopped`)] }
  if (fault !== 'EADDRINUSE')
    return {
      answer: null,
      findings: [
        error(
          name,
          `cannot listen on ${place}: ${fault}`,
          fault === 'EACCES'
            ? 'Ports below 1024 need a right of their own: choose another, or put a proxy before it.'
            : 'PORTCULLIS_HOST has to be an address of this machine.',
        ),
      ],
    }
  try {
    const answer = await askOwnServer(config)
    if (answer.isOurs)
      return {
        answer,
        findings: [
          answer.status === 200
            ? ok(name, `${place}: the server is running and ready`)
            : warning(name, `${place}: the server is running and not ready`, 'See the findings about the database.'),
        ],
      }
    return {
      answer: null,
      findings: [error(name, `${place} is taken by another program`, 'Stop it, or choose another PORTCULLIS_PORT.')],
    }
  } catch (reason) {
    return {
      answer: null,
      findings: [
        error(
          name,
          `${place} is taken, and who has it does not answer as this product: ${reasonOf(reason)}`,
          'See who has it (ss -ltnp), or choose another PORTCULLIS_PORT.',
        ),
      ],
    }
  }
}
