import { createGunzip } from 'node:zlib'
import { AppError } from '#platform/app-error.ts'

/** Bytes of logs behind one gzip; text shrinks to a twentieth, a bomb to a thousandth. */
const maxUnpacked = 400 * 1024 * 1024

const refused = (detail: string): AppError => new AppError('agent_report_invalid', { detail })

/** Unpacks a gzip as it comes and throws the text away: says whether it is sound, and no bomb, in flat memory. */
export const createGzipCheck = (limit = maxUnpacked) => {
  const gunzip = createGunzip()
  let unpacked = 0
  let fault: AppError | null = null
  let isFirst = true
  gunzip.on('data', (text: Buffer) => {
    unpacked += text.length
    if (unpacked <= limit || fault !== null) return
    fault = refused(`The logs are larger than ${limit} bytes when unpacked.`)
    gunzip.destroy()
  })
  gunzip.on('error', () => {
    fault ??= refused('The body is not a sound gzip.')
  })
  function assertSound(): void {
    if (fault !== null) throw fault
  }

  return {
    /** Takes the next bytes; throws as soon as they show a fault. */
    write: async (bytes: Buffer): Promise<void> => {
      if (isFirst && bytes.length >= 2 && (bytes[0] !== 0x1f || bytes[1] !== 0x8b))
        fault = refused('The body is not a gzip.')
      isFirst = false
      assertSound()
      await new Promise<void>((resolve) => {
        gunzip.once('close', resolve)
        gunzip.write(bytes, () => {
          gunzip.off('close', resolve)
          resolve()
        })
      })
      assertSound()
    },
    /** There are no more bytes. */
    end: async (): Promise<void> => {
      await new Promise<void>((resolve) => {
        gunzip.once('end', resolve).once('close', resolve)
        gunzip.end()
      })
      assertSound()
    },
    close: (): void => {
      gunzip.destroy()
    },
  }
}
