/** Arguments of Node for every program of the product. */
const nodeArguments = ['--disable-warning=ExperimentalWarning']

/**
 * Arguments of Node for the server. By default, V8 lets the young generation grow to 134 MB, and an idle server never
 * returns it. 16 MB per semi-space limit it to 50 MB. V8 reads the limit before any code runs, so it must be an argument.
 */
export const serverArguments = [...nodeArguments, '--max-semi-space-size=16']

/** Returns the arguments of Node for a program of the repository. */
export const argumentsFor = (program) => (program === 'server/src/entry/start.ts' ? serverArguments : nodeArguments)
