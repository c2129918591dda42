import { ConsoleRefusal } from '@portcullis/platform/console/lib/problem.ts'
import { strings } from './strings.ts'

// Shown at 56 px at most; twice that for dense screens. A picture of this size stays far below 256 KiB.
const side = 128

/**
 * Returns a picture file as a small square data URI. Drawing it again drops the metadata that cameras write into files.
 */
export const pictureOf = async (file: Blob): Promise<string> => {
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new ConsoleRefusal(strings.notAPicture)
  })
  const canvas = document.createElement('canvas')
  canvas.width = side
  canvas.height = side
  const edge = Math.min(bitmap.width, bitmap.height)
  canvas
    .getContext('2d')!
    .drawImage(bitmap, (bitmap.width - edge) / 2, (bitmap.height - edge) / 2, edge, edge, 0, 0, side, side)
  bitmap.close()
  return canvas.toDataURL('image/png')
}
