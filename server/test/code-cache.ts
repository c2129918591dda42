const { NODE_COMPILE_CACHE } = process.env

/** For the environment of a Node process that a test starts: where vitest.config.ts keeps compiled code. */
export const codeCache: Readonly<Record<string, string>> =
  NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }
