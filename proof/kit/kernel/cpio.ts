/** A file of an initramfs. */
export interface CpioEntry {
  /** Path without a leading slash. `cpio` creates the parent folders. */
  path: string
  /** Permission bits; the default is 0644. */
  mode?: number
  /** Content, or the target of a symbolic link. */
  content: Buffer | { link: string }
}

const FOLDER = 0o040755
const FILE = 0o100000
const LINK = 0o120777

const pad4 = (length: number): Buffer => Buffer.alloc((4 - (length % 4)) % 4)

/** Returns an archive in the "newc" format, which the kernel unpacks as its initial root file system. */
export const cpio = (entries: readonly CpioEntry[]): Buffer[] => {
  const chunks: Buffer[] = []
  let inode = 0
  const add = (path: string, mode: number, content: Buffer): void => {
    inode++
    const name = Buffer.from(`${path}\0`)
    const fields = [inode, mode, 0, 0, 1, 0, content.length, 0, 0, 0, 0, name.length, 0]
    const head = Buffer.concat([
      Buffer.from(`070701${fields.map((n) => n.toString(16).padStart(8, '0')).join('')}`),
      name,
    ])
    chunks.push(head, pad4(head.length), content, pad4(content.length))
  }
  const folders = new Set<string>()
  const addFolders = (path: string): void => {
    const parent = path.slice(0, Math.max(0, path.lastIndexOf('/')))
    if (parent === '' || folders.has(parent)) return
    addFolders(parent)
    folders.add(parent)
    add(parent, FOLDER, Buffer.alloc(0))
  }
  for (const { path, mode = 0o644, content } of entries) {
    addFolders(path)
    if (Buffer.isBuffer(content)) add(path, FILE | mode, content)
    else add(path, LINK, Buffer.from(content.link))
  }
  add('TRAILER!!!', 0, Buffer.alloc(0))
  return chunks
}
