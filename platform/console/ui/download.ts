export const follow = (href: string, name: string): void => {
  const link = document.createElement('a')
  link.href = href
  link.download = name
  link.click()
}

/** Saves a file under its name. */
export const saveFile = ({ blob, name }: { blob: Blob; name: string }): void => {
  const url = URL.createObjectURL(blob)
  follow(url, name)
  // The download keeps its own reference to the data.
  setTimeout(() => URL.revokeObjectURL(url), 0)
}
