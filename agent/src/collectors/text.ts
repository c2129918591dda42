/** Cuts to `max` UTF-16 units without leaving half of a surrogate pair. */
export const cutText = (value: string, max: number): string => {
  if (value.length <= max) return value
  const last = value.charCodeAt(max - 1)
  return value.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max)
}

/**
 * Text of a sysfs attribute: UTF-8 with invalid bytes replaced, without the line end that the kernel adds, cut to `max`
 * UTF-16 units. Everything else stays as the device said it (the server keeps it as evidence and cleans what it shows).
 * Undefined when nothing is left: the kernel gives an empty file for an empty string descriptor.
 */
export const attributeText = (bytes: Uint8Array, max: number): string | undefined => {
  const text = cutText(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8').replace(/\n$/, ''),
    max,
  )
  return text === '' ? undefined : text
}
