/** Returns an environment variable, or undefined if it is not set. */
export const variable = (name: string): string | undefined => process.env[name]
