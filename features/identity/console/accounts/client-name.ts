const browsers = [
  ['Edg', 'Edge'],
  ['OPR', 'Opera'],
  ['Firefox', 'Firefox'],
  ['Chrome', 'Chrome'],
  // All browsers of iOS and macOS name Safari, so it comes after them.
  ['Version', 'Safari'],
] as const
const systems = [
  [/Windows NT/, 'Windows'],
  [/iPhone|iPad/, 'iOS'],
  [/Mac OS X/, 'macOS'],
  [/Android/, 'Android'],
  [/CrOS/, 'ChromeOS'],
  [/Linux|X11/, 'Linux'],
] as const

/** Returns the browser and the system that a user agent names, such as `Firefox 140 on Linux`; undefined for other programs. */
export const clientName = (userAgent: string): string | undefined => {
  const system = systems.find(([pattern]) => pattern.test(userAgent))?.[1]
  for (const [token, name] of browsers) {
    const version = new RegExp(`\\b${token}/(\\d+)`).exec(userAgent)?.[1]
    if (version !== undefined) return system === undefined ? `${name} ${version}` : `${name} ${version} on ${system}`
  }
  return undefined
}
