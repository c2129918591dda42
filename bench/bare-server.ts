/** The peer of the list benchmark: Node's http and pg, the same SQL text, nothing else. Run as a process of its own. */
import { createServer } from 'node:http'
import pg from 'pg'
import { agentsList } from '../server/src/features/agents/index.ts'
import { compile, raw, type SqlFragment } from '../server/src/platform/db/sql.ts'
import { compileList, pageStatement } from '../server/src/platform/list/compile.ts'
import { countStatement } from '../server/src/platform/list/counts.ts'

const maxAgeMs = 1_000
const filterFirstShare = 0.05
const pool = new pg.Pool({ ...JSON.parse(process.argv[2] ?? '{}'), max: 12 })
pool.on('error', () => {})
const names = new Map<string, string>()
const counts = new Map<string, { at: number; n: Promise<number> }>()

const run = async (statement: SqlFragment): Promise<Record<string, unknown>[]> => {
  const { text, values } = compile(statement)
  const name = names.get(text) ?? `s${names.size}`
  names.set(text, name)
  return (await pool.query({ name, text, values: [...values] })).rows
}

const count = (where: SqlFragment): Promise<number> => {
  const statement = countStatement(raw(agentsList.from), where)
  const key = JSON.stringify(compile(statement))
  const known = counts.get(key)
  if (known !== undefined && performance.now() - known.at < maxAgeMs) return known.n
  const n = run(statement).then((rows) => Number(rows[0]?.n))
  counts.set(key, { at: performance.now(), n })
  return n
}

const page = async (url: URL): Promise<string> => {
  const query = Object.fromEntries(url.searchParams)
  const list = compileList(agentsList, query)
  const limit = Number(query.PageSize ?? 50)
  const offset = (Number(query.PageNumber ?? 1) - 1) * limit
  const total = await count(raw('true'))
  const filtered = list.isUnfiltered ? total : await count(list.where)
  const filterFirst = !list.isUnfiltered && filtered < Math.max(total * filterFirstShare, 500)
  const rows = await run(pageStatement(agentsList, list, offset, limit, filterFirst))
  return `{"recordsTotal":${total},"recordsFiltered":${filtered},"data":[${rows.map((r) => r.row).join(',')}]}`
}

const server = createServer((request, response) => {
  page(new URL(request.url ?? '/', 'http://bare')).then(
    (text) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) })
      response.end(text)
    },
    (error: Error) => {
      response.writeHead(500)
      response.end(error.message)
    },
  )
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  process.stdout.write(`${typeof address === 'object' ? address?.port : ''}\n`)
})
process.once('disconnect', () => process.exit(0))
