/** Measures a page of a million rows: its speed, its memory, and whether it is complete. */

import { request } from 'node:http'
import type { Installation } from '../kit/installation.ts'
import { residentBytes, withMemoryGrowth } from '../kit/proc.ts'
import { atLeast, atMost, figure, round } from '../kit/verdict.ts'
import type { Prepared } from './fleet.ts'
import type { BenchResult } from './result.ts'
import { createRowReader } from './row-reader.ts'

const megabyte = 1024 * 1024

interface Fetched {
  seconds: number
  firstByteMs: number
  bytes: number
}

const fetchPage = (server: Installation, token: string, hear: (chunk: Buffer) => void): Promise<Fetched> =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now()
    let bytes = 0
    let firstByteMs = 0
    const sent = request(
      `${server.url}/prime/webui/agents?PageSize=1000000`,
      { headers: { authorization: `Bearer ${token}` } },
      (response) => {
        if (response.statusCode !== 200) return reject(new Error(`The page returned status ${response.statusCode}`))
        response.on('data', (chunk: Buffer) => {
          if (bytes === 0) firstByteMs = performance.now() - startedAt
          bytes += chunk.length
          hear(chunk)
        })
        response.on('error', reject)
        response.on('end', () => {
          if (!response.complete) return reject(new Error('The page was truncated'))
          resolve({ seconds: (performance.now() - startedAt) / 1000, firstByteMs, bytes })
        })
      },
    )
    sent.on('error', reject)
    sent.end()
  })

export const benchPage = async ({ server, fleet }: Prepared): Promise<BenchResult> => {
  const token = await server.signIn()
  for (let i = 0; i < 20; i++) await server.call('/prime/webui/agents?PageSize=50', undefined, token)
  const before = residentBytes(server.pid)
  const { result: timed, grown } = await withMemoryGrowth(server.pid, () => fetchPage(server, token, () => {}))
  // Fetch the page a second time and parse every row. The timed run does not parse, because parsing costs more than
  // sending.
  const rows = createRowReader()
  await fetchPage(server, token, rows.add)
  const { total, count, isComplete } = rows.end()
  return {
    what: `GET agents with PageSize=1000000 at ${fleet.agents} hosts`,
    findings: [
      figure('time', round(timed.seconds), 's'),
      figure('first byte', round(timed.firstByteMs, 0), 'ms'),
      figure('size', round(timed.bytes / megabyte, 1), 'MB'),
      figure('rate', round(timed.bytes / megabyte / timed.seconds, 1), 'MB/s'),
      figure('server memory before', round(before / megabyte, 0), 'MB'),
      atMost('growth of the server memory', round(grown / megabyte, 1), 50, 'MB'),
      atMost('rows missing or too many', Math.abs(fleet.agents - count), 0),
      atMost('recordsTotal off by', Math.abs(fleet.agents - total), 0),
      atLeast('valid JSON to the end (1 = yes)', isComplete ? 1 : 0, 1),
    ],
  }
}
