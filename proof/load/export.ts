/** Measures exports of the agents list: CSV compared with a plain COPY of the same rows, XLSX, and PDF at its row limit. */
import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { exportAgentCsv, exportAgentPdf, exportReport, maxPdfRows } from '@portcullis/contract'
import type pg from 'pg'
import { to as copyTo } from 'pg-copy-streams'
import { agentsList } from '../../features/agents/server/index.ts'
import { residentBytes } from '../kit/proc.ts'
import type { BenchServer } from '../kit/server-process.ts'
import type { Prepared } from './fleet.ts'
import { type BenchResult, type Figure, percentile, round } from './result.ts'

const megabyte = 1024 * 1024
const sampleMs = 20
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

const download = (server: BenchServer, token: string, path: string, body: unknown, file: string): Promise<Timed> =>
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

/** Runs `work` and returns how much the server's memory grew in the meantime, in MB. */
const memoryGrowth = async (server: BenchServer, work: () => Promise<void>): Promise<number> => {
  const before = residentBytes(server.pid)
  let most = before
  const sampler = setInterval(() => {
    most = Math.max(most, residentBytes(server.pid))
  }, sampleMs)
  try {
    await work()
  } finally {
    clearInterval(sampler)
  }
  return round((most - before) / megabyte, 1)
}

const median = (values: readonly number[]): number => percentile(values, 0.5)

const csvFigures = async (
  server: BenchServer,
  client: pg.Client,
  token: string,
  rounds: number,
  file: string,
): Promise<Figure[]> => {
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
    { what: 'plain COPY to a file', value: round(median(plain), 0), unit: 'ms', better: 'less' },
    { what: 'CSV', value: round(ms, 0), unit: 'ms', better: 'less' },
    { what: 'CSV, speed to plain COPY', value: round(median(plain) / ms), unit: '', limit: 0.9, better: 'more' },
    {
      what: 'CSV, first byte of a row',
      value: round(median(csv.map((timed) => timed.firstByteMs)), 0),
      unit: 'ms',
      limit: 200,
      better: 'less',
    },
    { what: 'CSV, size', value: round((csv[0]?.bytes ?? 0) / megabyte, 1), unit: 'MB', better: 'less' },
    { what: 'CSV, growth of the server memory', value: growth, unit: 'MB', limit: 30, better: 'less' },
  ]
}

const pdfFigures = async (
  server: BenchServer,
  token: string,
  rounds: number,
  file: string,
  what: string,
  body: Record<string, unknown>,
): Promise<Figure[]> => {
  const timed: Timed[] = []
  const growth = await memoryGrowth(server, async () => {
    for (let n = 0; n <= rounds; n++) timed.push(await download(server, token, exportAgentPdf.path, body, file))
  })
  const [first, ...rest] = timed
  return [
    { what: `PDF, ${what}: first`, value: round(first?.ms ?? 0, 0), unit: 'ms', better: 'less' },
    {
      what: `PDF, ${what}: later ones, median`,
      value: round(median(rest.map(({ ms }) => ms)), 0),
      unit: 'ms',
      limit: 1_000,
      better: 'less',
    },
    { what: `PDF, ${what}: size`, value: round((first?.bytes ?? 0) / megabyte, 1), unit: 'MB', better: 'less' },
    { what: `PDF, ${what}: growth of the server memory`, value: growth, unit: 'MB', limit: 150, better: 'less' },
  ]
}

const workbookFigures = async (server: BenchServer, token: string, rounds: number, file: string): Promise<Figure[]> => {
  const timed: Timed[] = []
  const body = { list: 'agents', format: 'xlsx' }
  const growth = await memoryGrowth(server, async () => {
    for (let n = 0; n < rounds; n++) timed.push(await download(server, token, exportReport.path, body, file))
  })
  return [
    { what: 'XLSX', value: round(median(timed.map(({ ms }) => ms)), 0), unit: 'ms', better: 'less' },
    { what: 'XLSX, size', value: round((timed[0]?.bytes ?? 0) / megabyte, 1), unit: 'MB', better: 'less' },
    { what: 'XLSX, growth of the server memory', value: growth, unit: 'MB', limit: 30, better: 'less' },
  ]
}

export const benchExport = async ({ server, fleet, client, isQuick }: Prepared): Promise<BenchResult> => {
  const rounds = isQuick ? 3 : 7
  const folder = mkdtempSync(join(tmpdir(), 'portcullis-export-'))
  const file = join(folder, 'file')
  try {
    const token = await server.signIn()
    const pdfRows = Math.min(maxPdfRows, fleet.agents)
    const { rows } = await client.query<{ agent_id: string }>('SELECT agent_id FROM agents LIMIT $1', [pdfRows])
    for (let at = 0; at < rows.length; at += 1_000) {
      const elementIds = rows.slice(at, at + 1_000).map((row) => row.agent_id)
      await server.call('/prime/webui/generalconfig/addhashtags', { hashtags: [tag], elementIds }, token)
    }
    await client.query('VACUUM ANALYZE')
    const csv = await csvFigures(server, client, token, rounds, file)
    const xlsx = await workbookFigures(server, token, isQuick ? 1 : 3, file)
    const pdf = (what: string, columns: readonly string[]) =>
      pdfFigures(server, token, rounds, file, what, { hashtags: tag, columns })
    const some = await pdf('8 columns', [
      'hostIdentifier',
      'localIpAddress',
      'displayStatusCombined',
      'severity',
      'riskScore',
      'osVersion',
      'serviceVersion',
      'lastUpdated',
    ])
    const all = await pdf('all columns', ['*'])
    return {
      name: 'export',
      conditions: `agents as CSV and XLSX, ${fleet.agents} rows of all columns; as PDF, ${pdfRows} rows; ${rounds} rounds`,
      figures: [...csv, ...xlsx, ...some, ...all],
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
