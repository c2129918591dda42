import { createGunzip } from 'node:zlib'
import { AppError } from '@portcullis/platform/server/app-error.ts'

/** Maximum unpacked size. Text compresses to a twentieth, and a decompression bomb to a thousandth. */
const maxUnpacked = 400 * 1024 * 1024

const refused = (detail: string): AppError => new AppError('agent_report_invalid', { detail })

/**
 * Unpacks a gzip stream and discards the result, to verify it with constant memory and to refuse decompression bombs.
 */
export const createGzipCheck = () => {
  const gunzip = createGunzip()
  let unpacked = 0
  let fault: AppError | null = null
  let isFirst = true
  gunzip.on('data', (text: Buffer) => {
    unpacked += text.length
    if (unpacked <= maxUnpacked || fault !== null) return
    fault = refused(`The logs are larger than ${maxUnpacked} bytes when unpacked.`)
    gunzip.destroy()
  })
  gunzip.on('error', () => {
    fault ??= refused('The body is not valid gzip data.')
  })
  function assertSound(): void {
    if (fault !== null) throw fault
  }

  return {
    /** Checks the next bytes; throws as soon as they show a fault. */
    write: async (bytes: Buffer): Promise<void> => {
      if (isFirst && bytes.length >= 2 && (bytes[0] !== 0x1f || bytes[1] !== 0x8b))
        fault = refused('The body is not gzip data.')
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
    /** Ends the stream; throws if it is incomplete. */
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
