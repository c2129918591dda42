/** Cuts a text to `max` UTF-16 units without splitting a surrogate pair. */
export const cutText = (value: string, max: number): string => {
  if (value.length <= max) return value
  const last = value.charCodeAt(max - 1)
  return value.slice(0, last >= 0xd800 && last <= 0xdbff ? max - 1 : max)
}

/**
 * Returns the text of a sysfs attribute without the line end that the kernel adds, cut to `max` UTF-16 units. It replaces
 * invalid UTF-8 and keeps everything else as evidence; the server cleans what it shows. Undefined for an empty string: the
 * kernel gives an empty file for an empty string descriptor.
 */
export const attributeText = (bytes: Uint8Array, max: number): string | undefined => {
  const text = cutText(
    Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8').replace(/\n$/, ''),
    max,
  )
  return text === '' ? undefined : text
}
