/** Measures a page of a million rows: its speed, its memory, and whether it is complete. */
import { request } from 'node:http'
import { residentBytes } from '../kit/proc.ts'
import type { BenchServer } from '../kit/server-process.ts'
import type { Prepared } from './fleet.ts'
import { type BenchResult, round } from './result.ts'
import { createRowReader } from './row-reader.ts'

const megabyte = 1024 * 1024
const sampleMs = 50

interface Fetched {
  seconds: number
  firstByteMs: number
  bytes: number
}

const fetchPage = (server: BenchServer, token: string, hear: (chunk: Buffer) => void): Promise<Fetched> =>
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
  let most = before
  const sampler = setInterval(() => {
    most = Math.max(most, residentBytes(server.pid))
  }, sampleMs)
  const timed = await fetchPage(server, token, () => {})
  clearInterval(sampler)
  // Fetch the page a second time and parse every row. The timed run does not parse, because parsing costs more than
  // sending.
  const rows = createRowReader()
  await fetchPage(server, token, rows.add)
  const { total, count, isComplete } = rows.end()
  return {
    name: 'page',
    conditions: `GET agents with PageSize=1000000 at ${fleet.agents} hosts`,
    figures: [
      { what: 'time', value: round(timed.seconds), unit: 's', better: 'less' },
      { what: 'first byte', value: round(timed.firstByteMs, 0), unit: 'ms', better: 'less' },
      { what: 'size', value: round(timed.bytes / megabyte, 1), unit: 'MB', better: 'less' },
      { what: 'rate', value: round(timed.bytes / megabyte / timed.seconds, 1), unit: 'MB/s', better: 'more' },
      { what: 'server memory before', value: round(before / megabyte, 0), unit: 'MB', better: 'less' },
      {
        what: 'growth of the server memory',
        value: round((most - before) / megabyte, 1),
        unit: 'MB',
        limit: 50,
        better: 'less',
      },
      {
        what: 'rows missing or too many',
        value: Math.abs(fleet.agents - count),
        unit: '',
        limit: 0,
        better: 'less',
      },
      { what: 'recordsTotal off by', value: Math.abs(fleet.agents - total), unit: '', limit: 0, better: 'less' },
      { what: 'valid JSON to the end (1 = yes)', value: isComplete ? 1 : 0, unit: '', limit: 1, better: 'more' },
    ],
  }
}
