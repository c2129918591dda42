import { strings } from './strings.ts'

// Shown at most at 56 px; twice that for dense screens. A drawn picture of this size stays far below 256 KiB.
const side = 128

/** A picture file as a small square data URI. Drawing it anew also drops what cameras write into files. */
export const pictureOf = async (file: Blob): Promise<string> => {
  const bitmap = await createImageBitmap(file).catch(() => {
    throw new Error(strings.thisFileIsNotAPicture)
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
