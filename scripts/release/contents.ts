/** Lists the files that a server archive contains: tracked files, and the documents that the build writes. */
import { execFileSync } from 'node:child_process'
import { globSync } from 'node:fs'

/** Folders that the server, its worker and the command line read at run time. */
const FOLDERS = ['contract', 'domain', 'knowledge', 'agent', 'poller', 'cli', 'platform', 'features', 'server']
const FILES = ['package.json', 'LICENSE', 'CHANGELOG.md', 'SECURITY.md']
const BUILT = [
  'THIRD-PARTY-LICENSES.md',
  'sbom.cdx.json',
  'docs/reference/{alerts,errors,events,settings}.md',
  'docs/reference/api/*.md',
]
/** The documentation, because isolated networks have no other copy, and the files that it describes. */
const DOCUMENTS = ['docs', 'ops', 'README.md', 'ARCHITECTURE.md', 'CONTRIBUTING.md', ':!docs/**/*.json']

const isForTests = (path: string): boolean => /(^|\/)test\/|\.test\.tsx?$/.test(path)

/** The archive contains the built console. */
const isOfConsole = (path: string): boolean => /^(platform|features\/[^/]+)\/console\//.test(path)

/** Returns the files of a server archive, relative to the root. Other steps add the built programs. */
export const serverFiles = (root: string): string[] => [
  ...execFileSync('git', ['ls-files', '-z', '--', ...FOLDERS, ...FILES, ...DOCUMENTS], { cwd: root, encoding: 'utf8' })
    .split('\0')
    .filter((path) => path !== '' && !isForTests(path) && !isOfConsole(path)),
  ...globSync(BUILT, { cwd: root }).sort(),
]
