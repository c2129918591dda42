import { strings } from './strings.ts'

/** Limits of the server for pictures. */
const limits = { bytes: 256 * 1024, side: 2_000 } as const

const signature = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]

/** Returns the fault of a picture, or null. */
export const imageFault = (bytes: Uint8Array): string | null => {
  // The first chunk of a PNG is IHDR: length 13, then width and height.
  const isPng =
    bytes.length >= 33 &&
    signature.every((byte, index) => bytes[index] === byte) &&
    String.fromCharCode(...bytes.subarray(12, 16)) === 'IHDR'
  if (!isPng) return strings.notPng
  if (bytes.length > limits.bytes) return strings.pictureTooBig({ size: Math.ceil(bytes.length / 1024) })
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  const [width, height] = [view.getUint32(16), view.getUint32(20)]
  return width < 1 || height < 1 || width > limits.side || height > limits.side
    ? strings.pictureTooLarge({ width, height })
    : null
}

/** Returns the bytes of a PNG as a data URI. */
export const dataUriOf = (bytes: Uint8Array): string => {
  let text = ''
  // In chunks, because the number of arguments of a call is limited.
  for (let at = 0; at < bytes.length; at += 8_192) text += String.fromCharCode(...bytes.subarray(at, at + 8_192))
  return `data:image/png;base64,${btoa(text)}`
}
