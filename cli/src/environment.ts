/** A variable of the environment that the command was started in; undefined when it is not set. */
export const variable = (name: string): string | undefined => process.env[name]
