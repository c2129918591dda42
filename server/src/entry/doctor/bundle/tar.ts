import { gzipSync } from 'node:zlib'

const block = 512

const octal = (value: number, length: number): string => `${value.toString(8).padStart(length - 1, '0')}\0`

const headerOf = (name: string, size: number, seconds: number): Buffer => {
  if (Buffer.byteLength(name) > 100) throw new Error(`the name is too long for a tar file: ${name}`)
  const header = Buffer.alloc(block)
  header.write(name, 0)
  header.write(octal(0o600, 8), 100)
  header.write(octal(0, 8), 108)
  header.write(octal(0, 8), 116)
  header.write(octal(size, 12), 124)
  header.write(octal(seconds, 12), 136)
  header.write(' '.repeat(8), 148)
  header.write('0', 156)
  header.write('ustar\x0000', 257)
  const sum = header.reduce((a, b) => a + b, 0)
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return header
}

/** Returns a compressed tar file (ustar) with these text files. */
export const tarOf = (files: ReadonlyMap<string, string>, now: number): Buffer => {
  const parts: Buffer[] = []
  for (const [name, text] of files) {
    const bytes = Buffer.from(text)
    parts.push(headerOf(name, bytes.length, Math.floor(now / 1_000)), bytes)
    parts.push(Buffer.alloc((block - (bytes.length % block)) % block))
  }
  return gzipSync(Buffer.concat([...parts, Buffer.alloc(2 * block)]))
}
