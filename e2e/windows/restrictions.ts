const KEY = '[HKEY_LOCAL_MACHINE\\Software\\Policies\\Microsoft\\Windows\\DeviceInstall\\Restrictions'

/** Returns the values of each key below the restrictions in an export of `reg`. */
export const restrictions = (text: string): Record<string, string[]> =>
  Object.fromEntries(
    text
      .split(/\r?\n\r?\n/)
      .map((block) => block.split(/\r?\n/).filter((line) => line !== ''))
      .flatMap(([name = '', ...values]) =>
        name.toLowerCase().startsWith(KEY.toLowerCase())
          ? [[name.slice(KEY.length + 1, -1) || 'switches', values.filter((line) => line.startsWith('"')).sort()]]
          : [],
      ),
  )
