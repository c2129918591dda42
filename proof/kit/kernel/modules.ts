import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const MODULE = /^(.+)\.ko$/
/** Returns the name in the kernel, which is `usb_storage` for `usb-storage.ko`. */
const nameOf = (file: string): string => (MODULE.exec(basename(file))?.[1] ?? '').replaceAll('-', '_')

/** Returns the `depends=` of a module's .modinfo. An unpacked package has no modules.dep, because installation creates it. */
const dependsOf = (content: Buffer): string[] => {
  const start = content.indexOf('\0depends=')
  if (start < 0) return []
  const from = start + '\0depends='.length
  return content
    .subarray(from, content.indexOf(0, from))
    .toString()
    .split(',')
    .filter((name) => name !== '')
}

/**
 * Returns the files of kernel modules and their dependencies in load order. A name without a file is built into the
 * kernel.
 */
export const moduleFiles = (dir: string, names: readonly string[]): { name: string; content: Buffer }[] => {
  const files = new Map<string, string>()
  for (const entry of readdirSync(dir, { recursive: true, encoding: 'utf8' }))
    if (MODULE.test(entry)) files.set(nameOf(entry), join(dir, entry))
  const found = new Map<string, Buffer>()
  const seen = new Set<string>()
  const visit = (raw: string): void => {
    const name = raw.replaceAll('-', '_')
    const file = files.get(name)
    if (seen.has(name) || file === undefined) return
    seen.add(name)
    const content = readFileSync(file)
    for (const needed of dependsOf(content)) visit(needed)
    found.set(name, content)
  }
  for (const name of names) visit(name)
  return [...found].map(([name, content]) => ({ name, content }))
}
