/** Hands a file to the browser under its name. */
export const saveFile = ({ blob, name }: { blob: Blob; name: string }): void => {
  const url = URL.createObjectURL(blob)
  const link = document.createElement('a')
  link.href = url
  link.download = name
  link.click()
  // The download has its own hold on the bytes once the click is handled.
  setTimeout(() => URL.revokeObjectURL(url), 0)
}
