const { NODE_COMPILE_CACHE } = process.env

/** Environment for Node processes that a test starts: the code cache of vitest.config.ts. */
export const codeCache: Readonly<Record<string, string>> =
  NODE_COMPILE_CACHE === undefined ? {} : { NODE_COMPILE_CACHE }
