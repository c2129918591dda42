import { addressBucket } from '../address.ts'
import { AppError } from '../app-error.ts'
import type { FileBytes } from '../shared-files.ts'

/** Concurrent downloads of callers without a credential: of this process, and of one address. */
const most = { all: 128, perAddress: 32 } as const
/** A download that is slower than this ends when another caller needs its place, after its first seconds. */
const slow = { bytesPerSecond: 128 * 1024, afterMs: 10_000 } as const
/** Seconds after which refused callers may retry, spread so that they do not return together. */
const comeBack = { after: 10, spread: 20 } as const

interface Download {
  address: string
  since: number
  /** Undefined until its file is open. */
  file: FileBytes | undefined
}

/** Limits concurrent downloads. The slowest one gives way to a new one if it is slow. */
export const createDownloadSlots = ({
  limited,
  nowMs = () => performance.now(),
}: {
  limited(limit: 'download' | 'downloads'): void
  nowMs?: () => number
}) => {
  const running = new Set<Download>()

  /** Ends the slowest of these downloads. Returns false if none is slow. */
  function endSlowest(among: readonly Download[], now: number): boolean {
    const rateOf = ({ file, since }: Download): number => ((file?.asked() ?? 0) * 1000) / (now - since)
    const [slowest] = among
      .filter((one) => now - one.since >= slow.afterMs && rateOf(one) < slow.bytesPerSecond)
      .sort((a, b) => rateOf(a) - rateOf(b))
    if (slowest === undefined) return false
    running.delete(slowest)
    slowest.file?.stream.destroy(new Error('a download was too slow, and another one needed its place'))
    return true
  }

  /** Throws with a retry time if too many downloads are running. */
  function assertRoom(address: string, now: number): void {
    const own = [...running].filter((one) => one.address === address)
    const isOwn = own.length >= most.perAddress
    if (!isOwn && running.size < most.all) return
    limited(isOwn ? 'download' : 'downloads')
    if (endSlowest(isOwn ? own : [...running], now)) return
    const seconds = comeBack.after + Math.floor(Math.random() * comeBack.spread)
    throw new AppError(
      isOwn ? 'too_many_requests' : 'unavailable',
      { seconds },
      { headers: { 'retry-after': String(seconds) } },
    )
  }

  /** Opens a file for a download, and counts the download until it ends. Throws if too many are running. */
  return async (ip: string, open: () => Promise<FileBytes>): Promise<FileBytes> => {
    const one: Download = { address: addressBucket(ip), since: nowMs(), file: undefined }
    assertRoom(one.address, one.since)
    running.add(one)
    try {
      one.file = await open()
      one.file.stream.once('close', () => running.delete(one))
      return one.file
    } catch (error) {
      running.delete(one)
      throw error
    }
  }
}

export type DownloadSlots = ReturnType<typeof createDownloadSlots>
