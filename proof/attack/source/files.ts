/** Reads the shipped sources of the product, without tests and tools. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import ts from 'typescript'

const folders =
  'contract/src platform features domain/src server/src agent/src poller/src cli/src cli/simulator console/src scripts/bootstrap'.split(
    ' ',
  )

export interface SourceFile {
  /** Path relative to the root of the checkout. */
  path: string
  text: string
  tree: ts.SourceFile
}

export const sourceFiles = (root: string): SourceFile[] =>
  folders.flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
      .filter(({ name }) => /\.(?:ts|tsx|mjs)$/.test(name) && !/\.test\.\w+$/.test(name))
      .map((entry) => {
        const file = join(entry.parentPath, entry.name)
        const text = readFileSync(file, 'utf8')
        const kind = file.endsWith('x') ? ts.ScriptKind.TSX : ts.ScriptKind.TS
        const path = file.slice(root.replace(/\/$/, '').length + 1)
        return { path, text, tree: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true, kind) }
      })
      .sort((a, b) => (a.path < b.path ? -1 : 1)),
  )

/** Calls `visit` for every node of a tree. */
export const walk = (node: ts.Node, visit: (node: ts.Node) => void): void => {
  visit(node)
  ts.forEachChild(node, (child) => walk(child, visit))
}

/** Returns the `file:line` of a node. */
export const placeOf = ({ path, tree }: SourceFile, node: ts.Node): string =>
  `${path}:${tree.getLineAndCharacterOfPosition(node.getStart(tree)).line + 1}`
