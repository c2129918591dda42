import { spawnSync } from 'node:child_process'
import { withEnvironment } from '../kit/environment.ts'
import { seedFixture } from '../kit/fixture.ts'
import { atMost, type Check, type Outcome } from '../kit/verdict.ts'

const lists = [
  'peripherals?SortBy=deviceID&GlobalSearch=stick&Vid=0781&PageSize=5',
  'agents?SortBy=hostIdentifier&GlobalSearch=host&Status=Armed&PageSize=5',
  'events/getevents?SortBy=date&GlobalSearch=host&PageSize=5',
  'agents?Query=HostIdentifier:host&PageSize=5',
]

/** Returns the output of sqlmap for one list. */
const map = (url: string, token: string, level: number): string =>
  spawnSync(
    'sqlmap',
    [
      ...['-u', url, '-H', `Authorization: Bearer ${token}`, '--dbms=PostgreSQL', '--batch', `--level=${level}`],
      ...['--risk=1', '--threads=4', '--flush-session', '--disable-coloring'],
    ],
    { encoding: 'utf8', timeout: 600_000, maxBuffer: 64 * 1024 * 1024 },
  ).stdout

export const sqlInjection: Check = {
  name: 'sql-injection',
  what: 'sqlmap tries the parameters of four lists at its third level; the short form tries one list at its first level.',
  run: async ({ isQuick, root }): Promise<Outcome> => {
    if (spawnSync('sqlmap', ['--version']).status !== 0)
      return { findings: [], notRun: ['sqlmap is not installed (apt-get install sqlmap).'] }
    return withEnvironment({ root }, async (environment) => {
      const { principals } = await seedFixture(environment)
      const token = principals.find(({ name }) => name === 'API token of an Administrator')?.token as string
      const tried = isQuick ? lists.slice(0, 1) : lists
      const notes: string[] = []
      let judged = 0
      for (const list of tried) {
        const printed = map(`${environment.server.url}/prime/webui/${list}`, token, isQuick ? 1 : 3)
        if (printed.includes('do not appear to be injectable')) judged++
        else notes.push(`${list}: ${printed.slice(-600)}`)
      }
      return {
        findings: [atMost('lists injectable, or not judged', tried.length - judged, 0)],
        notes,
      }
    })
  },
}
