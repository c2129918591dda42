import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

const MODULE = /^(.+)\.ko$/
/** The kernel knows `usb-storage.ko` as `usb_storage`. */
const nameOf = (file: string): string => (MODULE.exec(basename(file))?.[1] ?? '').replaceAll('-', '_')

/** The `depends=` of a module's own .modinfo: an unpacked package has no modules.dep, that is written at installation. */
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
 * Files of the named kernel modules and all they depend on, each after what it depends on: the order to load them in.
 * A name without a file is built into the kernel.
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
