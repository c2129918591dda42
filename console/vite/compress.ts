import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, constants, gzip } from 'node:zlib'
import type { Plugin } from 'vite'

const brotli = promisify(brotliCompress)
const zip = promisify(gzip)

/** Smaller files fit into one packet anyway. */
const leastBytes = 1_024

/** Writes the assets in compressed form too, as `.br` and `.gz`, so that the server compresses nothing. */
export const compress = (): Plugin => ({
  name: 'portcullis-compress',
  apply: 'build',
  async writeBundle({ dir }) {
    const assets = join(dir ?? '', 'assets')
    await Promise.all(
      readdirSync(assets).map(async (name) => {
        const file = join(assets, name)
        const plain = readFileSync(file)
        if (plain.length < leastBytes || !/\.(?:js|css|svg)$/.test(name)) return
        writeFileSync(
          `${file}.br`,
          await brotli(plain, { params: { [constants.BROTLI_PARAM_SIZE_HINT]: plain.length } }),
        )
        writeFileSync(`${file}.gz`, await zip(plain, { level: 9 }))
      }),
    )
  },
})
