import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Secret } from '../secret.ts'
import { ArchiveError, type ArchivePart, readArchive, writeArchive } from './archive.ts'

const head = { createdAt: '2031-05-04T10:11:12.000Z', product: '1.0.0', schema: 7, hasKeys: false }
const table = (name: string) => ({ kind: 'table' as const, table: name, columns: ['a', 'b'], rows: 1, checksum: '1' })

async function* of(parts: readonly ArchivePart[]): AsyncGenerator<ArchivePart> {
  yield* parts
}
const bytesOf = async (parts: readonly ArchivePart[], passphrase: string | null = null): Promise<Buffer> => {
  const chunks: Buffer[] = []
  const options = { head, passphrase: passphrase === null ? null : new Secret(passphrase) }
  for await (const chunk of writeArchive(of(parts), options)) chunks.push(chunk)
  return Buffer.concat(chunks)
}
async function* pieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
/** Collects the parts and joins the rows of a table. */
const readAll = async (bytes: Buffer, passphrase: string | null = null, size = 64): Promise<unknown[]> => {
  const { parts } = await readArchive(pieces(bytes, size), passphrase === null ? null : new Secret(passphrase))
  const found: unknown[] = []
  for await (const part of parts) {
    const last = found.at(-1) as { kind?: string; text?: string } | undefined
    if (part.kind !== 'data') found.push(part)
    else if (last?.kind === 'data') last.text += part.bytes.toString()
    else found.push({ kind: 'data', text: part.bytes.toString() })
  }
  return found
}

it('an archive returns its content, however its bytes are split', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.array(fc.constantFrom('1\tx', '2\t\\\\.', '\\\\.', '', '\\N\t@{"kind":"end"}', '@{}'), { maxLength: 6 }),
        { maxLength: 4 },
      ),
      fc.integer({ min: 1, max: 200 }),
      // Only half of them, because deriving a key from a passphrase is deliberately slow.
      fc.option(fc.string({ minLength: 1 }), { nil: null, freq: 1 }),
      async (tables, size, passphrase) => {
        const parts = tables.flatMap((rows, i): ArchivePart[] => [
          table(`t${i}`),
          ...rows.map((row) => ({ kind: 'data' as const, bytes: Buffer.from(`${row}\n`) })),
          { kind: 'tableEnd' },
        ])
        const expected = tables.flatMap((rows, i) => [
          table(`t${i}`),
          ...(rows.length === 0 ? [] : [{ kind: 'data', text: rows.map((row) => `${row}\n`).join('') }]),
          { kind: 'tableEnd' },
        ])
        const bytes = await bytesOf([...parts, { kind: 'end' }], passphrase)
        expect(await readAll(bytes, passphrase, size)).toEqual([...expected, { kind: 'end' }])
      },
    ),
    { numRuns: 15 },
  )
})

it('a truncated or changed file, a wrong passphrase and other files are rejected', async () => {
  const plain = await bytesOf([
    table('t'),
    { kind: 'data', bytes: Buffer.from('1\t2\n') },
    { kind: 'tableEnd' },
    { kind: 'end' },
  ])
  const sealed = await bytesOf([{ kind: 'end' }], 'correct horse')
  const changed = Buffer.from(sealed)
  changed[changed.length - 20] = (changed[changed.length - 20] as number) ^ 1
  for (const [bytes, passphrase] of [
    [plain.subarray(0, -12), null],
    [await bytesOf([table('t')]), null],
    [sealed, null],
    [sealed, 'wrong'],
    [plain, 'a passphrase'],
    [changed, 'correct horse'],
    [sealed.subarray(0, -3), 'correct horse'],
    [Buffer.from('hello\n'), null],
    [Buffer.alloc(10_000), null],
  ] as const)
    await expect(readAll(bytes, passphrase)).rejects.toThrow(ArchiveError)
  expect(sealed.includes('kind')).toBe(false)
})

it('the error for a wrong passphrase is the same for files longer than one chunk', async () => {
  const bytes = randomBytes(300_000).toString('hex')
  const long = await bytesOf([table('t'), { kind: 'data', bytes: Buffer.from(`${bytes}\n`) }], 'correct horse')
  await expect(readAll(long, 'wrong', 65_536)).rejects.toThrow('The passphrase is incorrect')
})
