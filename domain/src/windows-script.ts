/** Name of the agent for Windows in a build. Windows hosts install this script as an update. */
export const windowsScriptName = 'portcullis-agent-windows-x64.cjs'

/** Returns the first line of the agent for Windows. It distinguishes the script from those of other systems. */
export const windowsScriptLine = (version: string): string => `// Portcullis agent ${version} for windows-x64`

/** Returns the version of an agent for Windows from the start of the script, or null for other files. */
export const windowsScriptVersion = (start: string): string | null =>
  /^\/\/ Portcullis agent ([\w.+-]{1,64}) for windows-x64\n/.exec(start)?.[1] ?? null
