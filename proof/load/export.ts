/** Measures exports of the agents list: CSV compared with a plain COPY of the same rows, XLSX, and PDF at its row limit. */

import { createWriteStream } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { exportAgentCsv, exportAgentPdf, exportReport, maxPdfRows } from '@portcullis/features/contract.ts'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { agentsList } from '../../features/agents/server/index.ts'
import { temporaryFolder } from '../kit/database.ts'
import type { Installation } from '../kit/installation.ts'
import { withMemoryGrowth } from '../kit/proc.ts'
import { atLeast, atMost, type Finding, figure, median, round } from '../kit/verdict.ts'
import type { Prepared } from './fleet.ts'
import type { BenchResult } from './result.ts'

const megabyte = 1024 * 1024
const headBytes = 2_000
const tag = 'bench-pdf'

interface Timed {
  ms: number
  firstByteMs: number
  bytes: number
}

/** The simplest query for the list's rows in the same order: no filter, no protection against formulas. */
const plainCopy = `COPY (
  SELECT ${agentsList.rowSelect} FROM agent_rows r
  JOIN agents a ON a.agent_id = r.agent_id JOIN agent_heartbeats h ON h.agent_id = r.agent_id
  ORDER BY r.severity DESC, r.host, r.agent_id) TO STDOUT WITH (FORMAT csv, HEADER)`

const copyToFile = async (client: pg.Client, file: string): Promise<number> => {
  const startedAt = performance.now()
  await pipeline(client.query(copyTo(plainCopy)), createWriteStream(file))
  return performance.now() - startedAt
}

const download = (server: Installation, token: string, path: string, body: unknown, file: string): Promise<Timed> =>
  new Promise((resolve, reject) => {
    const startedAt = performance.now()
    let firstByteMs = 0
    let bytes = 0
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const sent = request(`${server.url}${path}`, { method: 'POST', headers }, (response) => {
      if (response.statusCode !== 200) {
        response.resume()
        reject(new Error(`${path} returned status ${response.statusCode}`))
        return
      }
      response.on('data', (chunk: Buffer) => {
        bytes += chunk.length
        // The header row of a CSV needs no database.
        if (firstByteMs === 0 && bytes > headBytes) firstByteMs = performance.now() - startedAt
      })
      pipeline(response, createWriteStream(file)).then(
        () => resolve({ ms: performance.now() - startedAt, firstByteMs, bytes }),
        reject,
      )
    })
    sent.on('error', reject)
    sent.end(JSON.stringify(body))
  })

/** Returns how much the server's memory grew during `work`, in MB. */
const memoryGrowth = async (server: Installation, work: () => Promise<void>): Promise<number> =>
  round((await withMemoryGrowth(server.pid, work)).grown / megabyte, 1)

const csvFigures = async (
  server: Installation,
  client: pg.Client,
  token: string,
  rounds: number,
  file: string,
): Promise<Finding[]> => {
  const plain: number[] = []
  const csv: Timed[] = []
  const growth = await memoryGrowth(server, async () => {
    // Alternate between both, so that they run under the same load. The first round is a warm-up and does not count.
    for (let n = 0; n <= rounds; n++) {
      const ms = await copyToFile(client, file)
      const timed = await download(server, token, exportAgentCsv.path, null, file)
      if (n === 0) continue
      plain.push(ms)
      csv.push(timed)
    }
  })
  const ms = median(csv.map((timed) => timed.ms))
  return [
    figure('plain COPY to a file', round(median(plain), 0), 'ms'),
    figure('CSV', round(ms, 0), 'ms'),
    atLeast('CSV, speed to plain COPY', round(median(plain) / ms), 0.9),
    atMost('CSV, first byte of a row', round(median(csv.map((timed) => timed.firstByteMs)), 0), 200, 'ms'),
    figure('CSV, size', round((csv[0]?.bytes ?? 0) / megabyte, 1), 'MB'),
    atMost('CSV, growth of the server memory', growth, 30, 'MB'),
  ]
}

/** Downloads a file several times. Returns the times, and how much the server's memory grew, in MB. */
const downloads = async (
  server: Installation,
  token: string,
  count: number,
  path: string,
  body: unknown,
  file: string,
) => {
  const timed: Timed[] = []
  const growth = await memoryGrowth(server, async () => {
    for (let n = 0; n < count; n++) timed.push(await download(server, token, path, body, file))
  })
  const [first = { ms: 0, bytes: 0 }, ...rest] = timed
  return { growth, first: first.ms, later: rest.map(({ ms }) => ms), size: round(first.bytes / megabyte, 1) }
}

export const benchExport = async ({ server, fleet, client, isQuick }: Prepared): Promise<BenchResult> => {
  const rounds = isQuick ? 3 : 7
  const folder = temporaryFolder('export')
  const file = join(folder, 'file')
  const token = await server.signIn()
  const pdfRows = Math.min(maxPdfRows, fleet.agents)
  const { rows } = await client.query<{ agent_id: string }>('SELECT agent_id FROM agents LIMIT $1', [pdfRows])
  for (let at = 0; at < rows.length; at += 1_000) {
    const elementIds = rows.slice(at, at + 1_000).map((row) => row.agent_id)
    await server.call('/prime/webui/generalconfig/addhashtags', { hashtags: [tag], elementIds }, token)
  }
  await client.query('VACUUM ANALYZE')
  const csv = await csvFigures(server, client, token, rounds, file)
  const body = { list: 'agents', format: 'xlsx' }
  const xlsx = await downloads(server, token, isQuick ? 1 : 3, exportReport.path, body, file)
  const pdf = async (what: string, columns: readonly string[]): Promise<Finding[]> => {
    const filter = { hashtags: tag, columns }
    const made = await downloads(server, token, rounds + 1, exportAgentPdf.path, filter, file)
    return [
      figure(`PDF, ${what}: first`, round(made.first, 0), 'ms'),
      atMost(`PDF, ${what}: later ones, median`, round(median(made.later), 0), 1_000, 'ms'),
      figure(`PDF, ${what}: size`, made.size, 'MB'),
      atMost(`PDF, ${what}: growth of the server memory`, made.growth, 150, 'MB'),
    ]
  }
  const eight =
    'hostIdentifier localIpAddress displayStatusCombined severity riskScore osVersion serviceVersion lastUpdated'
  const some = await pdf('8 columns', eight.split(' '))
  const all = await pdf('all columns', ['*'])
  return {
    what: `agents as CSV and XLSX, ${fleet.agents} rows of all columns; as PDF, ${pdfRows} rows; ${rounds} rounds`,
    findings: [
      ...csv,
      figure('XLSX', round(median([xlsx.first, ...xlsx.later]), 0), 'ms'),
      figure('XLSX, size', xlsx.size, 'MB'),
      atMost('XLSX, growth of the server memory', xlsx.growth, 30, 'MB'),
      ...some,
      ...all,
    ],
  }
}
